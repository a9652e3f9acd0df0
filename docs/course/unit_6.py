# %% [markdown]
# # Unit 6: what a reward says
#
# **What it is for.** A learner does what its reward pays for, not what you meant. Here you find out what two small
# numbers do: the reward for a draw, and a penalty for letting the opponent complete a line. For each you see the player
# that unlimited training leads to, and how many games it can lose.
#
# **Afterwards you can** predict optimal play from a reward, and tell what a reward demands from what a player learns.
#
# **You need** unit 5. **Time:** about 40 minutes; the computer needs a few seconds.
#
# As in unit 5 all positions are learned at once, in sweeps, with a mask and with a minus sign:
#
# ```text
# Q(s, a)  <-  r(s, a) - FUTURE * max over the legal a' of Q(s', a')    if it continues
#              r(s, a)                                                  otherwise
# ```
#
# `FUTURE` is the discount: with 1 later rewards count in full, with 0 only the reward of the next move counts.
#
# Source: value iteration (Bellman 1957; Sutton and Barto, section 4.4). Rewards that are added to help a learner are
# called *shaping*: Ng, Harada and Russell (1999), *Policy invariance under reward transformations*, show which of them
# never change the best moves. Our penalty is none of theirs.

# %%
from sys import displayhook as show  # draws boards in a notebook, and prints them in a terminal

import matplotlib.pyplot as plt
import numpy as np

import selfplay
from selfplay.lessons import predict, require, reveal
from tictactoe import Rules, batch, game_svg
from tictactoe.tree import game_tree

RULES = Rules()
TREE = game_tree(RULES)
HERE = TREE.decisions  # the numbers of the positions in which the game continues
state = batch.State(*(marks[HERE].astype(np.int64) for marks in (TREE.mover, TREE.opponent, TREE.ply)))
MOVES = [batch.play(RULES, state, np.full(len(HERE), cell)) for cell in range(9)]
LEGAL = np.stack([~move.illegal for move in MOVES], axis=1)  # [4520, 9]
CONTINUES = np.stack([~move.terminated for move in MOVES], axis=1)
NEXT = np.stack([TREE.find(move.state.mover, move.state.opponent) for move in MOVES], axis=1)


class EveryBest:
    """Play each of the best cells with the same probability, so that the proof follows all of them."""

    def __init__(self, values):
        values = np.where(LEGAL, values, -np.inf)
        best = values > values.max(axis=1, keepdims=True) - 1e-9
        self.chances = best / best.sum(axis=1, keepdims=True)

    def probabilities(self, observation):
        """Return the probability of each cell [B, 9] for observations [B, 3, 3, 3] from the mover's side."""
        planes = observation.reshape(-1, 9, 3).astype(np.int64)
        mine, theirs = planes[..., 1] @ (1 << np.arange(9)), planes[..., 2] @ (1 << np.arange(9))
        return self.chances[np.searchsorted(HERE, TREE.find(mine, theirs))]


def player(reward, future, **amounts):
    """Return the player that learns `reward(move, **amounts)`, which returns [4520] for each cell."""
    rewards = np.stack([reward(move, **amounts) for move in MOVES], axis=1)
    values = np.zeros(LEGAL.shape)
    for _ in range(9):
        worth = np.zeros(len(TREE))  # the value of each position to its mover; 0 where the game is over
        worth[HERE] = np.where(LEGAL, values, -np.inf).max(axis=1)
        values = rewards - future * CONTINUES * worth[NEXT]
    return EveryBest(values)


def learned(reward, future, **amounts):
    """Return the proof of that player."""
    return selfplay.evaluate(player(reward, future, **amounts), RULES, perspective="mover")


# %% [markdown]
# ## Before you run anything
#
# A win pays 1, and by the minus sign the loser gets -1. A draw pays `draw` to the seat that fills the board, which is
# always X, with the ninth mark. The article that this project started from pays 1. Other programs pay -1, so that the
# player tries to win.
#
# Can the player that learns with each `draw` be beaten as X? As O?

# %%
DRAWS = (-2.0, -1.0, -0.9, 0.0, 0.9, 1.0, 2.0)
predict("draw -1.0: unbeatable as X, as O", ...)  # (True, True) and the like in place of the dots
predict("draw -0.9: unbeatable as X, as O", ...)
predict("draw +0.9: unbeatable as X, as O", ...)
predict("draw +1.0: unbeatable as X, as O", ...)

# %% [markdown]
# ## Your turn
#
# `move` holds what a move did, as arrays of booleans: `move.win` (it completed a line), `move.draw` (it filled the
# board without one) and `move.allow` (the game continues, and the opponent can complete a line next).
#
# 1. Write the reward: 1 for a win, `draw` for a draw, `allow` for a move that allows a line, and 0 otherwise.
# 2. When you have seen the table below, write for any `draw` which seats are safe.
#
# <details><summary>Hint 1</summary>
#
# An array of booleans times a number is an array of numbers: `draw * move.draw`. For `safe`, find the `draw` at which a
# draw is worth as much as a win, or as a loss, to each seat.
#
# </details>
#
# <details><summary>Hint 2, nearly the answer</summary>
#
# The reward is the sum of three products. X is safe while a draw is worth *more* to it than a loss, -1. By the minus
# sign O gets `-draw`.
#
# </details>


# %% tags=["blank"]
def reward(move, draw=0.0, allow=0.0):
    """Return the reward [4520] of each move to the seat that makes it."""
    raise NotImplementedError("unit 6: write reward(move, draw, allow)")


