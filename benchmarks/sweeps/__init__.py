"""Sweeps that are disturbed, what their engine costs, and the files of those that make our figures."""
