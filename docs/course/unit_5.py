# %% [markdown]
# # Unit 5: learn the rules, or mask them
#
# **What it is for.** Nothing in a network knows that a cell is taken: it has a number for all nine. There are two ways
# out. Either a taken cell costs so much that the network learns to leave it alone, or it is *masked*: barred by the
# program. Masking looks easy, and it is done in two places. A program that forgets the second never plays a taken cell,
# and is blind.
#
# **You need** unit 3, and arrays of NumPy. **Time:** about 40 minutes; the computer needs some seconds.
#
# ## All positions at once
#
# Instead of playing games, we correct *every* number of the table in one go, a *sweep*. After nine sweeps nothing
# changes any more. What is left is what a learner would reach with endless patience: no luck is in it.
#
# The arrays below have a row for each position in which somebody has to move, and a column for each cell.

# %%
import numpy as np

import selfplay
from tictactoe import Rewards, Rules, batch
from tictactoe.tree import game_tree

RULES = Rules()
TREE = game_tree(RULES)
HERE = TREE.decisions  # the numbers of the positions in which somebody has to move
state = batch.State(*(marks[HERE].astype(np.int64) for marks in (TREE.mover, TREE.opponent, TREE.ply)))
moves = [batch.step(RULES, Rewards(allow=0.0), state, np.full(len(HERE), cell)) for cell in range(9)]

LEGAL = np.stack([~move.illegal for move in moves], axis=1)  # [4520, 9]: whether the cell is empty
REWARD = np.stack([move.reward for move in moves], axis=1)  # 1 for a line, -10 for a taken cell, else 0
GOES_ON = np.stack([~move.terminated for move in moves], axis=1)  # whether the game goes on behind the move
NEXT = np.stack([TREE.find(move.state.mover, move.state.opponent) for move in moves], axis=1)  # where it leads to
print(LEGAL.shape, "legal moves:", int(LEGAL.sum()))

# %% [markdown]
# ## Before you run anything
#
# Three learners:
#
# | name | what it may play, and learns about | highest number in the target |
# |---|---|---|
# | `rules learned` | all nine cells; a taken one costs ten and ends the game | of all nine |
# | `masked` | the empty cells | of the empty cells |
# | `half masked` | the empty cells | of all nine |
#
# In the third, the number of a taken cell is never corrected, since nobody ever plays it: it stays 0, as it was at
# first. It plays by the rules. Can it be beaten? How many games can it lose?

# %%
my_prediction = {"rules learned": None, "masked": None, "half masked": None}  # games lost

# %% [markdown]
# ## Your turn


# %% tags=["blank"]
def highest_legal(values, legal):
    """Return the highest value [n] among the legal cells of each row; values [n, 9], legal [n, 9] bool.

    Each row has at least one legal cell. `values` must stay as it is.
    """
    raise NotImplementedError("unit 5: write highest_legal(values, legal)")


def best_legal(values, legal):
    """Return the cell [n] with the highest value among the legal cells of each row."""
    raise NotImplementedError("unit 5: write best_legal(values, legal)")


# %% [markdown]
# ## A small test first

# %%
values = np.array([[-0.5, 0.0, -0.25], [0.5, 2.0, 1.0]])
legal = np.array([[True, False, True], [True, False, True]])
before = values.copy()
assert highest_legal(values, legal).tolist() == [-0.25, 1.0], "every legal cell of the first row is below 0"
assert best_legal(values, legal).tolist() == [2, 2]
assert (values == before).all(), "the caller's values have changed"
print("The small test passes.")

# %% [markdown]
# ## The run


# %%
def of_all_nine(values, _legal):
    """Return the highest value of each row, legal or not."""
    return values.max(axis=1)


def swept(highest, learned_about):
    """Return the numbers [4520, 9] after as many sweeps as a game has moves, those that nobody learns about still 0."""
    values = np.zeros(LEGAL.shape)
    for _ in range(9):
        worth = np.zeros(len(TREE))  # of a position to the seat that is to move; 0 where the game is over
        worth[HERE] = highest(values, LEGAL)
        targets = REWARD - GOES_ON * worth[NEXT]
        values = np.where(learned_about, targets, 0.0)
    return values


