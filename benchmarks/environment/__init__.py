"""Plies per second of the environment beside its peers: `python -m benchmarks.environment.faces`."""
