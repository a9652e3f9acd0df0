# %% [markdown]
# # Unit 7: read a counterexample, and repair the player
#
# **What it is for.** "It loses sometimes" does not help you to improve a player. A *counterexample* does: a position
# that the player's own play reaches and from which some reply beats it. It shows you where to look, and when there are
# no more, the player is proved unbeatable.
#
# **Afterwards you can** find the decisive mistake in a lost game, and tell *unbeatable* from *optimal*.
#
# **You need** unit 1. **Time:** about 50 minutes; the computer needs a few seconds.
#
# ## A well-known rule
#
# 1. Complete a line if you can.
# 2. Otherwise block the opponent's line.
# 3. Otherwise take the centre, or else a corner, or else an edge.
#
# This is how many people play. Source: Newell and Simon (1972), *Human Problem Solving*, have a longer list, with
# forks. Crowley and Siegler (1993), *Flexible Strategy Use in Young Children's Tic-Tac-Toe*, saw children learn such a
# list rule by rule.
#
# You will improve it as a program does. With B(p) for the positions in which some reply beats the player p:
#
# ```text
# p  <-  p, but with another move in some position of B(p)      until B(p) is empty
# ```
#
# Source: *counterexample-guided* repair, as in Clarke et al. (2000), *Counterexample-guided abstraction refinement*.

# %%
from sys import displayhook  # draws boards in a notebook, and prints them in a terminal

import matplotlib.pyplot as plt

import selfplay
from selfplay.lessons import predict, require, reveal
from tictactoe import Rules, game_svg

RULES = Rules()


def empty_after(mover, opponent):
    """Return the list of the empty cells."""
    return list(RULES.cells_of(RULES.legal_cells(mover, opponent)))


def completes(marks, other):
    """Return the list of the empty cells that complete a line of these marks."""
    return list(RULES.cells_of(RULES.winning_cells(marks) & RULES.legal_cells(marks, other)))


def forks(marks, other):
    """Return the list of the empty cells that make these marks threaten two lines at once."""
    return [cell for cell in empty_after(marks, other) if len(completes(marks | 1 << cell, other)) >= 2]


