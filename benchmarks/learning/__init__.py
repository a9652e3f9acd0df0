"""Benchmarks of learning, by exact evaluation: how soon, how well, and beside what was published."""
