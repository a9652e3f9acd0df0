# %% [markdown]
# # Unit 1: the game, solved by hand
#
# **What it is for.** Later in this course programs learn to play. To know how well they play, we need the truth: in
# each position, who wins if nobody makes a mistake? Here you beat a player, find out how many games beat it, and write
# the ten lines that never lose. Every later unit compares what was learned with this truth.
#
# **Afterwards you can** define the value of a position, compute it by recursion, and explain what it assumes about both
# players.
#
# **You need** Python and recursion. **Time:** about 40 minutes; the computer needs a second.
#
# ## Beat it
#
# The game has two *seats*: X moves first, O second. In code, cells are counted from 0, row by row, as on the board
# below. (Where people play, as in `selfplay web`, squares are counted from 1.)
#
# Here is a player. It marks the first empty cell. You are X: write a cell into `my_cells`, run this again, see its
# reply, and add your next cell, until you have won.

# %%
from functools import cache
from sys import displayhook as show  # draws a board in a notebook, and prints it in a terminal

import selfplay
from selfplay.lessons import play, predict, require, reveal
from tictactoe import Rules, board_svg, game_svg, solve

RULES = Rules()  # 3 rows, 3 columns, 3 in a row


def broken(observation):
    """Return the first empty cell; `observation[row, column]` begins with 1 where a cell is empty."""
    return observation[..., 0].argmax()


my_cells = []
play(broken, my_cells)

# %% [markdown]
# You have found one game that beats it. How many are there? While it is O, you choose out of nine cells, then out of
# the seven that are left, and so on. Guess first. The notebook keeps your prediction, and scores it when you see the
# answer. It need not be right: you will remember a surprise.

# %%
predict("ways to beat it when it is O", ...)  # a number in place of the three dots

# %% [markdown]
# `selfplay.evaluate` lets an agent play in both seats against *every* sequence of replies, and counts the *ways to beat
# it*: by a line, or by its own illegal move. It samples nothing, so its result is proved.

# %%
verdict = selfplay.evaluate(broken)
reveal("ways to beat it when it is O", verdict.second.ways_to_beat)
print(f"When it is X: {verdict.first.ways_to_beat}. The shortest game that beats it as X:")
show(game_svg(RULES, selfplay.counterexamples(broken).shortest[0]))

# %% [markdown]
# ## The value of a position
#
# To play without a mistake you must know what each position is worth. The *mover* is the seat to move. The *value* V is
# the result if both seats play their best moves: +1 if the mover wins, -1 if the opponent wins, and 0 for a draw. Three
# rules give it:
#
# ```text
#           -1                                              if the opponent has a line
# V(s)  =    0                                              otherwise, if no cell is empty
#            max over the empty cells a of -V(s after a)    otherwise
# ```
#
# After a move it is the *other* seat's turn, and what is good for that seat is bad for the mover: hence the minus sign.
# This form is called *negamax*.
#
# Source: Shannon (1950), *Programming a Computer for Playing Chess*; Knuth and Moore (1975), *An Analysis of Alpha-Beta
# Pruning*, have the minus sign.
#
# ## Before you run anything
#
# X opens in a corner, in the centre, or in the middle of an edge. Each opening is worth a draw. In each case O has
# eight replies. After how many of the eight can O still hold the draw?

# %%
predict("replies that hold the draw: corner", ...)  # a number from 0 to 8
predict("replies that hold the draw: centre", ...)
predict("replies that hold the draw: edge", ...)

# %% [markdown]
# ## A position in two sets
#
# A position is two sets of cells: the marks of the mover, and those of the opponent. After each move the two change
# places. A `frozenset` is a set that does not change, so Python can remember the value of a position. `mover | {cell}`
# is the set with one more cell.


# %%
def empty_cells(mover, opponent):
    """Return the list of the cells without a mark."""
    return [cell for cell in range(RULES.cells) if cell not in mover and cell not in opponent]


def has_line(marks):
    """Return whether a set of cells contains a line."""
    return any(marks.issuperset(RULES.cells_of(line)) for line in RULES.lines)


mover, opponent = frozenset({0, 8}), frozenset({4})  # the mover is X
print("empty cells:", empty_cells(mover, opponent))
print("does the opponent have a line?", has_line(opponent))
print("the mover marks cell 2:", sorted(mover | {2}))

