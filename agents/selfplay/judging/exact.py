"""The exact result of each move in one position: from the solution of a small board, or from a bounded search."""

from collections.abc import Mapping

from tictactoe import Rules, solve
from tictactoe.search import Bounds, move_bounds

NAMES: dict[float, str] = {1: "win", 0: "draw", -1: "loss"}
ALL_STATES_CELLS = 12
"""Largest board on which all states are looked at in less than a second."""


def exact_moves(rules: Rules, mover: int, opponent: int, positions: int | None) -> Mapping[int, Bounds]:
    """Return for each empty cell what is known of the mover's result if it moves there; nothing if the game is over.

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
    for cell in rules.cells_of(rules.empty_cells(mover, opponent)):
        value = -solution.lookup(opponent, mover | 1 << cell)[0]
        bounds[cell] = Bounds(value, value)
    return bounds


def best_bounds(moves: Mapping[int, Bounds]) -> Bounds:
    """Return what the results of all moves say about the position's own value; there is at least one move."""
    return Bounds(max(bounds.least for bounds in moves.values()), max(bounds.most for bounds in moves.values()))


def known_value(bounds: Bounds) -> int | None:
    """Return a value that is exactly known, else None."""
    return bounds.least if bounds.least == bounds.most else None
