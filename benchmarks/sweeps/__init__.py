"""The sweeps behind our figures, and what is saved of them."""