# %% [markdown]
# ## Your turn
#
# Fill in both functions.
#
# <details><summary>Hint 1</summary>
#
# After the mover has marked `cell`, the position is `(opponent, mover | {cell})`, and its value counts for the *other*
# seat.
#
# </details>
#
# <details><summary>Hint 2, nearly the answer</summary>
#
# The third rule is `max(-value(opponent, mover | {cell}) for cell in cells)`. `best_cells` returns those cells for
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
# The check compares your answers with the right ones in every position that a game can reach, those with the most marks
# first. So the wrong answer that you see is the one nearest to the end of a game, and the easiest to check on paper.
# The board shows the position, with its empty cells numbered; a complete line is green.

# %% tags=["folded"]
solution = solve(RULES)
positions = list(zip(solution.tree.mover.tolist(), solution.tree.opponent.tolist(), strict=True))  # as integers
sets = [[frozenset(RULES.cells_of(marks)) for marks in position] for position in positions]
from_the_end = list(zip(positions, sets, solution.value.tolist(), solution.optimal_moves.tolist(), strict=True))[::-1]
for position, marks, right, _ in from_the_end:
    answer = value(*marks)
    hint = " (is a `return` missing?)" if answer is None else ""
    require(answer == right, f"value must return {right}, but it returned {answer}{hint}", *position)
print(f"All {len(positions):,} values are right.")

for position, marks, _, best in from_the_end:
    if not best:
        continue  # the game is over
    answer, right = best_cells(*marks), list(RULES.cells_of(best))
    is_list = isinstance(answer, list | tuple)
    require(is_list, f"best_cells must return a list, such as {right}, but it returned {answer}", *position)
    hint = " (is the sign right? The position after a move belongs to the other seat)" if not answer else ""
    message = f"best_cells must return {right}, but it returned {answer}{hint}"
    require(set(answer) == set(right), message, *position)
print("All best cells are right.")


# %% [markdown]
# Now your moves, judged as the broken player was:


# %%
def agent(observation):
    """Return a cell; the planes of the observation [3, 3, 3] are the empty cells, mine and theirs."""
    mine, theirs = (frozenset(observation[..., plane].flatten().nonzero()[0].tolist()) for plane in (1, 2))
    return best_cells(mine, theirs)[0]


proof = selfplay.evaluate(agent, RULES, perspective="mover")
print(f"Ways to beat it: {proof.first.ways_to_beat} as X, {proof.second.ways_to_beat} as O.")
print(f"Best move in {proof.optimal_states:,} of {proof.decision_states:,} positions.")
require(proof.optimal, "its move is not the best everywhere")
print("PASSED: this is perfect play.")

# %% [markdown]
# ## What you should see
#
# Every opening has the same value: a draw. Now the replies:

# %%
for name, cell in (("corner", 0), ("centre", 4), ("edge", 1)):
    require(value(frozenset(), frozenset({cell})) == 0, "every opening is worth a draw")
    reveal(f"replies that hold the draw: {name}", len(best_cells(frozenset(), frozenset({cell}))))

# %% [markdown]
# <details><summary>What it means</summary>
#
# A corner leaves O **one** good reply of eight. The centre, often called the best opening, leaves four. So does the
# edge, often called the worst. The values are equal, because a value assumes that nobody makes a mistake. Which
# opening is "best" depends on *the opponent*. You will meet this again in unit 3.
#
# </details>
#
# ## A set in one integer
#
# Programs that look at millions of positions must store each in little space. From unit 2 on, a set of marks is one
# integer: bit `c` is 1 if there is a mark in cell `c`. So `1 << c` is the set of this one cell, `|` joins two sets, and
# `&` leaves what is in both.

# %%
mover, opponent = 1 << 0 | 1 << 8, 1 << 4  # the sets {0, 8} and {4}
show(board_svg(RULES, mover, opponent, numbers=True))
print(f"{mover} is {mover:b} in binary; its cells are {RULES.cells_of(mover)}")
print("empty cells:", RULES.cells_of(RULES.legal_cells(mover, opponent)))

# %% [markdown]
# ## What to try next
#
# - Count the positions in which exactly one of several moves keeps the value, once with your `best_cells` and once
#   with `solution.optimal_moves`. Do the counts agree?
# - At the end set `RULES = Rules(3, 4, 3)`, a board one column wider, and print `value(frozenset(), frozenset())`. Who
#   wins? First call `value.cache_clear()`, or you get the old answer. It takes about half a minute.
# - Remove `@cache`, and time `value(frozenset(), frozenset())`. Why does it take so much longer?
#
# ## Look inside a trained player
#
# Nothing was trained here. But a player comes with the package, and a page shows what it has learned about each square,
# and the exact result, your `value`:
#
# ```bash
# selfplay web shipped
# ```
