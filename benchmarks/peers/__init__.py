"""Learning quality compared with other libraries: `python -m benchmarks.peers` trains and evaluates all.

Each learner has a file of its own, whose `make(seed)` returns a training; those of ours share one.
"""
