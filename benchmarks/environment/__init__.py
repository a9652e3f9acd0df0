"""Benchmarks of the environment: its speed and that of its peers."""
