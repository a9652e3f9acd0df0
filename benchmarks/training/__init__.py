"""What training costs: its parts, its updates, the published DQN beside a loop in CleanRL's manner; what kills cost it.

Killed at any moment and resumed, a run comes to the same bits.
"""
