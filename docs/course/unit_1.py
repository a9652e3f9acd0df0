# %% [markdown]
# # Unit 1: the game, solved by hand
#
# **What it is for.** Later in this course programs learn to play. To say how well they do, we need to know what is
# true: in each position, who wins if nobody errs? Here you write the ten lines that find out. Everything that is
# learned later is held against them.
#
# **You need** Python, and recursion. **Time:** about 40 minutes; the computer needs a second.
#
# ## A position in two numbers
#
# Cells are counted from 0, row by row:
#
# ```text
# 0 1 2
# 3 4 5
# 6 7 8
# ```
#
# A set of marks is one whole number: bit `c` is 1 if there is a mark in cell `c`. A position is two such numbers, the
# marks of the seat that is to move (`mover`) and those of the other (`opponent`). After a move the two change places.

# %%
from functools import cache

import selfplay
from tictactoe import Rules, solve
from tictactoe.rendering.text import board_text

RULES = Rules()  # 3 rows, 3 columns, 3 in a row

mover, opponent = 1 << 0 | 1 << 8, 1 << 4  # the mover has the cells 0 and 8, the opponent has cell 4
print(board_text(RULES, mover, opponent))
print("empty cells: ", RULES.cells_of(RULES.empty_cells(mover, opponent)))
print("has the opponent a line?", RULES.has_line(opponent))
print("the mover marks cell 2:", (mover | 1 << 2, opponent), "and the seats change:", (opponent, mover | 1 << 2))

# %% [markdown]
# ## Before you run anything
#
# X opens in a corner, in the centre, or in the middle of an edge. In each case O has eight replies. After how many of
# the eight can O still hold a draw? Write down three numbers. You will be told how near you were.

# %%
my_prediction = {"corner": None, "centre": None, "edge": None}  # put a number in place of each None

# %% [markdown]
# ## Your turn
#
# The *value* of a position is +1 if the mover wins with best play of both seats, -1 if the opponent does, and 0 for a
# draw. Three things are known of it:
#
# 1. If the opponent has a line, the mover has lost.
# 2. Else, if no cell is empty, it is a draw.
# 3. Else the mover takes the move that is best for itself. Behind each move the *other* seat is to move, and what is
#    good for that seat is bad for this one.
#
# Fill in both functions.


# %% tags=["blank"]
@cache  # a position is worked out once and then remembered
def value(mover, opponent):
    """Return +1, 0 or -1: what the position is worth to the seat that is to move."""
    raise NotImplementedError("unit 1: write value(mover, opponent)")


def best_cells(mover, opponent):
    """Return the list of all cells that keep the value of the position; somebody still has to move in it."""
    raise NotImplementedError("unit 1: write best_cells(mover, opponent)")


# %% [markdown]
# ## The check
#
# Your values are compared with the right ones in every position that a game can lead to. If one is wrong, you are shown
# the wrong one with the most marks: it is nearest to the end of a game, and so the easiest to work out on paper.

# %%
solution = solve(RULES)
positions = list(zip(solution.tree.mover.tolist(), solution.tree.opponent.tolist(), strict=True))
wrong = [
    (value(*position), true, position)
    for position, true in zip(positions, solution.value.tolist(), strict=True)
    if value(*position) != true
]
if wrong:
    said, true, (mover, opponent) = wrong[-1]
    print(f"To the mover, who is drawn as X here, this is worth {true:+}. Yours says {said}.")
    print(board_text(RULES, mover, opponent))
assert not wrong, f"{len(wrong):,} of {len(positions):,} values are wrong; above is the one nearest to a game's end"
print(f"All {len(positions):,} values are right.")


# %% [markdown]
# Now your moves. `selfplay.evaluate` plays an agent in both seats against *every* sequence of replies, and counts the
# distinct games that it loses. It samples nothing: what it says is proved.


# %%
def agent(observation):
    """Return a cell; the observation [3, 3, 3] has one plane for empty cells, one for mine and one for theirs."""
    marks = [sum(1 << cell for cell in range(9) if observation[cell // 3, cell % 3, plane]) for plane in (1, 2)]
    return best_cells(*marks)[0]


proof = selfplay.evaluate(agent, RULES, perspective="mover")
print(f"Games lost: {proof.first.losses} as X, {proof.second.losses} as O.")
print(f"Best move in {proof.optimal_states:,} of {proof.decision_states:,} positions.")
assert proof.optimal, "best_cells returns a cell that does not keep the value"
for position, best in zip(positions, solution.optimal_moves.tolist(), strict=True):
    if best:  # 0 where the game is over
        assert sorted(best_cells(*position)) == list(RULES.cells_of(best)), f"not all best cells of {position}"
print("PASSED: this is perfect play.")

# %% [markdown]
# ## What you should see
#
# Every opening is worth the same: a draw. Now the replies:

# %%
for name, cell in (("corner", 0), ("centre", 4), ("edge", 1)):
    replies = best_cells(0, 1 << cell)
    assert value(0, 1 << cell) == 0
    assert len(replies) == {"corner": 1, "centre": 4, "edge": 4}[name]
    print(f"{name}: O holds the draw with {len(replies)} of 8 replies, {replies}; you said {my_prediction[name]}")

# %% [markdown]
# A corner leaves O **one** good reply of eight. The centre, which everybody calls the best opening, leaves four, as
# many as the edge, which everybody calls the worst. The value alone does not know this difference: it assumes that
# nobody errs. "Best" needs the words *against whom*, and you will meet that again in unit 3.
#
# ## What to try next
#
# - Count the positions in which exactly one of several moves keeps the value, once with your `best_cells` and once with
#   `solution.optimal_moves`. Do the counts agree?
# - Set `RULES = Rules(3, 4, 3)`, a board one column wider. Who wins? (`agent` counts on nine cells; leave it out.)
# - Take `@cache` away, and time `value(0, 0)`. Why does it take so much longer?
