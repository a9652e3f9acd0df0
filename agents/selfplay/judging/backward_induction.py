"""Backward induction over an agent's own play: how soon each position is lost, and the worst mean result.

Both go back from the last ply. After each move of the agent the opponent chooses the worst reply for the agent. A
position is lost at once if the agent marks a taken cell there, and in two plies if a reply completes a line. Any other
position is lost two plies before the first lost position to which its move and some reply lead.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from selfplay.agent import Array
from selfplay.judging.agents import AgentPolicy
from selfplay.judging.forward_search import Moved, Ply, moved, sort_keys
from tictactoe import Rules, planes
from tictactoe.symmetry import representatives
from tictactoe.tree import BoolArray, FloatArray, IntArray

NEVER = inf
"""Plies to the loss of what cannot be lost."""
EXACT_DIGITS = 12
"""Digits of a sum of probabilities that rounding leaves exact."""


class Values(NamedTuple):
    """Hold the values of the positions [n] of one ply: plies to the loss, or mean results."""

    keys: Array
    """One for each position, sorted; see `sort_keys`."""
    value: FloatArray


class Ends(NamedTuple):
    """Hold what the ends of a game are worth to the agent; the opponent chooses the least."""

    taken: float
    """The agent marks a taken cell."""
    won: float
    answered: float
    """The opponent completes a line."""
    drawn: float
    plies: int
    """What is added to the value for a move and a reply."""


DISTANCE = Ends(taken=1, won=NEVER, answered=2, drawn=NEVER, plies=2)
"""Plies to the loss."""
NO_WIN = DISTANCE._replace(drawn=1)
"""Plies to the end of a game that is not won."""
RESULT = Ends(taken=-1, won=1, answered=-1, drawn=0, plies=0)
"""Mean result of the game."""


def answered_by_a_line(rules: Rules, after: Moved) -> BoolArray:
    """Tell for each move whether the opponent can complete a line at once."""
    answered: BoolArray = rules.winning_cells(after.theirs) & rules.empty_cells(after.mine, after.theirs) != 0
    return answered


def play_values(policy: AgentPolicy, plies: Sequence[Ply], ends: Ends = DISTANCE) -> list[Values]:
    """Return the values of the positions of all plies of an agent's play in a seat."""
    values: list[Values] = []
    for ply in reversed(plies):
        values.append(ply_values(policy, ply, values[-1] if values else None, ends))
    return values[::-1]


def ply_values(policy: AgentPolicy, ply: Ply, later: Values | None, ends: Ends = DISTANCE) -> Values:
    """Return the values of the positions of a ply, given those of the agent's next ply.

    The distance is that by the move which loses first; the result is the mean over the moves that are sampled.
    """
    after = moved(policy.rules, ply)
    of_moves = move_values(policy, after, later, ends)
    if ends is not RESULT:
        value = np.full(len(ply.mine), NEVER)
        np.minimum.at(value, after.position, of_moves)
    else:
        assert ply.probabilities is not None
        value = np.bincount(after.position, ply.probabilities[after.position, after.cell] * of_moves)
    return Values(sort_keys(policy.rules, ply.mine, ply.theirs), value)


def worst_mean(policy: AgentPolicy, plies: Sequence[Ply]) -> float:
    """Return the mean result, from -1 to 1, of an agent that samples its moves, against a best response.

    Given are all its plies in a seat, the first one first; there is one at least.
    """
    first = play_values(policy, plies, RESULT)[0]
    return round(float(first.value.min()), EXACT_DIGITS)  # in the second seat the opponent chooses the first position


def move_values(policy: AgentPolicy, after: Moved, later: Values | None, ends: Ends = DISTANCE) -> FloatArray:
    """Return the value of each move if the opponent replies best, given the values of the agent's next ply."""
    rules = policy.rules
    cases = after.taken, after.won, answered_by_a_line(rules, after)
    value: FloatArray = np.select(cases, ends[:3], float(ends.drawn))  # what fills the board draws
    going_on = np.flatnonzero(~np.any(cases, axis=0))
    if len(going_on):
        board, cell = np.nonzero(planes.bits(rules.cells, rules.empty_cells(after.mine, after.theirs)[going_on]))
        move = going_on[board]
        value[move] = inf
        replied = after.theirs[move] | np.int64(1) << cell
        np.minimum.at(value, move, position_values(policy, after.mine[move], replied, later, ends) + ends.plies)
    return value


def position_values(
    policy: AgentPolicy, mine: IntArray, theirs: IntArray, later: Values | None, ends: Ends = DISTANCE
) -> FloatArray:
    """Look up the values of positions [n] of a ply; those that are not in it, as the board is full, are drawn."""
    if later is None:
        return np.full(len(mine), ends.drawn)
    if policy.symmetric:
        mine, theirs = representatives(policy.rules, mine, theirs)
    keys = sort_keys(policy.rules, mine, theirs)
    place = np.minimum(np.searchsorted(later.keys, keys), len(later.keys) - 1)
    return np.where(later.keys[place] == keys, later.value[place], ends.drawn)
