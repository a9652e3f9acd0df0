# %% [markdown]
# # Unit 3: the sign
#
# **What it is for.** Q-learning was made for a single agent. Its target is the reward *plus* the value of the next
# position. In a two-player game the next position is the opponent's turn. If you copy the formula unchanged, the
# program runs without an error, but it never learns to play. This is a common mistake in self-play, and here you make
# it on purpose.
#
# **Afterwards you can** justify the sign of the target, and tell a wrong target from a slow learner.
#
# **You need** unit 2. **Time:** about 45 minutes; the computer needs a few seconds.
#
# ## One table, seen by the mover
#
# In unit 2 every number was a value to X, and O took the lowest. Here every number is the value **to the seat that
# moves**, from -1 for a loss to +1 for a win, so both seats take the highest. A position is `(mover, opponent)`, as in
# unit 1. A network that plays both seats learns in this way too.

# %%
import random
from sys import displayhook as show  # draws boards in a notebook, and prints them in a terminal
from typing import NamedTuple

import matplotlib.pyplot as plt

import selfplay
from selfplay.lessons import predict, require, reveal
from tictactoe import Rules, game_svg

RULES = Rules()
CELLS = [RULES.cells_of(marks) for marks in range(512)]
HAS_LINE = [RULES.has_line(marks) for marks in range(512)]


class Moved(NamedTuple):
    """What is known about one of my moves once the opponent has replied."""

    reward: float
    """My reward for the move: 1 if it completed my line, else 0."""
    opponents_best: float
    """The highest number in the table at the opponent's next turn; 0 if my move ended the game."""
    opponents_reward: float
    """The opponent's reward for its reply: 1 if it completed a line, else 0; 0 if there was no reply."""
    my_next_best: float
    """The highest number in the table at my own next turn; 0 if the game is over by then."""


# %% [markdown]
# ## Three targets
#
# Three ways to estimate the value of my move:
#
# | name | what follows my move |
# |---|---|
# | `minus` | the opponent's turn. What counts is the best that the opponent can get, which is bad for me |
# | `plus` | the opponent's turn, treated as my own: the formula for one agent, copied |
# | `own_turn` | my own next turn. The opponent is a part of the environment, and its reply just happens |
#
# The third needs care. If the reply completes a line, the game ends before my next turn, and the target must still
# count the loss. In all three the update is the same; `s'` is the position after my move, `s''` my own next turn:
#
# ```text
# Q(s, a)  <-  Q(s, a) + STEP * (target - Q(s, a))
#
# minus:     target  =  my reward  -  max over a' of Q(s', a')
# plus:      target  =  my reward  +  max over a' of Q(s', a')
# own_turn:  target  =  my reward  -  the opponent's reward  +  max over a of Q(s'', a)
# ```
#
# What follows the end of a game counts 0. Source: `plus` is the formula of Watkins and Dayan (1992), *Q-learning*,
# where the next position is my own turn; `minus` is Littman's (1994) minimax-Q for a game in turns; `own_turn` is
# independent learning, as in Tan (1993), *Multi-agent reinforcement learning: independent vs. cooperative agents*.
#
# ## Before you run anything
#
# All three learn from the same sixty thousand random games. How many ways to beat each are left at the end, in both
# seats together? And what value to X does each give the empty board? (In unit 1 it was 0.) Sketch the three curves of
# ways to beat it over training games on paper, and predict where they end.

# %%
predict("minus: ways to beat it", ...)  # numbers in place of the dots
predict("plus: ways to beat it", ...)
predict("own_turn: ways to beat it", ...)
predict("minus: value of the empty board", ...)
predict("plus: value of the empty board", ...)
predict("own_turn: value of the empty board", ...)

# %% [markdown]
# ## Your turn
#
# Write one line for each.
#
# <details><summary>Hint 1</summary>
#
# Each target is `moved.reward` and one or two more terms. What the opponent gains, you lose.
#
# </details>
#
# <details><summary>Hint 2, nearly the answer</summary>
#
# `minus` subtracts `moved.opponents_best`, and `plus` adds it. `own_turn` subtracts `moved.opponents_reward`, and adds
# `moved.my_next_best`.
#
# </details>


# %% tags=["blank"]
def minus(moved):
    """Return the target of a move from the opponent's turn that follows it."""
    raise NotImplementedError("unit 3: write minus(moved)")


def plus(moved):
    """Return the target of a move as if the opponent's turn were my own."""
    raise NotImplementedError("unit 3: write plus(moved)")


def own_turn(moved):
    """Return the target of a move from what happens up to my own next turn."""
    raise NotImplementedError("unit 3: write own_turn(moved)")


# %% [markdown]
# ## Three small tests first

# %% tags=["folded"]
for moved, right_answers, what in (
    (Moved(1.0, 0.0, 0.0, 0.0), (1, 1, 1), "I completed a line: nothing follows"),
    (Moved(0.0, 0.25, 0.0, 0.5), (-0.25, 0.25, 0.5), "the game continues"),
    (Moved(0.0, 1.0, 1.0, 0.0), (-1, 1, -1), "the opponent could complete a line, and did"),
):
    for rule, right in zip((minus, plus, own_turn), right_answers, strict=True):
        answer = rule(moved)
        require(answer == right, f"{rule.__name__} must return {right} for {moved}, but it returned {answer}: {what}")
print("The small tests pass.")

# %% [markdown]
# ## The loop
#
# As in unit 2, but with your targets. `STEP` is smaller: for `own_turn` the same move has different outcomes, and
# small steps average them.

# %%
STEP = 0.1
CHECKPOINTS = (0, 1_000, 3_000, 10_000, 20_000, 40_000, 60_000)


