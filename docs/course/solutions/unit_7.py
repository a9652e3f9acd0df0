# %%
def mend(mover, opponent):
    """Return the cell to mark, or None to use the rule."""
    mine, theirs = forks(mover, opponent), forks(opponent, mover)
    if mine:
        return mine[0]
    if len(theirs) < 2:
        return theirs[0] if theirs else None
    for cell in empty_after(mover, opponent):  # threaten a line that the opponent blocks without a fork
        forced = completes(mover | 1 << cell, opponent)
        if forced and forced[0] not in theirs:
            return cell
    return theirs[0]
