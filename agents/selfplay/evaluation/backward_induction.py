"""Backward induction over an agent's own play: how soon each position is lost, and the worst mean result.

Both go from the last ply back. After each move of the agent the opponent chooses the reply that is worst for it. A
position is lost at once if the agent marks a taken cell there, and in two plies if a reply completes a line; any other
is lost two plies before the first lost position that its move and some reply lead to.
"""

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.evaluation.agents import AgentPolicy
from selfplay.evaluation.forward_search import Ply, sort_keys
from tictactoe import Rules, planes
from tictactoe.symmetry import representatives
from tictactoe.tree import FloatArray, IntArray

NEVER = inf
"""Plies to the loss of what cannot be lost."""
EXACT_DIGITS = 12
"""Digits of a sum of probabilities that rounding leaves exact."""


class Moved(NamedTuple):
    """Hold the result of each of the agent's moves of one ply; an agent that samples has several in a position."""

    position: IntArray
    """Number of the position in its ply."""
    cell: IntArray
    mine: IntArray
    """Marks of the agent after the move."""
    theirs: IntArray
    taken: NDArray[np.bool_]
    won: NDArray[np.bool_]


class Values(NamedTuple):
    """Hold the values of the positions [n] of one ply: plies to the loss, or mean results."""

    keys: NDArray[Any]
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
RESULT = Ends(taken=-1, won=1, answered=-1, drawn=0, plies=0)
"""Mean result of the game."""


def moved(rules: Rules, ply: Ply) -> Moved:
    """Return the result of the moves of a ply."""
    position, cell = np.nonzero(planes.bits(rules.cells, ply.moves))
    mine, theirs, bit = ply.mine[position], ply.theirs[position], np.int64(1) << cell
    taken = (mine | theirs) & bit != 0
    mine = mine | bit
    return Moved(position, cell, mine, theirs, taken, rules.has_line(mine) & ~taken)


def answered_by_a_line(rules: Rules, after: Moved) -> NDArray[np.bool_]:
    """Tell for each move whether the opponent can complete a line at once."""
    answered: NDArray[np.bool_] = rules.winning_cells(after.theirs) & rules.empty_cells(after.mine, after.theirs) != 0
    return answered


def loss_distances(policy: AgentPolicy, plies: Sequence[Ply]) -> list[Values]:
    """Return in how many plies the positions of each of all plies are lost; they are the agent's play in a seat."""
    distances: list[Values] = []
    for ply in reversed(plies):
        distances.append(ply_distances(policy, ply, distances[-1] if distances else None))
    return distances[::-1]


def ply_distances(policy: AgentPolicy, ply: Ply, later: Values | None) -> Values:
    """Return in how many plies the positions of a ply are lost, given the distances of the agent's next ply."""
    after = moved(policy.rules, ply)
    distance = np.full(len(ply.mine), NEVER)
    np.minimum.at(distance, after.position, move_values(policy, after, later))
    return Values(sort_keys(policy.rules, ply.mine, ply.theirs), distance)


def worst_mean(policy: AgentPolicy, plies: Sequence[Ply]) -> float:
    """Return the mean result, from -1 to 1, of an agent that samples its moves, against a best response.

    Given are all its plies in a seat, the first one first; there is one at least.
    """
    later: Values | None = None
    for ply in reversed(plies):
        assert ply.probabilities is not None
        after = moved(policy.rules, ply)
        mean = np.zeros(len(ply.mine))
        probability = ply.probabilities[after.position, after.cell]
        np.add.at(mean, after.position, probability * move_values(policy, after, later, RESULT))
        later = Values(sort_keys(policy.rules, ply.mine, ply.theirs), mean)
    assert later is not None
    return round(float(later.value.min()), EXACT_DIGITS)  # in the second seat the opponent chooses the first position


def move_values(policy: AgentPolicy, after: Moved, later: Values | None, ends: Ends = DISTANCE) -> FloatArray:
    """Return the value of each move if the opponent replies best, given the values of the agent's next ply."""
    rules = policy.rules
    answered = answered_by_a_line(rules, after)
    value: FloatArray = np.select([after.taken, after.won, answered], [ends.taken, ends.won, ends.answered], inf)
    going_on = np.flatnonzero(~(after.taken | after.won | answered))
    if len(going_on):
        board, cell = np.nonzero(planes.bits(rules.cells, rules.empty_cells(after.mine, after.theirs)[going_on]))
        move = going_on[board]
        replied = after.theirs[move] | np.int64(1) << cell
        np.minimum.at(value, move, position_values(policy, after.mine[move], replied, later, ends) + ends.plies)
    return np.where(value == inf, ends.drawn, value)


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
    value: FloatArray = np.where(later.keys[place] == keys, later.value[place], ends.drawn)
    return value
