# %%
def target(x, o):
    """Return what the position (x, o), which a move has led to, is worth to X by the table as it is now."""
    if result(x, o) is not None:
        return result(x, o)
    numbers = values_at(x, o).values()
    return max(numbers) if x_moves(x, o) else min(numbers)


def choose(x, o):
    """Return the empty cell that the seat to move likes best by the table."""
    values = values_at(x, o)
    return max(values, key=values.get) if x_moves(x, o) else min(values, key=values.get)