def values_at(table, mover, opponent):
    """Return a position's row of the table, a dict from each empty cell to its value to the mover."""
    if (mover, opponent) not in table:
        table[mover, opponent] = dict.fromkeys(CELLS[511 & ~(mover | opponent)], 0.0)
    return table[mover, opponent]


def random_game(generator):
    """Return the moves of a game, each as (mover, opponent, cell), and whether the last one completed a line."""
    mover = opponent = 0
    moves = []
    while True:
        cell = generator.choice(CELLS[511 & ~(mover | opponent)])
        moves.append((mover, opponent, cell))
        mover |= 1 << cell
        if HAS_LINE[mover] or mover | opponent == 511:
            return moves, HAS_LINE[mover]
        mover, opponent = opponent, mover


def learn(table, rule, games, generator):
    """Play random games and move the table's numbers towards the targets of a rule."""
    for _ in range(games):
        moves, decided = random_game(generator)
        best_after = reward_after = best_at_my_next = 0.0  # nothing follows the last move
        reward = 1.0 if decided else 0.0
        for mover, opponent, cell in reversed(moves):
            values = values_at(table, mover, opponent)
            moved = Moved(reward, best_after, reward_after, best_at_my_next)
            values[cell] += STEP * (rule(moved) - values[cell])
            best_after, best_at_my_next = max(values.values()), best_after
            reward, reward_after = 0.0, reward


def player(table):
    """Return the player of a table."""

    def agent(observation):
        marks = [sum(1 << cell for cell in range(9) if observation[cell // 3, cell % 3, plane]) for plane in (1, 2)]
        values = values_at(table, *marks)
        return max(values, key=values.get)

    return agent


# %% [markdown]
# ## The run

# %%
curves, believed, proofs, lost = {}, {}, {}, {}
for rule in (minus, plus, own_turn):
    name, table, generator = rule.__name__, {}, random.Random(0)
    curves[name], played = [], 0
    for games in CHECKPOINTS:
        learn(table, rule, games - played, generator)
        played = games
        proofs[name] = selfplay.evaluate(player(table), RULES, perspective="mover")
        curves[name].append(proofs[name].ways_to_beat)
    believed[name] = max(values_at(table, 0, 0).values())
    lost[name] = selfplay.counterexamples(player(table), RULES, perspective="mover").shortest
    print(f"{name:8} ways to beat it after {CHECKPOINTS[-1]:,} games: {curves[name][-1]:3}; "
          f"the empty board is worth {believed[name]:+.2f} to it")  # fmt: skip
for name in curves:
    reveal(f"{name}: ways to beat it", curves[name][-1])
for name in curves:
    reveal(f"{name}: value of the empty board", round(believed[name], 2))

# %% [markdown]
# ## The check

# %% tags=["folded"]
own, minuses = curves["own_turn"], curves["minus"]
require(proofs["minus"].unbeatable, "minus: it can still be beaten")
require(believed["minus"] == 0, "minus: the empty board is a draw")
require(proofs["plus"].exploitability == 1, "plus: it should be beaten in both seats; is this the copied formula?")
require(believed["plus"] > 0.5, "plus: it should believe that X wins; is this the copied formula?")
require(own[-1] < curves["plus"][-1] / 3, "own_turn: it should play far better than plus; read your line again")
require(own[3] < minuses[3], "own_turn: after 10,000 games it should be ahead of minus; read your line again")
require(not proofs["own_turn"].unbeatable, "own_turn: it should still be beaten; read your line again")
require(believed["own_turn"] > 0.5, "own_turn: it should believe that X wins; read your line again")
print("PASSED")

# %% [markdown]
# ## What you should see

# %%
for name, beaten in curves.items():
    plt.plot(CHECKPOINTS, beaten, marker="o", label=name)
plt.yscale("symlog")  # logarithmic, but with a place for 0
plt.ylim(-0.5, 1_000)
plt.title("Three targets, the same random games (one run each)")
plt.xlabel("random games")
plt.ylabel("ways to beat it, both seats")
plt.legend()
plt.savefig("unit_3.png")

# %% [markdown]
# <details><summary>What it means</summary>
#
# - `minus` falls to **0** ways to beat it, and gives the empty board the value **0**, as in unit 1.
# - `plus` stays at **hundreds** of ways. Yet it gives the empty board nearly the value of a win, because it
#   believes that the opponent plays to help it. By its own values it would be the best of the three.
# - `own_turn` is the surprise. At first it has fewer ways than `minus`, then it stays at a few dozen. It also gives
#   the empty board a high value, but for another reason, and this value is **not wrong**: it learned from opponents
#   that move at random, and against *them* X wins most games. `own_turn` learns what is best against the opponents it
#   met; `minus` learns what is best against the best opponent.
#
# More games help `minus`, but not `plus`. That is how you tell a slow learner from a wrong target.
#
# </details>
#
# A game that `plus` loses as X:

# %%
show(game_svg(RULES, lost["plus"][0]))

# %% [markdown]
# ## What to try next
#
# - Leave `opponents_reward` out of `own_turn`, and skip the small tests. How many games does it lose now, and why?
# - In `random_game`, let the opponent play well, for example with the moves of `minus`. What does `own_turn` learn
#   then?
# - Compare your three curves with those of a network: `docs/results.md`, "Which settings matter?". There the targets
#   are called `negamax`, `article` and `independent`. Which of your curves is which?
#
# ## Look inside what you have trained
#
# The same mistake in a network: `article` is your `plus`. Look at its empty board. What does it believe, and how many
# games does it lose?

# %%
run = selfplay.train(target="article", mask=True, total_steps=30_000)
print("selfplay web", run.folder)

# %% [markdown]
# In a terminal, run the line that this prints: `selfplay web FOLDER`.
