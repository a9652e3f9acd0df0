"""Benchmarks of the environment: its speed beside peers, searches of large boards, the rule, and the page."""
