"""What is exactly known of one position: by the solution of a small board, on a larger one by a bounded search."""

from collections.abc import Mapping

from selfplay.evaluation.evaluate import ALL_STATES_CELLS
from tictactoe import Rules, search_value, solve
from tictactoe.search import Bounds, move_bounds

NAMES = {1: "win", 0: "draw", -1: "loss"}


def known_value(rules: Rules, mover: int, opponent: int, positions: int) -> int | None:
    """Return who wins with best play: +1 the seat to move, -1 the other, 0 nobody.

    It is None if a search that looks at so many `positions` does not tell.

    Raises:
        ValueError: no legal game leads there, or the board has more than 64 cells.
    """
    if rules.cells <= ALL_STATES_CELLS:
        return solve(rules).lookup(mover, opponent)[0]
    return search_value(rules, mover, opponent, positions)


def known_results(rules: Rules, mover: int, opponent: int, positions: int) -> Mapping[int, Bounds]:
    """Return for each empty cell what is known of the mover's result if it moves there; nothing if the game is over.

    Raises:
        ValueError: no legal game leads there, or the board has more than 64 cells.
    """
    if rules.cells <= ALL_STATES_CELLS:
        return solved_results(rules, mover, opponent)
    return move_bounds(rules, mover, opponent, positions)


def solved_results(rules: Rules, mover: int, opponent: int) -> Mapping[int, Bounds]:
    """Return the same of a board of up to 16 cells, which is solved as a whole.

    Raises:
        ValueError: no legal game leads there, or the board has more than 16 cells.
    """
    solution = solve(rules)
    found = {}
    if solution.lookup(mover, opponent)[1]:  # no move is optimal where the game is over
        for cell in rules.cells_of(rules.empty_cells(mover, opponent)):
            value = -solution.lookup(opponent, mover | 1 << cell)[0]
            found[cell] = Bounds(value, value)
    return found


def best_bounds(bounds: Mapping[int, Bounds]) -> Bounds:
    """Return what the results of all moves tell of the position's own value; there is one move at least."""
    return Bounds(max(bound.least for bound in bounds.values()), max(bound.most for bound in bounds.values()))
