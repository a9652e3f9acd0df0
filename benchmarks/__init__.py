"""Measure what the README claims; each script says in its docstring which figures it makes."""
