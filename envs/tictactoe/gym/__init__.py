"""Gymnasium environments: one board or many, both seats in turn or an opponent inside `step`."""