def played_by(mend):
    """Return the agent that plays by the rule, and calls `mend` before its third part."""

    def agent(observation):
        marks = [sum(1 << cell for cell in range(9) if observation[cell // 3, cell % 3, plane]) for plane in (1, 2)]
        mover, opponent = marks
        for urgent in (completes(mover, opponent), completes(opponent, mover)):
            if urgent:
                return urgent[0]
        cell = mend(mover, opponent)
        if cell is not None:
            return cell
        return next(cell for cell in (4, 0, 2, 6, 8, 1, 3, 5, 7) if cell in empty_after(mover, opponent))

    return agent


# %% [markdown]
# ## Before you run anything
#
# Can the rule be beaten when it moves first? When it moves second? How many games can it lose?

# %%
predict("the rule: ways to beat it as X", ...)  # numbers in place of the dots
predict("the rule: ways to beat it as O", ...)

# %% [markdown]
# ## What beats it


# %%
def show(agent):
    """Show the shortest game that beats an agent in each seat, and return how many positions it is beaten in."""
    proof = selfplay.evaluate(agent, RULES, perspective="mover")
    found = selfplay.counterexamples(agent, RULES, perspective="mover")
    ways = f"{proof.first.ways_to_beat} as X, {proof.second.ways_to_beat} as O"
    print(f"ways to beat it: {ways}; beaten in {len(found.mover)} positions")
    for seat, game in enumerate(found.shortest):
        if game is not None:
            print(f"It is beaten as {'XO'[seat]}, after the moves {game}:")
            displayhook(game_svg(RULES, game))
    return len(found.mover)


show(played_by(lambda *_: None))
verdict = selfplay.evaluate(played_by(lambda *_: None), RULES, perspective="mover")
reveal("the rule: ways to beat it as X", verdict.first.ways_to_beat)
reveal("the rule: ways to beat it as O", verdict.second.ways_to_beat)

# %% [markdown]
# Read the game that it loses from its end. Near the end nothing could save it, because the opponent threatened two
# lines. So look for the *first* lost position, and for what the agent should have done before it.
#
# ## Your turn
#
# The agent calls `mend` in every position without a line to complete or to block. It returns a cell, or None to use the
# rule. `forks(mover, opponent)` lists the cells with which the agent would threaten two lines at once;
# `forks(opponent, mover)` lists those of its opponent.
#
# Write `mend`, call `show(played_by(mend))`, read the next counterexample, and improve it. Do it without `solve`.
#
# <details><summary>Hint 1</summary>
#
# If you can fork, fork. If the opponent can fork in one cell, mark that cell. What is left is the position in which the
# opponent can fork in two.
#
# </details>
#
# <details><summary>Hint 2, nearly the answer</summary>
#
# If the opponent has two forks, threaten a line yourself: look for an empty cell with which
# `completes(mover | 1 << cell, opponent)` is not empty. The opponent must then mark a cell of this list; it must not be
# one of its forks.
#
# </details>


# %% tags=["blank"]
def mend(mover, opponent):
    """Return the cell to mark, or None to use the rule."""
    raise NotImplementedError("unit 7: write mend(mover, opponent)")


# %%
beaten_in = show(played_by(mend))

# %% [markdown]
# ## The check

# %% tags=["folded"]
proof = selfplay.evaluate(played_by(mend), RULES, perspective="mover")
require(proof.first.illegal == proof.second.illegal == 0, "mend has returned a taken cell")
require(proof.unbeatable, f"it is still beaten in {beaten_in} positions; the game above is the shortest")
print(f"PASSED: unbeatable. Its move is the best in {proof.optimal_states:,} of {proof.decision_states:,} positions.")

# %% [markdown]
# ## What you should see
#
# A first idea: make two threats if you can; otherwise mark the cell with which the opponent could.


# %%
def first_thought(mover, opponent):
    """Return a cell that makes or stops two threats at once."""
    return next(iter(forks(mover, opponent) + forks(opponent, mover)), None)


print("The first idea:")
first_thought_beaten_in = show(played_by(first_thought))

# %% [markdown]
# <details><summary>What it means</summary>
#
# It still loses a few games. X has two opposite corners and O has the centre. X can make two threats (a *fork*) from
# either of the other two corners. If O takes one of them, X takes the other. O has to threaten a line itself, so that X
# must block, in a cell that does not fork.
#
# It is hard to find such games by watching. And your *unbeatable* player is still not *optimal*: it makes mistakes in
# positions that its own play never reaches.
#
# </details>
#
# ## The same, done by a program
#
# Our DQN does this by itself: after each evaluation, half of the new games begin at counterexamples. The DQN must
# still learn which moves are best there. Without and with, one seed each:

# %%
for part in (0.0, 0.5):
    run = selfplay.train(mask=True, counterexamples=part, total_steps=250_000)
    plies = [record.steps for record in run.records]
    label = f"counterexamples={part}"
    plt.plot(plies, [record.verdict.ways_to_beat for record in run.records], marker="o", label=label)
    print(f"{label}: {run.records[-1].steps:,} plies, {run.verdict.ways_to_beat} ways to beat it")
require(run.verdict.unbeatable, "this run has not become unbeatable; try another seed")
plt.yscale("symlog")  # logarithmic, but with a place for 0
plt.ylim(-0.5, 1_000)
plt.title("With and without counterexamples (one run each)")
plt.xlabel("plies")
plt.ylabel("ways to beat it, both seats")
plt.legend()
plt.savefig("unit_7.png")
print("selfplay web", run.folder)

# %% [markdown]
# ## What to try next
#
# - Write a `mend` for the one position that you saw. How many counterexamples are left?
# - Improve your player until it is optimal. `selfplay.evaluate` counts its mistakes, but no longer shows a game. Why?
# - Show a counterexample of `own_turn` from unit 3. Where does it take a risk?
#
# ## Look inside what you have trained
#
# The cell above has saved the last player. Its earlier snapshots still have mistakes: find one, and play on until it
# loses.
#
# In a terminal, run the line that the cell printed: `selfplay web FOLDER`.
