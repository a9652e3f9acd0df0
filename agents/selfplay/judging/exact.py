"""Exact results of the moves in one position: from the solution of a small board, or from a bounded search."""

from collections.abc import Mapping

from selfplay.judging.evaluate import ALL_STATES_CELLS
from tictactoe import Rules, solve
from tictactoe.search import Bounds, move_bounds

NAMES: dict[float, str] = {1: "win", 0: "draw", -1: "loss"}


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
    values = {
        cell: -solution.lookup(opponent, mover | 1 << cell)[0]
        for cell in rules.cells_of(rules.empty_cells(mover, opponent))
    }
    return {cell: Bounds(value, value) for cell, value in values.items()}


def best_bounds(moves: Mapping[int, Bounds]) -> Bounds:
    """Return what the results of all moves tell of the position's own value; there is one move at least."""
    return Bounds(max(bounds.least for bounds in moves.values()), max(bounds.most for bounds in moves.values()))


def known_value(bounds: Bounds) -> int | None:
    """Return a value that is exactly known, else None."""
    return bounds.least if bounds.least == bounds.most else None
