"""Settings of peers and of ours, searched for alike; `python -m benchmarks.peers.tuning` (see `__main__.py`)."""
