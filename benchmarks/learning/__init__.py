"""Benchmarks of learning, by exact evaluation: how soon, how well, and what was published."""
