"""The built-in opponents: each is a function that returns the cells from which the opponent samples its move.

Each is a pure function of a position, (rules, mover, opponent) -> bitboard, for a Python integer or for many boards in
a NumPy array. Environments sample one of the cells, and analyses go through all of them.

To add an opponent, write a function and its name in `OPPONENTS`, which every command, API and page reads, and a line in
`docs/environments/versus.md`. Test to extend: `tictactoe/test_opponents.py`.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import inf
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe import planes
from tictactoe.rules import Bitboard, Rules, refuse_unknown_rules
from tictactoe.search import Bounds, check_searchable, move_bounds
from tictactoe.solver import solve
from tictactoe.tree import SOLVABLE_CELLS, FloatArray, IntArray

Choices: TypeAlias = Callable[[Rules, Bitboard, Bitboard], Bitboard]

RULE_BASE = 4
MOST_MARKS = 20
"""Largest number of marks that counts in the value of a line, so that sums in 64-bit floats stay exact."""
MOVE_POSITIONS = 500_000
"""Limit of positions in the search for one move: a second or two on one core."""
SEARCHED_POSITIONS = 1 << 16
"""Number of searched positions that are remembered, in some ten MB: many boards in one position take one search."""


def random_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return every empty cell."""
    return rules.legal_cells(mover, opponent)


def heuristic_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the cells that win at once, else those that block a win of the opponent, else every empty cell."""
    return _first_or_second(decisive_cells(rules, mover, opponent), rules.legal_cells(mover, opponent))


def rule_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the cells that win at once, else those that block a win of the opponent, else the most valuable cells.

    The value of an empty cell is the sum of 4^m over the lines through it that do not hold marks of both seats, where m
    is the number of marks on the line. Nothing is learned, and no move is looked ahead.
    """
    if isinstance(mover, int):
        return decisive_cells(rules, mover, opponent) or _most_valuable(rules, mover, opponent)
    return _first_or_second(decisive_cells(rules, mover, opponent), _most_valuable_of_each(rules, mover, opponent))


