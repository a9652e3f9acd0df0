# %% [markdown]
# # Unit 1: the game, solved by hand
#
# **What it is for.** Later in this course programs learn to play. To say how well they play, we need the truth: in
# each position, who wins if nobody makes a mistake? Here you write the ten lines that find out. Every later unit
# compares what was learned with this truth.
#
# **Afterwards you can** define the value of a position, compute it by recursion, and say what it assumes about both
# players.
#
# **You need** Python and recursion. **Time:** about 40 minutes; the computer needs a second.
#
# ## A position in two numbers
#
# In code, cells are counted from 0, row by row. Where people play, as in `selfplay web`, squares are counted from 1.
#
# ```text
# 0 1 2
# 3 4 5
# 6 7 8
# ```
#
# The game has two *seats*: X moves first, O second. A set of marks is one integer: bit `c` is 1 if there is a mark in
# cell `c`. So `1 << c` is the set of this one cell, and `|` joins two sets. A position is two integers: the marks of
# the seat to move (`mover`) and those of the other seat (`opponent`). After each move the two change places.

# %%
from functools import cache
from sys import displayhook as show  # draws a board in a notebook, and prints it in a terminal

import selfplay
from tictactoe import Rules, board_svg, solve

RULES = Rules()  # 3 rows, 3 columns, 3 in a row

mover, opponent = 1 << 0 | 1 << 8, 1 << 4  # the mover, here X, has the cells 0 and 8; the opponent has cell 4
show(board_svg(RULES, mover, opponent))
print("empty cells: ", RULES.cells_of(RULES.empty_cells(mover, opponent)))
print("does the opponent have a line?", RULES.has_line(opponent))
print("the mover marks cell 2:", (mover | 1 << 2, opponent), "and the seats change:", (opponent, mover | 1 << 2))

# %% [markdown]
# ## Before you run anything
#
# X opens in a corner, in the centre, or in the middle of an edge. In each case O has eight replies. After how many of
# the eight can O still hold a draw? Write down three numbers.

# %%
my_prediction = {"corner": "nothing", "centre": "nothing", "edge": "nothing"}  # put numbers in place of "nothing"

# %% [markdown]
# ## Your turn
#
# The *value* of a position is +1 if the mover wins when both seats play their best moves, -1 if the opponent wins, and
# 0 for a draw. Three rules give it:
#
# 1. If the opponent has a line, the mover has lost.
# 2. Otherwise, if no cell is empty, it is a draw.
# 3. Otherwise the mover plays its best move. After a move it is the *other* seat's turn, and what is good for that
#    seat is bad for the mover.
#
# Fill in both functions.
#
# <details><summary>Hint 1</summary>
#
# After the mover has marked `cell`, the position is `(opponent, mover | 1 << cell)`, and its value counts for the
# *other* seat. `RULES.cells_of(RULES.empty_cells(mover, opponent))` lists the empty cells.
#
# </details>
#
# <details><summary>Hint 2, nearly the answer</summary>
#
# The third rule is `max(-value(opponent, mover | 1 << cell) for cell in cells)`. `best_cells` returns those cells for
# which the number behind `max` equals `value(mover, opponent)`.
#
# </details>


# %% tags=["blank"]
@cache  # each position is computed once and then remembered
def value(mover, opponent):
    """Return the value of the position to the mover: +1, 0 or -1."""
    raise NotImplementedError("unit 1: write value(mover, opponent)")


def best_cells(mover, opponent):
    """Return the list of all cells that keep the value of a position in which the game is not over, such as [0, 2]."""
    raise NotImplementedError("unit 1: write best_cells(mover, opponent)")


# %% [markdown]
# ## The check
#
# Your answers are compared with the right ones in every position that a game can lead to, those with the most marks
# first. So the wrong answer that you see is the one nearest to the end of a game, and the easiest to check on paper. In
# the picture X is the mover, and a complete line is green.

# %%
solution = solve(RULES)
positions = list(zip(solution.tree.mover.tolist(), solution.tree.opponent.tolist(), strict=True))
from_the_end = list(zip(positions, solution.value.tolist(), solution.optimal_moves.tolist(), strict=True))[::-1]
for position, right, _ in from_the_end:
    answer = value(*position)
    if answer != right:
        show(board_svg(RULES, *position))
    hint = " (is a `return` missing?)" if answer is None else ""
    assert answer == right, f"value must return {right} in the position above, but it returned {answer}{hint}"
print(f"All {len(positions):,} values are right.")

for position, _, best in from_the_end:
    if not best:
        continue  # the game is over
    answer, right = best_cells(*position), list(RULES.cells_of(best))
    assert isinstance(answer, list | tuple), f"best_cells must return a list, such as {right}, but it returned {answer}"
    passed = all(cell in right for cell in answer) and all(cell in answer for cell in right)
    if not passed:
        show(board_svg(RULES, *position))
    hint = " (is the sign right? The position after a move belongs to the other seat)" if not answer else ""
    assert passed, f"best_cells must return {right} in the position above, but it returned {answer}{hint}"
print("All best cells are right.")


# %% [markdown]
# Now your moves. `selfplay.evaluate` plays an agent in both seats against *every* sequence of replies, and counts the
# ways to beat it, by a line or by its own illegal move. It samples nothing, so its result is proved.


# %%
def agent(observation):
    """Return a cell; the planes of the observation [3, 3, 3] are the empty cells, mine and theirs."""
    marks = [sum(1 << cell for cell in range(9) if observation[cell // 3, cell % 3, plane]) for plane in (1, 2)]
    return best_cells(*marks)[0]


proof = selfplay.evaluate(agent, RULES, perspective="mover")
print(f"Ways to beat it: {proof.first.ways_to_beat} as X, {proof.second.ways_to_beat} as O.")
print(f"Best move in {proof.optimal_states:,} of {proof.decision_states:,} positions.")
assert proof.optimal
print("PASSED: this is perfect play.")

# %% [markdown]
# ## What you should see
#
# Every opening has the same value: a draw. Now the replies:

# %%
for name, cell in (("corner", 0), ("centre", 4), ("edge", 1)):
    replies = best_cells(0, 1 << cell)
    assert value(0, 1 << cell) == 0
    assert len(replies) == {"corner": 1, "centre": 4, "edge": 4}[name]
    print(f"{name}: O holds the draw with {len(replies)} of 8 replies, {replies}; you predicted {my_prediction[name]}")

# %% [markdown]
# A corner leaves O **one** good reply of eight. The centre, often called the best opening, leaves four. So does the
# edge, often called the worst. The values are equal, because a value assumes that nobody makes a mistake. Which
# opening is "best" depends on *the opponent*. You will meet this again in unit 3.
#
# ## What to try next
#
# - Count the positions in which exactly one of several moves keeps the value, once with your `best_cells` and once
#   with `solution.optimal_moves`. Do the counts agree?
# - At the end set `RULES = Rules(3, 4, 3)`, a board one column wider, and print `value(0, 0)`. Who wins? First call
#   `value.cache_clear()`, or you get the old answer. It takes some seconds.
# - Remove `@cache`, and time `value(0, 0)`. Why does it take so much longer?
#
# ## Look inside a trained player
#
# Nothing was trained here. But a player comes with the package, and a page shows what it has learned about each square
# beside the exact result, your `value`:
#
# ```bash
# selfplay web shipped
# ```
