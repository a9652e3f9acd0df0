# %% [markdown]
# # Unit 7: read a counterexample, and mend the player
#
# **What it is for.** "It loses sometimes" helps nobody. A *counterexample* does: a position of the player's own play
# from which some replies beat it, with the game that shows it. It says where to look, and when the last one is gone,
# you are done, and you know it. This is how programs are debugged, and how provers and their users work together.
#
# **You need** unit 1. **Time:** about 50 minutes; the computer needs some seconds.
#
# ## The rule that everybody knows
#
# 1. Complete a line if you can.
# 2. Else block the opponent's.
# 3. Else take the centre, else a corner, else an edge.
#
# It feels like all that there is to know of this game.

# %%
import selfplay
from tictactoe import Rules
from tictactoe.rendering.text import board_text

RULES = Rules()


def empty_after(mover, opponent):
    """Return the list of the empty cells."""
    return list(RULES.cells_of(RULES.empty_cells(mover, opponent)))


def completes(marks, other):
    """Return the list of the empty cells with which these marks would have a line."""
    return list(RULES.cells_of(RULES.winning_cells(marks) & RULES.empty_cells(marks, other)))


def forks(marks, other):
    """Return the list of the empty cells with which these marks would threaten two lines at once."""
    return [cell for cell in empty_after(marks, other) if len(completes(marks | 1 << cell, other)) >= 2]


def played_by(mend):
    """Return the agent that plays by the rule, and asks `mend` before its third part."""

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
my_prediction = (None, None)  # games lost as X, as O

# %% [markdown]
# ## What beats it


# %%
def show(agent):
    """Print the shortest game that beats an agent in each seat, and return how many positions it is beaten in."""
    proof = selfplay.evaluate(agent, RULES, perspective="mover")
    found = selfplay.counterexamples(agent, RULES, perspective="mover")
    print(f"games lost: {proof.first.losses} as X, {proof.second.losses} as O; beaten in {len(found.mover)} positions")
    for seat, line in enumerate(found.shortest):
        if line is not None:
            print(f"It is beaten as {'XO'[seat]}:")
            marks = [0, 0]
            for ply, cell in enumerate(line):
                marks[ply % 2] |= 1 << cell
                who = "the agent" if ply % 2 == seat else "opponent"
                print(f"{ply + 1}. {who} marks {cell}\n{board_text(RULES, *marks, cell)}\n")
    return len(found.mover)


show(played_by(lambda *_: None))
print("you said", my_prediction)

# %% [markdown]
# As X nobody beats it, as O it loses games. Read the game from its end. In the last position there was nothing
# left to save: two lines were threatened. So look for the *first* position from which it was lost, and for what the
# agent should have done there instead.
#
# ## Your turn
#
# `mend` is asked in every position in which there is no line to complete and none to block. It returns a cell, or None
# to leave the matter to the rule. `forks(mover, opponent)` are the cells with which the agent would threaten two lines
# at once, `forks(opponent, mover)` those of its opponent.
#
# Mend, call `show(played_by(mend))`, read the next counterexample, mend again. You do not need `solve`, and it would
# be a pity.


# %% tags=["blank"]
def mend(mover, opponent):
    """Return the cell to mark, or None to leave it to the rule."""
    raise NotImplementedError("unit 7: write mend(mover, opponent)")


# %%
beaten_in = show(played_by(mend))

# %% [markdown]
# ## The check

# %%
proof = selfplay.evaluate(played_by(mend), RULES, perspective="mover")
assert proof.first.illegal == proof.second.illegal == 0, "mend has returned a taken cell"
assert beaten_in == 0, f"it is still beaten in {beaten_in} positions; the game above is the shortest"
assert proof.unbeatable
print(f"PASSED: unbeatable. Its move is the best in {proof.optimal_states:,} of {proof.decision_states:,} positions.")

# %% [markdown]
# ## What you should see
#
# A first thought is: make two threats if you can; else mark the cell with which the opponent would.


# %%
def first_thought(mover, opponent):
    """Return a cell that makes or stops two threats at once."""
    return next(iter(forks(mover, opponent) + forks(opponent, mover)), None)


print("The first thought:")
first_thought_beaten_in = show(played_by(first_thought))
assert first_thought_beaten_in == 8
assert selfplay.evaluate(played_by(first_thought), RULES, perspective="mover").second.losses == 4

# %% [markdown]
# It sounds complete, and it still loses a few games. X has two opposite corners and O has the centre. X has two cells
# to fork from, O can stop one of them, and so X takes the other. What saves O is to threaten a line itself: then X has
# to block, and must do so in a cell that does not fork.
#
# Hardly anybody would have found those games by watching. And the player that is now *unbeatable* is still not
# *optimal*: it errs in positions that its own play never leads to. A proof about play is not a proof about knowledge.
#
# ## The same, done by a program
#
# Our DQN does this by itself. Each evaluation hands the counterexamples to training, and half of the new games begin at
# them. What is best there it has to learn as everywhere else. Without and with:

# %%
for part in (0.0, 0.5):
    for record in selfplay.training(selfplay.DQNConfig(mask=True, counterexamples=part, total_steps=250_000)):
        if record.evaluation.unbeatable:
            break
    print(f"counterexamples={part}: {record.steps:,} plies, {record.evaluation.games_lost} games lost")
assert record.evaluation.unbeatable

# %% [markdown]
# ## What to try next
#
# - Write the mend for one position only, the one that you saw. How many counterexamples are left?
# - Mend your player until it is optimal. `selfplay.evaluate` counts, but no longer shows you a game. Why not?
# - Show a counterexample of your unit 3's `own_turn`. Where does it take a risk?
