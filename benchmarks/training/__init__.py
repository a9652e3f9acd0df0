"""What training costs: its parts, its updates, and the published DQN beside a loop in CleanRL's manner."""
