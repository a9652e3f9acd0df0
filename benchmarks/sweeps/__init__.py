"""The sweeps behind our figures, what is saved of them, and sweeps that are disturbed."""
