"""How many plies every position of an agent's play is from being lost, told backward from the last ply.

A position is lost at once if the agent marks a taken cell there, and in two plies if a reply completes a line; any
other is lost two plies before the first lost position that its move and some reply lead to.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.evaluation.stochastic import sort_keys
from selfplay.evaluation.walk import Ply
from tictactoe import Rules, planes
from tictactoe.symmetry import representatives
from tictactoe.tree import IntArray

NEVER = np.iinfo(np.int16).max
"""Plies to the end of what cannot be beaten."""


class Moved(NamedTuple):
    """Hold what each of the agent's moves of one ply does; an agent that draws has several in a position."""

    position: IntArray
    """The position's number in its ply."""
    cell: IntArray
    mine: IntArray
    """Its marks after the move."""
    theirs: IntArray
    taken: NDArray[np.bool_]
    won: NDArray[np.bool_]


class Known(NamedTuple):
    """Hold in how many plies the positions [n] of one ply are lost."""

    keys: NDArray[Any]
    """Sorted, one for each position; see `sort_keys`."""
    distance: NDArray[np.int16]
    """At least so many plies; `NEVER` where nothing loses it."""


def moved(rules: Rules, ply: Ply) -> Moved:
    """Return what the moves of a ply do."""
    position, cell = np.nonzero(planes.bits(rules.cells, ply.moves))
    mine, theirs, bit = ply.mine[position], ply.theirs[position], np.int64(1) << cell
    taken = (mine | theirs) & bit != 0
    mine = mine | bit
    return Moved(position, cell, mine, theirs, taken, rules.has_line(mine) & ~taken)


def distances(rules: Rules, plies: Sequence[Ply], symmetric: bool = False) -> list[Known]:
    """Return for each of all plies of an agent's play in how many plies its positions are lost.

    With `symmetric` the plies hold one image of each position.
    """
    found: list[Known] = []
    for ply in reversed(plies):
        found.append(of_ply(rules, ply, found[-1] if found else None, symmetric))
    return found[::-1]


def of_ply(rules: Rules, ply: Ply, later: Known | None, symmetric: bool) -> Known:
    """Return in how many plies the positions of a ply are lost, from what is known of the next ply of the agent."""
    after = moved(rules, ply)
    distance = np.full(len(ply.mine), NEVER, np.int16)
    np.minimum.at(distance, after.position, of_moves(rules, after, later, symmetric))
    return Known(sort_keys(rules, ply.mine, ply.theirs), distance)


def of_moves(rules: Rules, after: Moved, later: Known | None, symmetric: bool) -> NDArray[np.int16]:
    """Return in how many plies at least each move loses."""
    distance = np.where(after.taken, 1, NEVER).astype(np.int16)
    open_ = ~(after.taken | after.won)
    loses = open_ & answered_by_a_line(rules, after)
    distance[loses] = 2
    going_on = np.flatnonzero(open_ & ~loses)
    if later is None or not len(going_on):
        return distance
    board, cell = np.nonzero(planes.bits(rules.cells, rules.empty_cells(after.mine, after.theirs)[going_on]))
    move = going_on[board]
    reached = of_positions(rules, after.mine[move], after.theirs[move] | np.int64(1) << cell, later, symmetric)
    np.minimum.at(distance, move, np.where(reached < NEVER, reached + 2, NEVER).astype(np.int16))
    return distance


def answered_by_a_line(rules: Rules, after: Moved) -> NDArray[np.bool_]:
    """Tell of each move whether the other seat can complete a line behind it."""
    answered: NDArray[np.bool_] = rules.winning_cells(after.theirs) & rules.empty_cells(after.mine, after.theirs) != 0
    return answered


def of_positions(rules: Rules, mine: IntArray, theirs: IntArray, later: Known, symmetric: bool) -> NDArray[np.int16]:
    """Return in how many plies positions [n] of a known ply are lost; `NEVER` also of those that were not followed."""
    if symmetric:
        mine, theirs = representatives(rules, mine, theirs)
    asked = sort_keys(rules, mine, theirs)
    place = np.minimum(np.searchsorted(later.keys, asked), len(later.keys) - 1)
    reached: NDArray[np.int16] = np.where(later.keys[place] == asked, later.distance[place], NEVER)
    return reached
