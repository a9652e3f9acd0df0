# %%
def reward(move, draw=0.0, allow=0.0):
    """Return what each move pays to the seat that makes it, [4520]."""
    return 1.0 * move.win + draw * move.draw + allow * move.allow


def safe(draw):
    """Return two booleans: whether nobody beats the player that `draw` ends in, as X, and as O, with FUTURE 1."""
    return draw > -1, draw < 1