def safe(draw):
    """Return two booleans: whether the player that learns with `draw` and FUTURE 1 is unbeatable as X, and as O."""
    raise NotImplementedError("unit 6: write safe(draw), once you have seen the table")


# %% [markdown]
# ## The run

# %%
FUTURE = 1.0
table = {draw: learned(reward, FUTURE, draw=draw) for draw in DRAWS}
for draw, proof in table.items():
    print(f"draw {draw:+.1f}: ways to beat it {proof.first.ways_to_beat:5,} as X, {proof.second.ways_to_beat:6,} as O; "
          f"only best moves in {proof.optimal_states:,} positions")  # fmt: skip
for draw in (-1.0, -0.9, 0.9, 1.0):
    safe_seats = table[draw].first.losses == 0, table[draw].second.losses == 0
    reveal(f"draw {draw:+.1f}: unbeatable as X, as O", safe_seats)

# %% tags=["folded"]
require(table[0.0].optimal, "1 for a win and 0 for a draw must give optimal play; look at your reward")
losses = [(table[draw].first.losses, table[draw].second.losses) for draw in (-1.0, 1.0)]
require(losses == [(7_920, 0), (0, 64_728)], "the reward for a draw is not what it should be; look at move.draw")
print("The rewards are right.")

# %% [markdown]
# <details><summary>What it means</summary>
#
# With 1 for a draw, O can lose tens of thousands of games. With `0.9` it loses none, and every move is right. Why does
# this change so suddenly? By the minus sign, O pays what X gets for a draw. At 1 a draw costs O as much as a loss, so
# O cannot tell a draw from a loss. At `0.9` a loss is still worse. **Only the order** of win, draw and loss counts,
# not the distance between them.
#
# </details>
#
# Now write `safe`. The check uses other numbers than those of the table.

# %% tags=["folded"]
for draw in (-5.0, -1.5, -1.0, -0.999, -0.25, 0.5, 0.999, 1.0, 1.5, 5.0):
    proof = learned(reward, 1.0, draw=draw)
    true = proof.first.losses == 0, proof.second.losses == 0
    require(tuple(safe(draw)) == true, f"safe({draw}) must return {true}, (as X, as O), but it returned {safe(draw)}")
print("The first half passes.")

# %% [markdown]
# ## The penalty for allowing a line
#
# Now also a player that does not look ahead: with `FUTURE` 0 it wants only the reward of its next move.

# %%
blind = learned(reward, 0.0)
fined = learned(reward, 0.0, allow=-1.0)
seeing = learned(reward, 1.0, allow=-1.0)
drawing = learned(reward, 1.0, draw=1.0, allow=-1.0)
for name, proof in {
    "no future, no penalty": blind,
    "no future, penalty": fined,
    "full future, penalty": seeing,
    "full future, penalty, draw +1": drawing,
}.items():
    print(f"{name:30} ways to beat it {proof.first.ways_to_beat:6,} as X, {proof.second.ways_to_beat:6,} as O")

# %% [markdown]
# ## The check

# %% tags=["folded"]
require((blind.first.losses, blind.second.losses) == (27_008, 76_464), "without a penalty a draw and a loss pay 0 here")
require((fined.first.losses, fined.second.losses) == (3_776, 12_704), "the penalty is for move.allow")
require(seeing.optimal, "with the full future the penalty must not change the best moves; look at your reward")
require(drawing.unbeatable and not drawing.optimal, "with 1 for a draw and the penalty it is unbeatable, not optimal")
print("PASSED")

# %% [markdown]
# ## What you should see

# %%
for seat, mark in (("first", "X"), ("second", "O")):
    plt.plot(DRAWS, [getattr(proof, seat).ways_to_beat for proof in table.values()], marker="o", label=f"as {mark}")
plt.yscale("symlog")  # logarithmic, but with a place for 0
plt.ylim(-0.5, 200_000)
plt.title("Unlimited training (exact, without chance)")
plt.xlabel("reward for a draw")
plt.ylabel("ways to beat it")
plt.legend()
plt.savefig("unit_6.png")

# %% [markdown]
# <details><summary>What it means</summary>
#
# - Without the future and without the penalty the player never blocks: a move that lets the opponent win pays 0, like
#   any other. The boards below show a game that it loses.
# - The penalty alone teaches the player to block, **without looking ahead**: it puts one ply of looking ahead into the
#   reward. It does not teach the player to see two threats at once.
# - With the full future the penalty changes nothing in the end: the best moves stay the same. It only makes learning
#   faster, which is why our default has it.
# - The penalty also hides the mistake of `draw=1`: a loss now costs O the 1 of a draw *and* the penalty, so it is
#   worse than a draw again. Without the penalty the mistake comes back.
#
# </details>

# %%
show(game_svg(RULES, selfplay.counterexamples(player(reward, 0.0), RULES, perspective="mover").shortest[0]))

# %% [markdown]
# ## What to try next
#
# - Set the future to `0.99` with `draw=1`: the same mistake with fewer ways to beat it. Which moves does the discount
#   tell apart?
# - The penalty of -1 is paid every time. Can it change which moves are best? Try larger penalties.
# - `selfplay train --rewards article --counterexamples 0` is `draw=1` with the penalty, and with a network.
#
# ## Look inside what you have trained
#
# The article's rewards, `draw=1` with the penalty, as a network. What does it think a draw is worth as X, and as O?

# %%
run = selfplay.train(rewards="article", mask=True, counterexamples=0.0)
print("selfplay web", run.folder)

# %% [markdown]
# In a terminal, run the line that this prints: `selfplay web FOLDER`.
