"""Backends of the vector environments: how the games on `N` boards are held and played."""
