# %% [markdown]
# # Unit 8: a bigger board
#
# **What it is for.** So far we looked at every position. On a 4 x 4 board with four in a row there are almost ten
# million, and on 5 x 5 far too many to list. But to prove that a *player* cannot be beaten, the positions that its own
# play reaches are enough. Here you write that proof. This project uses it for large boards.
#
# **Afterwards you can** write a proof that follows a player, and explain why a bigger board is not always a harder
# game.
#
# **You need** unit 7. **Time:** about 50 minutes; the computer needs a few seconds.

# %%
from sys import displayhook as show  # draws boards in a notebook, and prints them in a terminal

import matplotlib.pyplot as plt
import numpy as np

import selfplay
from selfplay.judge.ask import agent_policy
from selfplay.judge.evaluate import search_seat
from selfplay.lessons import predict, require, reveal
from tictactoe import Rules, game_svg, solve
from tictactoe.opponents import rule_choices


class Rule:
    """Play the built-in rule: complete a line, or block one, or mark where the fullest open lines cross."""

    def __init__(self, rules):
        self.rules = rules

    def cells(self, mover, opponent):
        """Return a list with the cell for each position; both arguments are lists of marks."""
        choices = rule_choices(self.rules, np.array(mover, np.int64), np.array(opponent, np.int64))
        return [(choice & -choice).bit_length() - 1 for choice in choices.tolist()]  # the first of them


class Learned:
    """Play as a trained player does."""

    def __init__(self, player):
        self.rules, self.player = player.rules, player

    def cells(self, mover, opponent):
        """Return a list with the cell for each position; both arguments are lists of marks."""
        moves = agent_policy(self.player).moves(np.array(mover), np.array(opponent))  # one bit each
        return [int(move).bit_length() - 1 for move in moves]


# %% [markdown]
# ## Before you run anything
#
# `Rule` has learned nothing and does not look ahead. Boards are written as rows,columns,marks in a row. Can `Rule` be
# beaten on each board? And how many positions must a proof look at on 4,4,4, as X?

# %%
predict("3,3,3: can be beaten as X, as O", ...)  # (True, False) and the like in place of the dots
predict("3,4,3: can be beaten as X, as O", ...)
predict("4,4,4: can be beaten as X, as O", ...)
predict("4,4,4: positions as X", ...)  # a number

# %% [markdown]
# ## Your turn
#
# Follow a player in one seat through every game. Go a pair of moves at a time. Keep a **set** of the positions in which
# the player is to move, so that you look at each only once:
#
# ```text
# S(0)    =  the positions of the player's first move
# S(n+1)  =  what follows those in S(n) after the player's move and each reply,
#            as long as the game continues
# beaten  =  how often a reply completes a line, or the player marks a taken cell
# ```
#
# Source: this is a breadth-first search of what is reachable, as in model checking (Clarke and Emerson 1981), but only
# along the moves of one policy: Gross et al. (2022), *COOL-MC*.
#
# 1. For seat 0 the first set holds the empty board, `(0, 0)`. For seat 1 it holds each position after X's first mark.
#    A position is `(mine, theirs)`, where *mine* are the player's marks.
# 2. Get the player's cells in all positions of the set with one call of `player.cells(mine, theirs)`, which takes two
#    lists. If a cell is taken, the player is beaten there.
# 3. Otherwise mark it. If that completes the player's line or fills the board, the game is over.
# 4. Otherwise let the opponent mark *each* empty cell. If that completes a line, the player is beaten. If it fills the
#    board, the game is over. Otherwise the position belongs to the next set.
#
# Count the positions in all sets, and how often the player was beaten.
#
# `rules.has_line(marks)`, `rules.legal_cells(mine, theirs)`, `rules.cells_of(marks)` and `rules.full_board` help.
#
# <details><summary>Hint 1</summary>
#
# Begin with `now = {(0, 0)}`, or with all positions after X's first mark. While `now` is not empty, add its size to the
# count, get all cells at once, and collect the next positions in another set.
#
# </details>
#
# <details><summary>Hint 2, nearly the answer</summary>
#
# `now = sorted(now)` fixes an order, and `player.cells(*map(list, zip(*now)))` returns the cells in this order. Leave a
# position with `continue` where the player marks a taken cell or ends the game. In a loop over the replies, count a
# line of the opponent, and add `(moved, replied)` if the board is not full.
#
# </details>


# %% tags=["blank"]
def followed(player, seat):
    """Return (positions, beaten): the number of positions, and how often the player was beaten there."""
    raise NotImplementedError("unit 8: write followed(player, seat)")


# %% [markdown]
# ## The check
#
# The check compares your count with the library's, for good and bad players on small boards.


# %% tags=["folded"]
def agent_of(player):
    """Return the player as an agent for the library: cells [B] for observations [B, rows, cols, 3]."""

    class Agent:
        def act(self, observation):
            planes = observation.reshape(len(observation), -1, 3).astype(np.int64)
            marks = planes[..., 1:].transpose(2, 0, 1) @ (1 << np.arange(player.rules.cells))
            return np.array(player.cells(*marks.tolist()))

    return Agent()