def decisive_cells(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the cells that win at once, else those that block a win of the opponent."""
    empty = rules.legal_cells(mover, opponent)
    return _first_or_second(rules.winning_cells(mover) & empty, rules.winning_cells(opponent) & empty)


def _first_or_second(first: Bitboard, second: Bitboard) -> Bitboard:
    """Return the first cells, or the second cells where there are no first ones."""
    if isinstance(first, int):
        return first or second
    return np.where(first != 0, first, second)


def _cell_values(rules: Rules, mine: FloatArray, theirs: FloatArray) -> FloatArray:
    """Return the value of each cell by the rule, 0 of a taken one, [B, A]; marks are 0 and 1, [B, A] floats."""
    lines = _lines_as_rows(rules)
    mine_on, theirs_on = mine @ lines.T, theirs @ lines.T  # marks on each line, [B, L]
    worth = float(RULE_BASE) ** np.clip(mine_on + theirs_on, None, MOST_MARKS)
    open_worth = np.where((mine_on > 0) & (theirs_on > 0), 0.0, worth)
    values: FloatArray = open_worth @ lines * (1 - mine - theirs)
    return values


@lru_cache(maxsize=64)
def _lines_as_rows(rules: Rules) -> FloatArray:
    """Return 1 for each cell of each line, [L, A]."""
    refuse_unknown_rules(rules, "the opponent 'rule'")  # asked here, because this runs once for a board
    rows = [[line >> cell & 1 for cell in range(rules.cells)] for line in rules.lines]
    return np.array(rows, np.float64)


def _most_valuable_of_each(rules: Rules, mover: IntArray, opponent: IntArray) -> Bitboard:
    """Return the empty cells of the highest value by the rule, on each of many boards."""
    mine, theirs = (planes.bits(rules.cells, marks) * 1.0 for marks in (mover, opponent))
    values = _cell_values(rules, mine, theirs)
    # Where no line is open, all cells are worth 0, taken ones too.
    return planes.words(values == values.max(axis=1, keepdims=True)) & rules.legal_cells(mover, opponent)


def _most_valuable(rules: Rules, mover: int, opponent: int) -> int:
    """Return the empty cells of the highest value by the rule, on a board of any size."""
    empty = rules.cells_of(rules.legal_cells(mover, opponent))
    mine, theirs = np.zeros((2, 1, rules.cells))
    mine[0, list(rules.cells_of(mover))] = 1
    theirs[0, list(rules.cells_of(opponent))] = 1
    values = _cell_values(rules, mine, theirs)[0].tolist()
    most = max((values[cell] for cell in empty), default=0)
    return sum(1 << cell for cell in empty if values[cell] == most)


def optimal_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the cells that keep the game-theoretic value; the position must be reachable.

    Boards of over 16 cells are searched, at most a second or two for a position. If the search does not finish,
    `best_known` chooses the cells.

    Raises:
        ValueError: the board has more than 64 cells.
        ImportError: it has more than 16, and Numba is not installed.
    """
    if rules.cells <= SOLVABLE_CELLS:
        solution = solve(rules)
        return solution.optimal_moves[solution.tree.find(mover, opponent)]
    if isinstance(mover, int):
        return _searched_choices(rules, mover, opponent)
    marks = (side.astype(np.int64).view(np.uint64).tolist() for side in (mover, opponent))
    choices = [_searched_choices(rules, *position) for position in zip(*marks, strict=True)]
    return np.array(choices, np.uint64).view(np.int64)


@lru_cache(maxsize=SEARCHED_POSITIONS)
def _searched_choices(rules: Rules, mover: int, opponent: int) -> int:
    return best_known(rules, mover, opponent, move_bounds(rules, mover, opponent, MOVE_POSITIONS))


def best_known(rules: Rules, mover: int, opponent: int, bounds: Mapping[int, Bounds]) -> int:
    """Return the best cells known, as a bitboard: those with the highest guaranteed result.

    If every cell may lose, leave out those that surely lose, and take the most valuable of the others by the rule.
    """
    least = max((bound.least for bound in bounds.values()), default=0)
    cells = sum(1 << cell for cell, bound in bounds.items() if bound.least == least)
    unknown = sum(1 << cell for cell, bound in bounds.items() if bound.least == -1 < bound.most)
    if least == -1 and unknown:
        return rule_choices(rules, mover, opponent) & unknown or unknown
    return cells


def check_nothing(_rules: Rules) -> None:
    """Let an opponent play every board."""


def check_optimal(rules: Rules) -> None:
    """Refuse a board that `"optimal"` cannot play, and solve a board of up to 16 cells now.

    Raises:
        ValueError: the board has more than 64 cells.
        ImportError: it has more than 16, and Numba is not installed.
    """
    if rules.cells <= SOLVABLE_CELLS:
        solve(rules)
    else:
        check_searchable(rules)


class BuiltIn(NamedTuple):
    """A built-in opponent."""

    choices: Choices
    """The cells from which it samples its move."""
    check: Callable[[Rules], None] = check_nothing
    """Raises a ValueError or an ImportError for a board that it cannot play; prepares any other."""
    known_cells: float = inf
    """Largest board, in cells, of which it knows every move at once; on larger ones it searches each position."""


OPPONENTS: Mapping[str, BuiltIn] = MappingProxyType(
    {
        "random": BuiltIn(random_choices),
        "heuristic": BuiltIn(heuristic_choices),
        "rule": BuiltIn(rule_choices),
        "optimal": BuiltIn(optimal_choices, check_optimal, known_cells=SOLVABLE_CELLS),
    }
)
"""The built-in opponents by name; a new one is a function and its entry."""


def pick(cells: int, choices: Bitboard, generator: np.random.Generator) -> NDArray[np.int64]:
    """Sample one of the choices of each board, [B] int64; a board without choices gets cell 0.

    `choices` is [B] int64, bitboards of a board of `cells` cells.
    """
    chosen = planes.bits(cells, choices)
    rank = generator.random(len(choices)) * chosen.sum(axis=1)  # of the choice to take, counted from 0
    picked: NDArray[np.int64] = np.argmax(chosen.cumsum(axis=1) > rank[:, None], axis=1)
    return picked
