# %%
def target(x, o):
    """Return the value to X of the position (x, o) after a move, estimated from the current table."""
    if result(x, o) is not None:
        return result(x, o)
    numbers = values_at(x, o).values()
    return max(numbers) if x_moves(x, o) else min(numbers)


def choose(x, o):
    """Return the empty cell that is best for the seat to move, according to the table."""
    values = values_at(x, o)
    return max(values, key=values.get) if x_moves(x, o) else min(values, key=values.get)
