# %%
def minus(moved):
    """Return the target of a move: what follows is the opponent's turn, and we are opponents."""
    return moved.reward - moved.opponents_best


def plus(moved):
    """Return the target of a move as if the opponent's turn were mine."""
    return moved.reward + moved.opponents_best


def own_turn(moved):
    """Return the target of a move from what happens up to my own next turn."""
    return moved.reward - moved.opponents_reward + moved.my_next_best
