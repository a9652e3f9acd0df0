"""Backward induction over an agent's own play: how soon each position is lost, and the worst mean result.

A position is lost at once if the agent marks a taken cell there, and in two plies if a reply completes a line; any
other is lost two plies before the first lost position that its move and some reply lead to.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.evaluation.agents import AgentPolicy
from selfplay.evaluation.forward_search import Ply, sort_keys
from tictactoe import Rules, planes
from tictactoe.symmetry import representatives
from tictactoe.tree import FloatArray, IntArray

NEVER = np.iinfo(np.int16).max
"""Distance of what cannot be lost."""
EXACT_DIGITS = 12
"""Digits of a mean result that the rounding of sums of probabilities leaves exact."""


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


class Distances(NamedTuple):
    """Hold in how many plies the positions [n] of one ply are lost."""

    keys: NDArray[Any]
    """One for each position, sorted; see `sort_keys`."""
    plies: NDArray[np.int16]
    """Plies to the earliest loss; `NEVER` where nothing loses."""


def moved(rules: Rules, ply: Ply) -> Moved:
    """Return the result of the moves of a ply."""
    position, cell = np.nonzero(planes.bits(rules.cells, ply.moves))
    mine, theirs, bit = ply.mine[position], ply.theirs[position], np.int64(1) << cell
    taken = (mine | theirs) & bit != 0
    mine = mine | bit
    return Moved(position, cell, mine, theirs, taken, rules.has_line(mine) & ~taken)


def loss_distances(policy: AgentPolicy, plies: Sequence[Ply]) -> list[Distances]:
    """Return in how many plies the positions of each of all plies are lost; they are the agent's play in a seat."""
    distances: list[Distances] = []
    for ply in reversed(plies):
        distances.append(ply_distances(policy, ply, distances[-1] if distances else None))
    return distances[::-1]


def ply_distances(policy: AgentPolicy, ply: Ply, later: Distances | None) -> Distances:
    """Return in how many plies the positions of a ply are lost, given the distances of the agent's next ply."""
    after = moved(policy.rules, ply)
    plies = np.full(len(ply.mine), NEVER, np.int16)
    np.minimum.at(plies, after.position, move_distances(policy, after, later))
    return Distances(sort_keys(policy.rules, ply.mine, ply.theirs), plies)


def move_distances(policy: AgentPolicy, after: Moved, later: Distances | None) -> NDArray[np.int16]:
    """Return in how many plies each move loses at the earliest."""
    rules = policy.rules
    plies = np.where(after.taken, 1, NEVER).astype(np.int16)
    unfinished = ~(after.taken | after.won)
    loses = unfinished & answered_by_a_line(rules, after)
    plies[loses] = 2
    going_on = np.flatnonzero(unfinished & ~loses)
    if later is None or not len(going_on):
        return plies
    board, cell = np.nonzero(planes.bits(rules.cells, rules.empty_cells(after.mine, after.theirs)[going_on]))
    move = going_on[board]
    reached = position_distances(policy, after.mine[move], after.theirs[move] | np.int64(1) << cell, later)
    np.minimum.at(plies, move, np.where(reached < NEVER, reached + 2, NEVER).astype(np.int16))
    return plies


def answered_by_a_line(rules: Rules, after: Moved) -> NDArray[np.bool_]:
    """Tell for each move whether the opponent can complete a line at once."""
    answered: NDArray[np.bool_] = rules.winning_cells(after.theirs) & rules.empty_cells(after.mine, after.theirs) != 0
    return answered


def position_distances(policy: AgentPolicy, mine: IntArray, theirs: IntArray, later: Distances) -> NDArray[np.int16]:
    """Look up in how many plies positions [n] of a ply are lost; `NEVER` also for those that were not followed."""
    if policy.symmetric:
        mine, theirs = representatives(policy.rules, mine, theirs)
    keys = sort_keys(policy.rules, mine, theirs)
    place = np.minimum(np.searchsorted(later.keys, keys), len(later.keys) - 1)
    plies: NDArray[np.int16] = np.where(later.keys[place] == keys, later.plies[place], NEVER)
    return plies


def worst_mean(rules: Rules, plies: Sequence[Ply], seat: int) -> float:
    """Return the mean result, from -1 to 1, of an agent that samples its moves, against a best response.

    Given are all its plies in that seat, the first one first; there is one at least.
    """
    later: tuple[NDArray[Any], FloatArray] | None = None
    for number, (mine, theirs, _, probabilities) in reversed(list(enumerate(plies))):
        assert probabilities is not None
        value = np.zeros(len(mine))
        marks = 2 * number + seat + 1  # on the board after its move
        for cell in range(rules.cells):
            bit = np.int64(1) << cell
            taken = (mine | theirs) & bit != 0
            moved = mine | bit
            worst = _worst_reply(rules, moved, theirs, later, full=marks == rules.cells)
            value += probabilities[:, cell] * np.where(taken, -1.0, np.where(rules.has_line(moved), 1.0, worst))
        later = sort_keys(rules, mine, theirs), value
    assert later is not None
    return round(float(later[1].min()), EXACT_DIGITS)  # in the second seat the opponent chooses among the first plies


def _worst_reply(
    rules: Rules, mine: IntArray, theirs: IntArray, later: tuple[NDArray[Any], FloatArray] | None, full: bool
) -> FloatArray:
    """Return the least value [n] that the opponent can lead these positions to, 0 where the game ends in a draw."""
    if full:
        return np.zeros(len(mine))
    worst = np.full(len(mine), np.inf)
    for cell in range(rules.cells):
        bit = np.int64(1) << cell
        free = (mine | theirs) & bit == 0
        replied = theirs | bit
        value = np.zeros(len(mine))
        if later is not None:
            keys, values = later
            place = np.minimum(np.searchsorted(keys, sort_keys(rules, mine, replied)), len(keys) - 1)
            value = values[place]
        value = np.where(rules.has_line(replied), -1.0, value)
        worst = np.where(free, np.minimum(worst, value), worst)
    return worst