class First:
    """Mark the first empty cell, or with `blindly` always cell 0."""

    def __init__(self, rules, blindly):
        self.rules, self.blindly = rules, blindly

    def cells(self, mover, opponent):
        """Return a list with the cell for each position."""
        empty = [self.rules.legal_cells(*marks) for marks in zip(mover, opponent, strict=True)]
        return [0 if self.blindly else (cells & -cells).bit_length() - 1 for cells in empty]


shipped = Learned(selfplay.load("shipped"))
for name, player in {
    "rule on 3,3,3": Rule(Rules()),
    "rule on 3,4,3": Rule(Rules(3, 4, 3)),
    "rule on 2,4,3": Rule(Rules(2, 4, 3)),
    "first empty cell": First(Rules(), blindly=False),
    "always cell 0": First(Rules(), blindly=True),
    "the shipped player": shipped,
}.items():
    for seat in (0, 1):
        policy = agent_policy(agent_of(player), player.rules, "mover")
        truth, plies = search_seat(policy, seat, 10**6)
        positions, beaten = followed(player, seat)
        true_positions = sum(len(ply.mine) for ply in plies)
        who = f"{name}, as {'XO'[seat]}"
        require(positions == true_positions, f"{who}: {true_positions:,} positions, but yours counts {positions:,}")
        is_beaten = truth.losses + truth.illegal > 0
        message = f"{who}: it {'can' if is_beaten else 'cannot'} be beaten, but yours counts {beaten} times"
        require((beaten > 0) == is_beaten, message)
print("PASSED: you have a proof for boards that are too large to solve.")

# %% [markdown]
# ## The run

# %%
rule = {}
for sides in ((3, 3, 3), (3, 4, 3), (4, 4, 4)):
    rules = Rules(*sides)
    rule[str(rules)] = [followed(Rule(rules), seat) for seat in (0, 1)]
    for seat, (positions, beaten) in enumerate(rule[str(rules)]):
        print(f"rule on {rules} as {'XO'[seat]}: {positions:7,} positions, beaten {beaten} times")
for board, seats in rule.items():
    reveal(f"{board}: can be beaten as X, as O", tuple(beaten > 0 for _, beaten in seats))
reveal("4,4,4: positions as X", rule["4,4,4"][0][0])

# %% [markdown]
# ## What you should see
#
# <details><summary>What it means</summary>
#
# The rule is beaten on 3,3,3 but **never on 4,4,4**, in either seat. A bigger board need not be a harder game: four in
# a row is easily blocked. The proof as X looked at less than one in a hundred of all positions. So if a network "has
# learned 4 x 4", first find out how a simple rule plays there.
#
# </details>
#
# A game that the rule loses on 3,4,3, with one column more than tic-tac-toe. Is the rule bad there?

# %%
lost_as_o = selfplay.counterexamples("rule", Rules(3, 4, 3)).shortest[1]
show(game_svg(Rules(3, 4, 3), lost_as_o))

# %%
wide = solve(Rules(3, 4, 3))
print(f"{len(wide.tree):,} positions; with best play the empty board has the value {int(wide.value[0]):+} to X")

# %% [markdown]
# X wins there with best play, so **nobody** is unbeatable as O, and "unbeatable" is the wrong goal. The right goal is
# that X beats everybody, and that no opponent gets more than the value of the game: *exploitability* 0. A network can
# learn this, and `selfplay.train` stops when it has:

# %%
run = selfplay.train(rows=3, cols=4, k=3, mask=True, eval_every=1_600)
verdict = run.verdict
plies = [record.steps for record in run.records]
print(f"after {plies[-1]:,} plies: exploitability {verdict.exploitability}; ways to beat it "
      f"{verdict.first.ways_to_beat} as X and {verdict.second.ways_to_beat} as O; "
      f"its worst result as X is {verdict.first.best_response:+}")  # fmt: skip
require(verdict.unexploitable, "this run has not learned it; try another seed")
learned = [followed(Learned(run.player), seat) for seat in (0, 1)]
print("followed by your own proof, (positions, beaten):", learned)
require(learned[0][1] == 0 and learned[1][1] > 0, "your proof and the verdict differ")
plt.plot(plies, [record.verdict.exploitability for record in run.records])
plt.ylim(bottom=-0.02)
plt.title("Learning 3,4,3 (one run)")
plt.xlabel("plies")
plt.ylabel("exploitability")
plt.savefig("unit_8.png")
print("selfplay web", run.folder)

# %% [markdown]
# ## What to try next
#
# - Train a player of 4,4,4: `selfplay train --preset large --mask`. Prove it with `followed`.
#   How many positions does its play reach?
# - Count positions that differ only by turning or reflecting the board as one. How many are left?
# - On 5,5,4 no player of this project has been proved by training alone. Can you find settings that do it?
#
# ## Look inside what you have trained
#
# The cell above has saved its player. Play against it as X on 3,4,3. Can you win, as the exact result promises?
#
# In a terminal, run the line that the cell printed: `selfplay web FOLDER`.
