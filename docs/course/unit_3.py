# %% [markdown]
# # Unit 3: the sign
#
# **What it is for.** Q-learning was made for one agent in a world. Its target is the reward, *plus* what the next
# position is worth. In a game of two, the next position is the opponent's turn. If you copy the formula without a
# thought, the program runs and its loss falls, but it never learns to play. This is the commonest mistake in self-play,
# and you will make it on purpose.
#
# **You need** unit 2. **Time:** about 45 minutes; the computer needs some seconds.
#
# ## One table, seen by the mover
#
# In unit 2 every number was worth something to X, and O took the lowest. Here every number is worth something **to the
# seat that moves**, so that both seats take the highest. A position is `(mover, opponent)`, as in unit 1. This halves
# the code, and it is how a network is trained that plays both seats.

# %%
import random
from typing import NamedTuple

import matplotlib.pyplot as plt

import selfplay
from tictactoe import Rules

RULES = Rules()
CELLS = [RULES.cells_of(marks) for marks in range(512)]
HAS_LINE = [RULES.has_line(marks) for marks in range(512)]


class Moved(NamedTuple):
    """What is known of one of my moves once the opponent has replied."""

    reward: float
    """What I got for the move: 1 if it completed my line, else 0."""
    opponents_best: float
    """The highest number in the table at the opponent's turn that follows; 0 if my move ended the game."""
    opponents_reward: float
    """What the opponent got for its reply: 1 if it completed a line; 0 if not, or if there was no reply."""
    my_next_best: float
    """The highest number in the table at my own next turn; 0 if the game is over by then."""


# %% [markdown]
# ## Three targets
#
# Three ways to say what a move was worth to me:
#
# | name | what follows my move |
# |---|---|
# | `minus` | the opponent's turn. The best that it can get there counts, and what is good for it is bad for me |
# | `plus` | the opponent's turn, taken for my own: the formula for one agent, copied |
# | `own_turn` | my own next turn. The opponent is a part of the world, and its reply just happens |
#
# The third needs care. If the reply completes a line, the game is over before my next turn, and I must still hear that
# I have lost.
#
# ## Before you run anything
#
# All three learn from the same random games, sixty thousand in all. How many games can each lose at the end, both seats
# taken together? And what does each believe that the empty board is worth to X? (Unit 1 says: 0.) Sketch the three
# curves of games lost over training games on paper, and write down where they end.

# %%
my_prediction = {  # (games lost, value of the empty board)
    "minus": (None, None),
    "plus": (None, None),
    "own_turn": (None, None),
}

# %% [markdown]
# ## Your turn
#
# One line for each.


# %% tags=["blank"]
def minus(moved):
    """Return the target of a move: what follows is the opponent's turn, and we are opponents."""
    raise NotImplementedError("unit 3: write minus(moved)")


def plus(moved):
    """Return the target of a move as if the opponent's turn were mine."""
    raise NotImplementedError("unit 3: write plus(moved)")


def own_turn(moved):
    """Return the target of a move from what happens up to my own next turn."""
    raise NotImplementedError("unit 3: write own_turn(moved)")


# %% [markdown]
# ## Three small tests first

# %%
won = Moved(1.0, 0.0, 0.0, 0.0)
lost = Moved(0.0, 1.0, 1.0, 0.0)  # the opponent could complete a line, and did
quiet = Moved(0.0, 0.25, 0.0, 0.5)
assert [rule(won) for rule in (minus, plus, own_turn)] == [1, 1, 1], "I completed a line: nothing follows"
assert minus(quiet) == -0.25, "what is worth 0.25 to the opponent costs me 0.25"
assert plus(quiet) == 0.25, "the opponent's turn taken for my own"
assert own_turn(quiet) == 0.5, "my own next turn is worth 0.5"
assert minus(lost) == -1, "the opponent could have 1"
assert own_turn(lost) == -1, "the reply completed a line: this is the last that I hear, and I have lost"
print("The small tests pass.")

