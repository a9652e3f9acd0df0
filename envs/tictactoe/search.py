"""Who wins a position with best play: a search for boards too large for `solve`, limited by a number of positions.

It needs Numba (`pip install numba`). The algorithm is in `tictactoe.compiled_search`.
"""

import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tictactoe.rules import WORD_BITS, Rules, refuse_unknown_rules
from tictactoe.symmetry import symmetries

if TYPE_CHECKING:
    from tictactoe.compiled_search import Board, Room

MAX_POSITIONS = 5_000_000
"""Default limit of positions in a search: some ten seconds on one core."""
TABLE_ENTRIES = 1 << 20
"""Largest number of entries of a search's table, 24 bytes each: 25 MB. Four times as many save 1 % on 4,8,4."""
INTERRUPT_EVERY = 1 << 17
"""Number of positions between two checks for Ctrl-C."""
IMAGE_MARKS = 8
"""Largest number of marks with which symmetric positions count as one; later that costs more time than it saves."""
OWN_SHARE = 3
"""Weight of the mover's own lines in the order of moves; with 1, some searches never end."""
MARK_FACTOR = 4
"""Factor in the order of moves for each mark on a line."""
MOST_MARKS = 20
"""Largest number of marks that counts in the order of moves, so that sums fit a word."""


class Bounds(NamedTuple):
    """Bounds of the value of a position or a move, which is exact if both are equal."""

    least: int
    """The mover's result is at least this: +1, 0 or -1."""
    most: int
    """The mover's result is at most this."""


def search_value(rules: Rules, mover: int, opponent: int, max_positions: int = MAX_POSITIONS) -> int | None:
    """Return who wins with best play: +1 the seat to move, -1 the other seat, 0 nobody, None if it is not known.

    It is not known if the search would take more than `max_positions` positions. `mover` and `opponent` are bitboards.

    Raises:
        ValueError: no legal game leads to this position, or the board has more than 64 cells.
        ImportError: Numba is not installed.
    """
    value = _value_at_once(rules, mover, opponent)
    if value is not None:
        return value
    bounds = Search(rules, max_positions).bounds(mover, opponent, max_positions)
    if bounds.least == bounds.most:
        return bounds.least
    _warn_of_end(rules, max_positions)
    return None


