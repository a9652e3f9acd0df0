"""The exact result of each move in one position: from the solution of a small board, or from a bounded search."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tictactoe import Rules, planes, solve
from tictactoe.arrays import read_only
from tictactoe.search import Bounds, move_bounds
from tictactoe.tree import IntArray

ALL_STATES_CELLS = 12
"""Largest board on which all states are looked at in less than a second."""


def exact_moves(rules: Rules, mover: int, opponent: int, positions: int | None) -> Mapping[int, Bounds]:
    """Return for each legal cell what is known of the mover's result if it moves there; nothing if the game is over.

    Boards of up to 12 cells are solved. On a larger one a search visits at most `positions` positions; if that is None,
    the board is solved, which takes at most 16 cells.

    Raises:
        ValueError: no legal game leads there, or the board is too large.
    """
    if rules.cells > ALL_STATES_CELLS and positions is not None:
        return move_bounds(rules, mover, opponent, positions)
    solution = solve(rules)
    if not solution.lookup(mover, opponent)[1]:  # no move is optimal where the game is over
        return {}
    bounds = {}
    for cell in rules.cells_of(rules.legal_cells(mover, opponent)):
        value = -solution.lookup(opponent, mover | 1 << cell)[0]
        bounds[cell] = Bounds(value, value)
    return bounds


class AfterMove(NamedTuple):
    """What follows a move if both seats play best."""

    plies: int
    """Plies to the end, the move included."""
    best_replies: int
    """Number of replies that are best against it."""


@lru_cache(maxsize=4)
def plies_to_end(rules: Rules) -> IntArray:
    """Return the plies that each state of the tree is from the end, [S] int8, if both seats play best.

    The winner hurries and the loser resists. The board must be one that `solve` takes.
    """
    solution = solve(rules)
    tree = solution.tree
    plies = np.zeros(len(tree), dtype=np.int8)
    for _, level in reversed(list(tree.plies())):
        states = np.arange(level.start, level.stop)[~tree.finished[level]]
        kept = planes.bits(rules.cells, solution.optimal_moves[states]) != 0  # [n, A]
        after = plies[tree.successors(states)]  # of a taken cell any number, which is not kept
        soonest = np.where(kept, after, rules.cells).min(axis=1, initial=rules.cells)
        latest = np.where(kept, after, -1).max(axis=1, initial=-1)
        plies[states] = 1 + np.where(solution.value[states] > 0, soonest, latest)
    return read_only(plies)


def after_moves(rules: Rules, mover: int, opponent: int) -> Mapping[int, AfterMove]:
    """Return what follows a move to each legal cell of a decision state; nothing on boards of more than 12 cells."""
    if rules.cells > ALL_STATES_CELLS:
        return {}
    solution, after = solve(rules), {}
    for cell in rules.cells_of(rules.legal_cells(mover, opponent)):
        state = int(solution.tree.find(np.array(opponent), np.array(mover | 1 << cell)))
        best_replies = int(solution.optimal_moves[state]).bit_count()
        after[cell] = AfterMove(1 + int(plies_to_end(rules)[state]), best_replies)
    return after


def best_bounds(moves: Mapping[int, Bounds]) -> Bounds:
    """Return what the results of all moves say about the position's own value; there is at least one move."""
    return Bounds(max(bounds.least for bounds in moves.values()), max(bounds.most for bounds in moves.values()))


def known_value(bounds: Bounds) -> int | None:
    """Return a value that is exactly known, else None."""
    return bounds.least if bounds.least == bounds.most else None
