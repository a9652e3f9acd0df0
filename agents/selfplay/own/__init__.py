"""Algorithms of the user."""
