# %% [markdown]
# # Unit 2: a table that learns
#
# **What it is for.** Unit 1 followed every game to its end. On a larger board that takes too long. Here a program never
# looks further than one move ahead. It plays, and after each move it corrects one number. This is *Q-learning*, in its
# form for two players, *minimax-Q*. Deep Q-learning (unit 4) replaces the table with a network.
#
# **Afterwards you can** write a Q-learning target for two players, and explain which games it can learn from and what a
# player's games against itself show.
#
# **You need** unit 1. **Time:** about 40 minutes; the computer needs a few seconds.
#
# ## The table
#
# For each position and each empty cell the table has one number: the value **to X** of marking that cell. The value is
# +1 if X wins in the end, -1 if O wins, and 0 for a draw. X wants it high, O wants it low. At first every number is 0.
#
# Here a position is `(x, o)`: the marks of X and those of O, each as one integer, as in unit 1.

# %%
import random
from sys import displayhook as show  # draws boards in a notebook, and prints them in a terminal

import matplotlib.pyplot as plt

import selfplay
from selfplay.lessons import predict, prepared, require, reveal
from tictactoe import Rules, game_svg

RULES = Rules()
CELLS = [RULES.cells_of(marks) for marks in range(512)]  # the cells of each set of marks
HAS_LINE = [RULES.has_line(marks) for marks in range(512)]
table = {}


def values_at(x, o):
    """Return a position's row of the table, a dict from each empty cell to its value to X."""
    if (x, o) not in table:
        table[x, o] = dict.fromkeys(CELLS[511 & ~(x | o)], 0.0)
    return table[x, o]


def x_moves(x, o):
    """Return whether X is to move: it has as many marks as O."""
    return x.bit_count() == o.bit_count()


def marked(x, o, cell):
    """Return the position after the seat to move has marked a cell."""
    return (x | 1 << cell, o) if x_moves(x, o) else (x, o | 1 << cell)


def result(x, o):
    """Return how a game has ended for X, +1, -1 or 0; None while it continues."""
    if HAS_LINE[x] or HAS_LINE[o]:
        return 1 if HAS_LINE[x] else -1
    return 0 if x | o == 511 else None


# %% [markdown]
# ## Before you run anything
#
# The program below learns from **random** games: both seats choose each move at random. Nobody plays well in these
# games, and the program never sees which moves are good. Afterwards it plays by its table.
#
# After a hundred thousand random games: in how many ways can it still be beaten, in both seats together? (A player that
# moves at random can be beaten in about two hundred thousand.) And how does a game of this player against itself end?

# %%
predict("ways to beat it in the end", ...)  # a number in place of the three dots
predict("a game against itself", ...)  # "X wins", "O wins" or "draw"

# %% [markdown]
# ## Your turn
#
# A move `a` in the position `s` has led to the position `s'`, in the code `(x, o)`. The program then changes the move's
# number Q(s, a) in the table towards a *target*, an estimate of the value of the move to X:
#
# ```text
# Q(s, a)  <-  Q(s, a) + STEP * (target - Q(s, a))
#
#              the result of the game    if it is over in s'
# target  =    ... of Q(s', a')          otherwise, over the empty cells a' of s'
# ```
#
# Source: Watkins and Dayan (1992), *Q-learning*; for two players Littman (1994), *Markov games as a framework for
# multi-agent reinforcement learning*.
#
# - If the game is over, the result is the target. Test this first, since a finished game may have no empty cell. A draw
#   has the result 0, and `None` means that the game continues. `if result(x, o):` treats both as false, so test whether
#   the result `is not None`.
# - Otherwise the seat to move in `(x, o)` picks the number it likes best, and that number is the target. Which one
#   does X pick? Which one does O pick? Their names belong in place of the dots.
#
# `choose` picks a cell by the same rule. Fill in both.
#
# <details><summary>Hint 1</summary>
#
# `values_at(x, o)` is a dict from cells to numbers, and `x_moves(x, o)` is true if it is X's turn. X takes the highest
# number, O the lowest.
#
# </details>
#
# <details><summary>Hint 2, nearly the answer</summary>
#
# If `result(x, o)` is not None, return it. Otherwise return `max(numbers)` or `min(numbers)`, with `numbers =
# values_at(x, o).values()`. For the cell, write `max(values, key=values.get)`.
#
# </details>