# %% [markdown]
# ## The loop
#
# As in unit 2, but with your targets. `STEP` is smaller, because for `own_turn` the same move has now one outcome and
# then another, and a small step takes their mean.

# %%
STEP = 0.1
CHECKPOINTS = (0, 1_000, 3_000, 10_000, 20_000, 40_000, 60_000)


def values_at(table, mover, opponent):
    """Return the table's numbers of a position, a dict from each empty cell to its worth to the mover."""
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
        best_after = reward_after = best_at_my_next = 0.0  # behind the last move there is nothing
        reward = 1.0 if decided else 0.0
        for mover, opponent, cell in reversed(moves):
            values = values_at(table, mover, opponent)
            moved = Moved(reward, best_after, reward_after, best_at_my_next)
            values[cell] += STEP * (rule(moved) - values[cell])
            best_after, best_at_my_next = max(values.values()), best_after
            reward, reward_after = 0.0, reward


def judge(table):
    """Return the exact evaluation of the player of a table."""

    def agent(observation):
        marks = [sum(1 << cell for cell in range(9) if observation[cell // 3, cell % 3, plane]) for plane in (1, 2)]
        values = values_at(table, *marks)
        return max(values, key=values.get)

    return selfplay.evaluate(agent, RULES, perspective="mover")


# %% [markdown]
# ## The run

# %%
curves, believed, proofs = {}, {}, {}
for rule in (minus, plus, own_turn):
    name, table, generator = rule.__name__, {}, random.Random(0)
    curves[name], played = [], 0
    for games in CHECKPOINTS:
        learn(table, rule, games - played, generator)
        played = games
        proofs[name] = judge(table)
        curves[name].append(proofs[name].games_lost)
    believed[name] = max(values_at(table, 0, 0).values())
    print(f"{name:8} games lost {curves[name]}, empty board {believed[name]:+.2f}; you said {my_prediction[name]}")

# %%
for name, beaten in curves.items():
    plt.plot(CHECKPOINTS, beaten, marker="o", label=name)
plt.yscale("symlog")  # logarithmic, but with a place for 0
plt.xlabel("random games")
plt.ylabel("games lost, over every reply")
plt.legend()
plt.savefig("three_targets.png")

# %% [markdown]
# ## The check

# %%
assert proofs["minus"].unbeatable, "minus: somebody still beats it"
assert believed["minus"] == 0, "minus: the empty board is a draw"
assert proofs["plus"].exploitability == 1, "plus: it should lose in both seats, as everyone does who copies the formula"
assert believed["plus"] > 0.5
assert curves["own_turn"][-1] < curves["plus"][-1] / 3, "own_turn: it plays far better than plus"
assert curves["own_turn"][3] < curves["minus"][3], "own_turn: after 10,000 games it is ahead of minus"
assert not proofs["own_turn"].unbeatable, "own_turn: nobody expected that; read your line again"
assert believed["own_turn"] > 0.5
print("PASSED")

# %% [markdown]
# ## What you should see
#
# - `minus` falls to **0** games lost, and gives the empty board exactly **0**, as unit 1 does.
# - `plus` stays at **hundreds** of games lost. It thinks better and better of itself: to it the empty board is worth
#   nearly a win, because it believes that the opponent plays to help it. Look at nothing but its own values, and it is
#   the best of the three.
# - `own_turn` is the surprise. At first it is ahead of `minus`. Then it stays at some tens of games lost, believes as
#   well that X nearly wins, and it is **not wrong**. It has learned from opponents that move at random, and against
#   *those* X does nearly win. It answers another question: what is best against whom I have met? `minus` asks what is
#   best against the best.
#
# With `plus` no number of games helps. That is how you tell a wrong target from a slow one.
#
# ## What to try next
#
# - Leave `opponents_reward` out of `own_turn`, and pass over the small tests. How many games does it lose now, and why?
# - In `random_game`, let the opponent play well, say with the moves of `minus`. What does `own_turn` learn then?
# - Compare your three curves with those of a network: `docs/learning.md`, "What the target does". There the targets are
#   called `negamax`, `article` and `independent`. Which of your curves is which?