def move_bounds(rules: Rules, mover: int, opponent: int, max_positions: int = MAX_POSITIONS) -> Mapping[int, Bounds]:
    """Return bounds of the mover's result for a move to each legal cell; nothing if the game is over.

    Raises:
        ValueError: no legal game leads to this position, or the board has more than 64 cells.
        ImportError: Numba is not installed.
    """
    if _value_at_once(rules, mover, opponent) is not None:
        return {}
    search = Search(rules, max_positions)
    legal = rules.legal_cells(mover, opponent)
    cells = rules.cells_of(legal)
    # If one search shows that the mover cannot win here, no move has to be searched for a win.
    wins = search.attacker_wins(mover, opponent, True, max_positions // 2)
    bounds_of = {}
    for number, cell in enumerate(cells):
        moved = mover | 1 << cell
        result = rules.result(moved, opponent)
        if result:
            bounds_of[cell] = Bounds(result, result)
        elif not legal & ~(1 << cell):
            bounds_of[cell] = Bounds(0, 0)
        else:
            after = search.bounds(opponent, moved, search.left // (len(cells) - number), cannot_lose=wins is False)
            bounds_of[cell] = Bounds(-after.most, -after.least)
    return bounds_of


def best_moves(rules: Rules, mover: int, opponent: int, max_positions: int = MAX_POSITIONS) -> tuple[int, ...] | None:
    """Return the cells whose move keeps the value: an empty tuple if the game is over, None if they are not known.

    Raises:
        ValueError: no legal game leads to this position, or the board has more than 64 cells.
        ImportError: Numba is not installed.
    """
    bounds_of = move_bounds(rules, mover, opponent, max_positions)
    best = max((bounds.least for bounds in bounds_of.values()), default=0)
    if any(bounds.most > best or bounds.least < best == bounds.most for bounds in bounds_of.values()):
        _warn_of_end(rules, max_positions)
        return None
    return tuple(cell for cell, bounds in bounds_of.items() if bounds.least == best)


def _warn_of_end(rules: Rules, max_positions: int) -> None:
    """Say that a search has ended without an answer."""
    warnings.warn(f"the search of {rules} gave up after {max_positions:,} positions; raise max_positions", stacklevel=3)


def check_searchable(rules: Rules) -> None:
    """Refuse a board that cannot be searched.

    Raises:
        ValueError: it has more than 64 cells, or a rule that the search does not know.
        ImportError: Numba is not installed.
    """
    refuse_unknown_rules(rules, "the search")
    if rules.cells > WORD_BITS:
        raise ValueError(
            f"only boards of up to {WORD_BITS} cells can be searched: "
            f"a {rules.rows}x{rules.cols} board has {rules.cells}"
        )
    _kernels()


def _value_at_once(rules: Rules, mover: int, opponent: int) -> int | None:
    """Return the value of a finished game, or None if the game is not over.

    Raises:
        ValueError: no legal game leads to this position, or the board has more than 64 cells.
        ImportError: Numba is not installed.
    """
    check_searchable(rules)
    on_board = rules.on_board(mover, opponent)
    in_turn = opponent.bit_count() - mover.bit_count() in (0, 1)
    completed = in_turn and rules.has_line(opponent)
    # Marks without a line can have been placed in any order; a line must be completed by the last of them.
    if not (on_board and in_turn) or rules.has_line(mover) or (completed and not _last_marks(rules, opponent)):
        raise ValueError(f"no legal game on {rules} leads to mover={mover:#b}, opponent={opponent:#b}")
    if completed:
        return int(rules.result(mover, opponent))
    return None if rules.legal_cells(mover, opponent) else 0


def _last_marks(rules: Rules, opponent: int) -> list[int]:
    """Return the cells whose mark could have been the last: without it the side has no line."""
    return [cell for cell in rules.cells_of(opponent) if not rules.has_line(opponent & ~(1 << cell))]


class Search:
    """A search of positions of one board, with one table and one limit of positions for all of them."""

    def __init__(self, rules: Rules, max_positions: int) -> None:
        kernels = _kernels()
        self.left = max_positions
        """Number of positions that may still be looked at."""
        self._resume, self._board = kernels.resume, _board(rules)
        self._frames = np.zeros(rules.cells + 1, kernels.FRAME)
        self._moves = np.zeros((rules.cells + 1, rules.cells), np.int64)
        self._room = _room(rules)
        # New for each search, so that no answer depends on earlier ones. The system provides memory only where
        # something is written, so a short search takes little of it.
        entries = 1 << max(1, (min(max_positions, TABLE_ENTRIES) - 1).bit_length())
        self._table = np.zeros(entries, kernels.ENTRY)

    def bounds(self, mover: int, opponent: int, positions: int, cannot_lose: bool = False) -> Bounds:
        """Return what is known about the value of a position after looking at no more than `positions` positions."""
        most_left = self.left - positions
        wins = self.attacker_wins(mover, opponent, True, positions)
        if wins:
            return Bounds(1, 1)
        loses = False if cannot_lose else self.attacker_wins(mover, opponent, False, self.left - most_left)
        if loses:
            return Bounds(-1, -1)
        return Bounds(-1 if loses is None else 0, 1 if wins is None else 0)

    def attacker_wins(self, mover: int, opponent: int, mover_attacks: bool, positions: int) -> bool | None:
        """Return whether a seat can get a line against any defence, None if that takes over `positions` positions."""
        self._frames[0]["mover"], self._frames[0]["opponent"] = _words([mover, opponent])
        self._frames[0]["attacks"] = mover_attacks
        progress = np.zeros(2, np.int64)
        answer = -1
        while answer < 0 and progress[1] < positions:
            some = min(INTERRUPT_EVERY, positions - int(progress[1]))
            answer = self._resume(self._board, self._frames, self._moves, self._table, self._room, progress, some)
        self.left -= int(progress[1])
        return None if answer < 0 else bool(answer)


def _kernels() -> ModuleType:
    """Return the compiled search. It is imported only when needed: that takes 0.3 s, and Numba may be missing."""
    try:
        from tictactoe import compiled_search
    except ImportError:
        raise ModuleNotFoundError(
            "numba is not installed, but searching a board needs it: pip install numba",
            name="numba",
        ) from None
    return compiled_search


@lru_cache(maxsize=64)
def _board(rules: Rules) -> "Board":
    kernels = _kernels()
    lines, continues = _lines(rules)
    worth = np.array([MARK_FACTOR ** min(marks, MOST_MARKS) for marks in range(rules.k)])
    board: Board = kernels.Board(
        rules.k,
        rules.full_word,
        _words(lines),
        np.array([rules.cells_of(line) for line in lines]),
        np.array([max(1, kernels.LINE >> (rules.k - marks)) for marks in range(rules.k)]),
        OWN_SHARE * worth,
        worth,
        symmetries(rules),
        IMAGE_MARKS,
        np.array(continues, np.bool_),
    )
    return board


def _room(rules: Rules) -> "Room":
    """Return room in which pairs of cells can be sought on a board."""
    kernels = _kernels()
    room: Room = kernels.Room(*np.zeros((len(kernels.Room._fields), max(rules.cells, len(rules.lines))), np.int64))
    return room


def _lines(rules: Rules) -> tuple[Sequence[int], list[bool]]:
    """Return all lines, those of one row, column or diagonal in order, and whether each continues the one before it."""
    if rules.k == 1:  # a line of one cell has no direction
        return rules.lines, [False] * len(rules.lines)
    lines: list[int] = []
    continues: list[bool] = []
    for step, starts in rules.directions:
        line = sum(1 << i * step for i in range(rules.k))
        cells = sorted(rules.cells_of(starts), key=lambda cell: (cell % step, cell))
        lines += [line << cell for cell in cells]
        continues += [cell - step in cells for cell in cells]
    return lines, continues


def _words(boards: Sequence[int]) -> NDArray[np.int64]:
    """Return bitboards as an array, [n] int64."""
    return np.array(boards, np.uint64).view(np.int64)
