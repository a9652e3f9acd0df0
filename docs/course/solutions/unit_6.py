# %%
def reward(move, draw=0.0, allow=0.0):
    """Return the reward [4520] of each move to the seat that makes it."""
    return 1.0 * move.win + draw * move.draw + allow * move.allow


def safe(draw):
    """Return two booleans: whether the player that learns with `draw` and FUTURE 1 is unbeatable as X, and as O."""
    return draw > -1, draw < 1
