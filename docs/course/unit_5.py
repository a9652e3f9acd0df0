# %% [markdown]
# # Unit 5: learn the rules, or mask them
#
# **What it is for.** A network has a value for all nine cells, even for taken ones. There are two ways to deal with
# this. Either a taken cell costs so much that the network learns to avoid it, or the program *masks* it: forbids it. A
# mask is needed in two places. A program that forgets the second one never plays a taken cell, but it does not see some
# threats.
#
# **Afterwards you can** name the two places where a mask is needed, and which position's mask each needs.
#
# **You need** unit 3, and NumPy arrays. **Time:** about 40 minutes; the computer needs a few seconds.
#
# ## All positions at once
#
# Instead of playing games, we update *every* number of the table at once, in a *sweep*. After nine sweeps nothing
# changes any more. The result is what a learner would reach with unlimited training, without chance.
#
# ```text
# Q(s, a)  <-  r(s, a) - max over a' of Q(s', a')    if the game continues
#              r(s, a)                               otherwise
# ```
#
# A sweep does this for all positions s and cells a; s' is the position after the move, and r its reward.
#
# Source: this is *value iteration* (Bellman 1957; Sutton and Barto, section 4.4), with the minus sign of unit 3.
#
# The arrays below have a row for each position in which the game continues, and a column for each cell.

# %%
from sys import displayhook as show  # draws a board in a notebook, and prints it in a terminal

import matplotlib.pyplot as plt
import numpy as np

import selfplay
from selfplay.lessons import predict, require, reveal
from tictactoe import Rewards, Rules, batch, board_svg
from tictactoe.tree import game_tree

RULES = Rules()
TREE = game_tree(RULES)
HERE = TREE.decisions  # the numbers of the positions in which the game continues
state = batch.State(*(marks[HERE].astype(np.int64) for marks in (TREE.mover, TREE.opponent, TREE.ply)))
moves = [batch.step(RULES, Rewards(allow=0.0), state, np.full(len(HERE), cell)) for cell in range(9)]

LEGAL = np.stack([~move.illegal for move in moves], axis=1)  # [4520, 9]: whether the cell is empty
REWARD = np.stack([move.reward for move in moves], axis=1)  # 1 for a line, -10 for a taken cell, else 0
CONTINUES = np.stack([~move.terminated for move in moves], axis=1)  # whether the game continues after the move
NEXT = np.stack([TREE.find(move.state.mover, move.state.opponent) for move in moves], axis=1)  # the next position
print(LEGAL.shape, "legal moves:", int(LEGAL.sum()))

# %% [markdown]
# ## Before you run anything
#
# Three learners:
#
# | name | what it plays and learns about | the target uses the highest value |
# |---|---|---|
# | `rules learned` | all nine cells; a taken one costs 10 and ends the game | of all nine cells |
# | `masked` | the empty cells | of the empty cells |
# | `half masked` | the empty cells | of all nine cells |
#
# In the third, the value of a taken cell is never updated, because nobody plays it: it stays 0. This learner always
# plays legal moves. In how many ways can each be beaten?

# %%
predict("rules learned: ways to beat it", ...)  # numbers in place of the dots
predict("masked: ways to beat it", ...)
predict("half masked: ways to beat it", ...)

# %% [markdown]
# ## Your turn
#
# `highest_legal` is the max over the legal cells alone, and `best_legal` the cell that has it.
#
# <details><summary>Hint 1</summary>
#
# Give the taken cells a value that is lower than every possible one, in a copy. 0 is not low enough: look at the first
# row of the test.
#
# </details>
#
# <details><summary>Hint 2, nearly the answer</summary>
#
# `np.where(legal, values, -np.inf)` is that copy. Take `max(axis=1)` or `argmax(axis=1)` of it.
#
# </details>


# %% tags=["blank"]
def highest_legal(values, legal):
    """Return the highest value [n] among the legal cells of each row; values [n, 9], legal [n, 9] bool.

    Each row has at least one legal cell. `values` must not change.
    """
    raise NotImplementedError("unit 5: write highest_legal(values, legal)")


def best_legal(values, legal):
    """Return the cell [n] with the highest value among the legal cells of each row."""
    raise NotImplementedError("unit 5: write best_legal(values, legal)")


# %% [markdown]
# ## A small test first

# %% tags=["folded"]
values = np.array([[-0.5, 0.0, -0.25], [0.5, 2.0, 1.0], [0.0, -1.0, 0.0]])
legal = np.array([[True, False, True], [True, False, True], [False, True, False]])
before = values.copy()
for rule, right in (highest_legal, [-0.25, 1.0, -1.0]), (best_legal, [2, 2, 1]):
    answer = rule(values, legal)
    passed = isinstance(answer, np.ndarray) and answer.tolist() == right
    message = f"for the values {before.tolist()}, of which {legal.tolist()} are legal, "
    require(passed, f"{message}{rule.__name__} must return the array {right}, but it returned {answer!r}")
require((values == before).all(), "the caller's values have changed: work with a copy")
print("The small test passes.")

# %% [markdown]
# ## The run


