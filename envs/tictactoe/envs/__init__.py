"""The faces of the game by Gymnasium: one board or many, both seats in turn or an opponent inside `step`."""
