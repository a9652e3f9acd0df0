"""Plots that are not drawn: the page shows that of the unit below the cell."""


def savefig(_):
    """Say where the plot is."""
    print("The plot is below: What this shows, with the solution.")


def __getattr__(_):
    return lambda *_, **__: None
