# %%
def minus(moved):
    """Return the target of a move from the opponent's turn that follows it."""
    return moved.reward - moved.opponents_best


def plus(moved):
    """Return the target of a move as if the opponent's turn were my own."""
    return moved.reward + moved.opponents_best


def own_turn(moved):
    """Return the target of a move from what happens up to my own next turn."""
    return moved.reward - moved.opponents_reward + moved.my_next_best
