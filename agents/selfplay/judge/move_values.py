"""The exact result of each move in one position: from the solution of a small board, or from a bounded search."""

from collections.abc import Mapping
from functools import lru_cache

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


def known_value(bounds: Bounds) -> int | None:
    """Return a value that is exactly known, else None."""
    return bounds.least if bounds.least == bounds.most else None
