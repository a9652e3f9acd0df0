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
from tictactoe.tree import SOLVABLE_CELLS, FloatArray

Choices: TypeAlias = Callable[[Rules, Bitboard, Bitboard], Bitboard]

RULE_BASE = 4
MOST_MARKS = 20
"""Largest number of marks that counts in the value of a line, so that sums in 64-bit floats stay exact."""
MOVE_POSITIONS = 500_000
"""Limit of positions in the search for one move: a second or two on one core."""
SEARCHED_POSITIONS = 1 << 16
"""Number of searched positions that are remembered, in some ten MB: many boards in one position take one search."""


def random_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return every legal cell."""
    return rules.legal_cells(mover, opponent)


def heuristic_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the cells that win at once, else those that block a win of the opponent, else every legal cell."""
    return _first_or_second(decisive_cells(rules, mover, opponent), rules.legal_cells(mover, opponent))


def rule_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the cells that win at once, else those that block a win of the opponent, else the most valuable cells.

    The value of a legal cell is the sum of 4^m over the lines through it that do not hold marks of both seats, where m
    is the number of marks on the line. Nothing is learned, and no move is looked ahead.
    """
    decisive = decisive_cells(rules, mover, opponent)
    if isinstance(mover, int) and decisive:
        return decisive
    return _first_or_second(decisive, _most_valuable(rules, mover, opponent))


def decisive_cells(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the cells that win at once, else those that block a win of the opponent."""
    legal = rules.legal_cells(mover, opponent)
    return _first_or_second(rules.winning_cells(mover) & legal, rules.winning_cells(opponent) & legal)


def _first_or_second(first: Bitboard, second: Bitboard) -> Bitboard:
    """Return the first cells, or the second cells where there are no first ones."""
    if isinstance(first, int):
        return first or second
    return np.where(first != 0, first, second)


def _most_valuable(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the legal cells of the highest value by the rule."""
    lines = _lines_as_rows(rules)
    legal = _as_rows(rules, rules.legal_cells(mover, opponent)) > 0
    mine, theirs = (_as_rows(rules, marks) @ lines.T for marks in (mover, opponent))  # marks on each line, [B, L]
    worth = float(RULE_BASE) ** np.clip(mine + theirs, None, MOST_MARKS)
    values = np.where((mine > 0) & (theirs > 0), 0.0, worth) @ lines
    values = np.where(legal, values, -1.0)
    best = legal & (values == values.max(axis=1, keepdims=True))
    if isinstance(mover, int):
        return sum(1 << cell for cell in np.flatnonzero(best).tolist())
    return planes.words(best)


@lru_cache(maxsize=64)
def _lines_as_rows(rules: Rules) -> FloatArray:
    """Return 1 for each cell of each line, [L, A]."""
    refuse_unknown_rules(rules, "the opponent 'rule'")  # asked here, because this runs once for a board
    return np.concatenate([_as_rows(rules, line) for line in rules.lines])


def _as_rows(rules: Rules, boards: Bitboard) -> FloatArray:
    """Return 1 for each marked cell, [B, A]; a Python integer is one board of any size."""
    if isinstance(boards, int):
        return np.array([[boards >> cell & 1 for cell in range(rules.cells)]], np.float64)
    rows: FloatArray = planes.bits(rules.cells, boards) * 1.0
    return rows


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