# %%
def of_all_nine(values, _legal):
    """Return the highest value of each row, legal or not."""
    return values.max(axis=1)


def swept(highest, learned_about):
    """Return the values [4520, 9] after nine sweeps; those that nobody learns about stay 0."""
    values = np.zeros(LEGAL.shape)
    for _ in range(9):
        worth = np.zeros(len(TREE))  # the value of each position to its mover; 0 where the game is over
        worth[HERE] = highest(values, LEGAL)
        targets = REWARD - CONTINUES * worth[NEXT]
        values = np.where(learned_about, targets, 0.0)
    return values


class Greedy:
    """Play the cell with the highest value; with `masked`, among the empty cells."""

    def __init__(self, values, masked):
        self.cells = best_legal(values, LEGAL) if masked else values.argmax(axis=1)

    def act(self, observation):
        """Return the cells [B] for observations [B, 3, 3, 3] from the mover's side."""
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
    print(f"{name:13} ways to beat it {proof.first.ways_to_beat:3} as X, {proof.second.ways_to_beat:3} as O; "
          f"taken cells in {proof.illegal_states} positions")  # fmt: skip
for name, proof in proofs.items():
    reveal(f"{name}: ways to beat it", proof.ways_to_beat)

# %% [markdown]
# ## The check

# %% tags=["folded"]
require(proofs["rules learned"].optimal, "rules learned: it should play the best move everywhere")
hint = "is the highest value that of a legal cell?"
require(proofs["masked"].optimal, f"masked: it should play the best move everywhere; {hint}")
require(proofs["half masked"].illegal_states == 0, "half masked: it must never mark a taken cell; is best_legal right?")
losses = proofs["half masked"].first.losses, proofs["half masked"].second.losses
require(losses == (9, 106), "half masked: it loses another number of games than it should; is best_legal right?")
print("PASSED")

# %% [markdown]
# ## What you should see
#
# <details><summary>What it means</summary>
#
# `half masked` never breaks a rule, and yet it loses games in both seats, most of them as O.
#
# </details>
#
# In the position below every move of O loses, because X threatens two lines at once.

# %%
mover, opponent = 1 << 1 | 1 << 3, 1 << 0 | 1 << 4 | 1 << 6  # O and X
show(board_svg(RULES, opponent, mover, numbers=True))

# %% [markdown]
# The values of its nine cells to the mover:

# %%
row = int(np.searchsorted(HERE, TREE.find(np.array(mover), np.array(opponent))))
for name, (values, _) in learners.items():
    print(f"{name:13}", np.round(values[row], 2).tolist())
masked, half = (learners[name][0][row] for name in ("masked", "half masked"))
print("highest value: masked", highest_legal(masked[None], LEGAL[row : row + 1])[0], "and half masked", half.max())

# %% [markdown]
# <details><summary>What it means</summary>
#
# Each empty cell has the value -1: the position is lost. But the taken cells still have 0, which is the highest of the
# nine, so the target is that of a draw. For `half masked` no position has a value below 0, so it never sees that two
# threats at once win. A network has the same problem: it gives an arbitrary value to a cell that it never learned
# about, and this value counts if it is the highest.
#
# A mask belongs wherever the highest value is taken: where a move is chosen **and** in the target. In the target it is
# the mask of the *next* position.
#
# </details>
#
# ## With a network
#
# By default our DQN learns the rules; with `--mask` it masks. What does learning the rules cost?

# %%
for mask in (False, True):  # the same seed
    run = selfplay.train(mask=mask)
    plies = [record.steps for record in run.records]
    plt.plot(plies, [record.verdict.ways_to_beat for record in run.records], marker="o", label=f"mask={mask}")
    require(run.verdict.unbeatable, f"mask={mask}: this run has not become unbeatable; try another seed")
plt.yscale("symlog")  # logarithmic, but with a place for 0
plt.ylim(-0.5, 1_000)
plt.title("What learning the rules costs (one run each)")
plt.xlabel("plies")
plt.ylabel("ways to beat it, both seats")
plt.legend()
plt.savefig("unit_5.png")
print("selfplay web", run.folder)

# %% [markdown]
# <details><summary>What it means</summary>
#
# Both are proved. Compare the plies (single moves): without the mask the network has to learn the rules as well.
# Without a mask it is beaten by its own illegal move in hundreds of ways at first (see the lines above), and in none at
# the end. Meanwhile the number of ways *by a line* may grow. The player is not worse then: games that it used to end by
# breaking a rule now continue, and it loses some of them. Always look at both numbers.
#
# </details>
#
# ## What to try next
#
# - Let the taken cells start at `-10` instead of 0 in `half masked`. Why does this help? Would it help a network?
# - Give the target the mask of the position *before* the move. How many games are lost?
# - Multiply by the mask, `(values * legal).max(axis=1)`, as many programs do. For which positions is that wrong?
#
# ## Look inside what you have trained
#
# The network's cell has saved both players. In a terminal, run the line that it printed, with the folder of the other
# one behind it: `selfplay web FOLDER OTHER`. In the list of players choose the one without "mask", and make some moves:
# its taken squares show "avoids". Ignore those of the masked player: their values mean nothing.
