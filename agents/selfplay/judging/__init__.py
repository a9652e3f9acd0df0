"""Exact evaluation: what an agent does against every possible opponent."""