# %% tags=["blank"]
def target(x, o):
    """Return the value to X of the position (x, o) after a move, estimated from the current table."""
    raise NotImplementedError("unit 2: write target(x, o)")


def choose(x, o):
    """Return the empty cell that is best for the seat to move, according to the table."""
    raise NotImplementedError("unit 2: write choose(x, o)")


# %% [markdown]
# ## The loop
#
# Read it: this is the whole program. It learns from the last move of a game first and from the first move last, so
# that the result reaches the opening sooner.

# %%
STEP = 0.5  # the learning rate: how far a number moves towards the target


def learn(games, generator):
    """Play random games and learn from each."""
    for _ in range(games):
        x = o = 0
        moves = []
        while result(x, o) is None:
            cell = generator.choice(CELLS[511 & ~(x | o)])
            moves.append((x, o, cell))
            x, o = marked(x, o, cell)
        for before_x, before_o, cell in reversed(moves):
            values = values_at(before_x, before_o)
            values[cell] += STEP * (target(*marked(before_x, before_o, cell)) - values[cell])


def agent(observation):
    """Return a cell; the planes of the observation [3, 3, 3] are the empty cells, X and O."""
    marks = [sum(1 << cell for cell in range(9) if observation[cell // 3, cell % 3, plane]) for plane in (1, 2)]
    return choose(*marks)


def game_with_itself():
    """Return the result of a game in which both seats follow the table."""
    x = o = 0
    while result(x, o) is None:
        x, o = marked(x, o, choose(x, o))
    return {1: "X wins", -1: "O wins", 0: "draw"}[result(x, o)]


# %% [markdown]
# ## Two small tests first
#
# They take no time, and find mistakes before the long run.

# %% tags=["folded"]
table.clear()
values_at(0b11, 0b11000).update({2: 1.0, 5: -0.5})  # X has 0 and 1, O has 3 and 4, X is to move
values_at(0b100011, 0b11000).update({2: 0.5, 6: -0.25})  # X has 5 too, O is to move
for rule, (x, o), right, why in (
    (target, (0b11, 0b11000), 1.0, "X is to move, and its best number is 1.0"),
    (choose, (0b11, 0b11000), 2, "X is to move, and likes cell 2, with 1.0, best"),
    (target, (0b100011, 0b11000), -0.25, "O is to move, and takes the number that is lowest for X"),
    (choose, (0b100011, 0b11000), 6, "O is to move, and likes cell 6, with -0.25, best"),
    (target, (0b111, 0b11000), 1, "X has the line 0, 1, 2, and the game is over"),
    (target, (0b1000011, 0b111000), -1, "O has the line 3, 4, 5, and the game is over"),
    (target, (0b110001101, 0b001110010), 0, "the board is full without a line: a draw"),
):
    answer = rule(x, o)
    position = (x, o) if x_moves(x, o) else (o, x)
    require(answer == right, f"{rule.__name__} must return {right}, but it returned {answer}: {why}", *position)
print("The small tests pass.")

# %% [markdown]
# ## The check
#
# Now the run. It shows how a game of the player against itself ends, how many games it can lose, and in how many
# positions its move is best. The last two are proved: the check follows every reply.

# %%
table.clear()
generator = random.Random(0)
history = []
for more, games in ((100, 100), (900, 1_000), (9_000, 10_000), (20_000, 30_000), (70_000, 100_000)):
    learn(more, generator)
    proof = selfplay.evaluate(agent, RULES)
    history.append((game_with_itself(), proof.ways_to_beat))
    ways = f"{proof.first.ways_to_beat:3} as X, {proof.second.ways_to_beat:3} as O"
    print(f"{games:7,} games: {history[-1][0]:6}  ways to beat it {ways};  right in {proof.optimal_states:,} states")
    if proof.ways_to_beat:
        lost_as_x, lost_as_o = selfplay.counterexamples(agent, RULES).shortest  # None where it cannot be beaten
hint = "do target and choose take what the seat to move likes best?"
require(proof.optimal, f"its move is not the best everywhere: {hint}")
print("PASSED")
reveal("ways to beat it in the end", proof.ways_to_beat)
reveal("a game against itself", history[-1][0])

# %% [markdown]
# ## What you should see

# %%
plt.plot([100, 1_000, 10_000, 30_000, 100_000], [beaten for _, beaten in history], marker="o")
plt.xscale("log")
plt.yscale("symlog")  # logarithmic, but with a place for 0
plt.title("A table that learns from random games (one run)")
plt.xlabel("random games")
plt.ylabel("ways to beat it, both seats")
plt.ylim(-0.5, 1_000)
plt.savefig("unit_2.png")

# %% [markdown]
# <details><summary>What it means</summary>
#
# **No way to beat it**, and the best move in all positions, learned from random games alone. The program *values* other
# moves than it *plays*: `target` uses the best next move, whichever move was played. This is called *off-policy*
# learning. It is why deep Q-learning can learn from a memory of old games.
#
# Look also at the games against itself. After 30,000 games it draws them, as a perfect player does, and yet it can be
# beaten in other games.
#
# </details>

# %%
for games, (ended, beaten) in zip((100, 1_000, 10_000, 30_000, 100_000), history, strict=True):
    print(f"after {games:7,} games: against itself {ended}; ways to beat it: {beaten}")
print("A game that beats the last player that could be beaten:")
show(game_svg(RULES, lost_as_o or lost_as_x))

# %% [markdown]
# A thousand draws against itself show nothing: it is the same game, played a thousand times. The proof follows every
# other game too.
#
# ## What to try next
#
# - Let `learn` choose only every second move at random, and the others with `choose`. Does it need fewer games, or
#   more? Why?
# - Let `target` return the highest number for both seats, and skip the small tests. What does X now believe about its
#   opponent?
# - Set `STEP` to 1. Why does that work here? Would it work against an opponent that moves at random?
#
# ## The library's table, which does worse
#
# The library has this learner too, as it was published: `selfplay train minimax-q`. After as many games it is far from
# a proof. Its program differs from yours in six ways:
#
# | change | meaning |
# |---|---|
# | discount 0.9 | the target is 0.9 times the next number, so a later win is worth less |
# | step 0.1 | a number moves a tenth of the way to its target, not half of it |
# | random first numbers | the table begins with random numbers of about the size of a win, not with 0 |
# | first move first | it learns from the first move of a game before the others |
# | 40 % own moves | it follows its table in four of ten moves |
# | may mark taken squares | a random move may be any of the nine cells; a taken one loses the game at once |
#
# Which one alone does the most harm?

# %%
predict("what does the most harm", ...)  # one of the six, such as "step 0.1"

# %% [markdown]
# Each row is your program with one change, then with all six, then the library's. All have learned from 100,000 games,
# with three seeds each. (`docs/studies/README.md` explains how we made the file.)

# %%
ways, right = {}, {}
for row in prepared("unit_2.csv"):
    ways.setdefault(row["table"], []).append(int(row["ways_to_beat"]))
    right.setdefault(row["table"], []).append(int(row["right_positions"]))
for name in ways:
    print(f"{name:23} ways to beat it {ways[name]}, right in {right[name]} states")
_, *changes, _, _ = ways  # between yours and the last two
reveal("what does the most harm", max(changes, key=lambda name: sum(ways[name])))

# %% [markdown]
# <details><summary>What it means</summary>
#
# Five of the six hardly matter: with each of them alone nobody beats the table. But a random move that may be any of
# nine cells soon marks a taken one, and the game is over. Only one such game in nine (9 x 8 x 7 x 6 x 5 x 4 of 9^6)
# reaches a seventh move. So the table seldom sees the end of a game, where the lines are. A learner must *visit* what
# it is to learn. With all six changes your program does as badly as the library's: the list is complete.
#
# The library keeps the published program, since others compare with it. It is proved too, with a hundred times as many
# games.
#
# </details>
#
# ## Look inside what you have trained
#
# The library's learner saves a folder. Where does its table still play a wrong move, and has it ever seen these
# positions?

# %%
run = selfplay.train("minimax-q", games=100_000, eval_every=10_000)
print("selfplay web", run.folder)

# %% [markdown]
# In a terminal, run the line that this prints: `selfplay web FOLDER`.
