"""Benchmarks of the environment: its speed and its peers', searches of large boards, and the rule."""