class Greedy:
    """Play by the numbers; where `masked`, among the empty cells."""

    def __init__(self, values, masked):
        self.cells = best_legal(values, LEGAL) if masked else values.argmax(axis=1)

    def act(self, observation):
        """Return the cells [B] for observations [B, 3, 3, 3] of the mover's view."""
        planes = observation.reshape(-1, 9, 3).astype(np.int64)
        mine, theirs = planes[..., 1] @ (1 << np.arange(9)), planes[..., 2] @ (1 << np.arange(9))
        return self.cells[np.searchsorted(HERE, TREE.find(mine, theirs))]


learners = {
    "rules learned": (swept(of_all_nine, np.ones_like(LEGAL)), False),
    "masked": (swept(highest_legal, LEGAL), True),
    "half masked": (swept(of_all_nine, LEGAL), True),
}
proofs = {name: selfplay.evaluate(Greedy(*learner), RULES, perspective="mover") for name, learner in learners.items()}
for name, proof in proofs.items():
    print(f"{name:13} games lost {proof.first.losses:2} as X, {proof.second.losses:3} as O; "
          f"taken cells in {proof.illegal_states} positions; you said {my_prediction[name]}")  # fmt: skip

# %% [markdown]
# ## The check

# %%
assert proofs["rules learned"].optimal
assert proofs["masked"].optimal, "a lost position must be worth -1: is the highest number that of a legal cell?"
assert proofs["half masked"].illegal_states == 0
assert (proofs["half masked"].first.losses, proofs["half masked"].second.losses) == (9, 106)
print("PASSED")

# %% [markdown]
# ## What you should see
#
# `half masked` never breaks a rule, and yet it loses games in both seats, most of them as O. Here is a position in
# which the mover has lost after every move, because the other seat threatens two lines at once. Its numbers:

# %%
mover, opponent = 1 << 1 | 1 << 3, 1 << 0 | 1 << 4 | 1 << 6  # X has 0, 4 and 6, and threatens 2 and 8
row = int(np.searchsorted(HERE, TREE.find(np.array(mover), np.array(opponent))))
for name, (values, _) in learners.items():
    print(f"{name:13}", np.round(values[row], 2).tolist())
masked, half = (learners[name][0][row] for name in ("masked", "half masked"))
assert highest_legal(masked[None], LEGAL[row : row + 1]) == -1
assert half.max() == 0

# %% [markdown]
# Each empty cell has -1: the position is lost. But the taken cells still have their 0, and 0 is the highest of the
# nine. So the target says "a draw". No position is ever worth less than 0 to `half masked`, and a threat of two lines
# at once is worth nothing to it. It sees a line that it can complete, and one that it has to block, and no further. A
# network is no better off: of a cell that it has never been taught it says something or other, and if that is the
# highest of all, it counts.
#
# A mask belongs wherever a highest value is taken: where a move is chosen **and** in the target, and in the target it
# is the mask of the *next* position.
#
# ## With a network
#
# Our DQN does the first by default, and the second with `--mask`. What does learning the rules cost?

# %%
for mask in (False, True):
    for record in selfplay.training(selfplay.DQNConfig(mask=mask)):
        proof = record.evaluation
        if record.steps < 20_000 or proof.unbeatable:
            print(f"mask={mask!s:5} {record.steps:7,} plies: games lost {proof.first.losses + proof.second.losses:4}, "
                  f"illegal games {proof.first.illegal + proof.second.illegal:5}")  # fmt: skip
        if proof.unbeatable:
            break
    assert proof.unbeatable
    assert proof.first.illegal == proof.second.illegal == 0

# %% [markdown]
# Both are proved. Compare the plies: without the mask there are the rules to learn as well. Now look at the way there
# without a mask. Hundreds of games end by a taken cell at first, and none at the end. Meanwhile the number of *lost*
# games may grow from one line to the next. The player has not become worse then. Games that it used to end by breaking
# a rule now go on, and it loses those. One of the two numbers alone would have told you a story.
#
# ## What to try next
#
# - Let the taken cells start at `-10` instead of 0 in `half masked`. Why is all well now? Would it be, with a network?
# - Give the target the mask of the position *before* the move. How many games are lost?
# - Multiply by the mask, `(values * legal).max(axis=1)`, as one often sees. For which positions is that wrong?
