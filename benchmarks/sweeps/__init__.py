"""Sweeps that are disturbed, and the files of those that make our figures."""
