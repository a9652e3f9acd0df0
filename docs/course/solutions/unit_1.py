# %%
@cache
def value(mover, opponent):
    """Return the value of the position to the mover: +1, 0 or -1."""
    if has_line(opponent):
        return -1
    cells = empty_cells(mover, opponent)
    if not cells:
        return 0
    return max(-value(opponent, mover | {cell}) for cell in cells)


def best_cells(mover, opponent):
    """Return the list of all cells that keep the value of a position in which the game is not over."""
    cells = empty_cells(mover, opponent)
    return [cell for cell in cells if -value(opponent, mover | {cell}) == value(mover, opponent)]
