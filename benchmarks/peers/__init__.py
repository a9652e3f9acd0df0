"""Learning quality beside other libraries' DQNs; `python -m benchmarks.peers` (see `__main__.py`) compares them."""
