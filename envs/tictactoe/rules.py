"""The rules of the m,n,k family on bitboards: bit `a` of a bitboard is cell `a`.

The functions use only `&`, `|`, `<<`, `>>` and comparisons. So the same code works on a Python integer, for a board of
any size, and on int64 arrays of NumPy or torch, for many boards of up to 64 cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, TypeAlias

Bitboard: TypeAlias = Any
"""A Python int, a NumPy int64 array or a torch int64 tensor; each element of an array is one board."""

WORD_BITS = 64


def positive_integer(name: str, value: Any) -> int:
    """Return a setting as a Python integer.

    Raises:
        ValueError: it is not an integer from 1.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return int(value)


@dataclass(frozen=True)
class Rules:
    """Describe a board of `rows` x `cols` cells on which `k` marks in a row win.

    Raises:
        ValueError: a size is not a positive integer, or no line of `k` fits the board.
    """

    rows: int = 3
    """Number of rows of the board."""
    cols: int = 3
    """Number of columns of the board."""
    k: int = 3
    """Number of marks in a row that win."""

    def __post_init__(self) -> None:
        for name in ("rows", "cols", "k"):
            object.__setattr__(self, name, positive_integer(name, getattr(self, name)))
        if self.k > max(self.rows, self.cols):
            raise ValueError(
                f"k must be at most the longer side of the board, got k={self.k} on a {self.rows}x{self.cols} board"
            )

    def __str__(self) -> str:
        return f"{self.rows},{self.cols},{self.k}"

    @property
    def cells(self) -> int:
        """Return the number of cells, which is the number of actions."""
        return self.rows * self.cols

    @cached_property
    def full_board(self) -> int:
        """Return the bitboard with a mark in every cell, as a Python integer."""
        return (1 << self.cells) - 1

    @cached_property
    def full_word(self) -> int:
        """Return the full board as an int64: on a board of 64 cells the last cell is the sign bit."""
        return self._word(self.full_board)

    @cached_property
    def directions(self) -> tuple[tuple[int, int], ...]:
        """Return each direction as (cell step, bitboard of the cells where a line can start)."""
        directions = []
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            starts = 0
            for row in range(self.rows - down * (self.k - 1)):
                for col in range(self.cols):
                    if 0 <= col + right * (self.k - 1) < self.cols:
                        starts |= 1 << (row * self.cols + col)
            if starts:
                directions.append((down * self.cols + right, self._word(starts)))
        return tuple(directions)

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """Return the bitboards of all lines, each once, as Python integers."""
        return tuple(dict.fromkeys(line for cell in range(self.cells) for line in self.lines_through(cell)))

    def lines_through(self, cell: int) -> tuple[int, ...]:
        """Return the bitboards of all lines through a cell, as Python integers."""
        lines = self._lines.get(cell)
        if lines is None:
            lines = self._lines[cell] = tuple(self._find_lines_through(cell))
        return lines

    @cached_property
    def _lines(self) -> dict[int, tuple[int, ...]]:
        return {}  # filled when needed: a big board has more lines than one game touches

    def _find_lines_through(self, cell: int) -> Iterator[int]:
        for step, starts in self.directions:
            line = sum(1 << (i * step) for i in range(self.k))
            for i in range(self.k):
                start = cell - i * step
                if start >= 0 and starts >> start & 1:
                    yield line << start

    def _word(self, bitboard: int) -> int:
        # `&` with a Python bitboard gives the same result for this constant as for the unsigned one.
        if self.cells == WORD_BITS and bitboard >> (WORD_BITS - 1):
            return bitboard - (1 << WORD_BITS)
        return bitboard

    def empty_cells(self, mover: Bitboard, opponent: Bitboard) -> Bitboard:
        """Return the cells without a mark."""
        full = self.full_board if isinstance(mover, int) else self.full_word
        return full & ~(mover | opponent)

    def cells_of(self, board: int) -> tuple[int, ...]:
        """Return the cells of a bitboard, in order; `board` is a Python integer."""
        return tuple(cell for cell in range(self.cells) if board >> cell & 1)

    def complete_lines(self, board: int) -> list[int]:
        """Return the bitboards of the complete lines on one side's `board`, a Python integer."""
        return [line for line in self.lines if line & board == line]

    def has_line(self, board: Bitboard) -> Any:
        """Return whether one side has a complete line."""
        starts_of_lines = board & 0
        for step, starts in self.directions:
            run = board & starts
            for i in range(1, self.k):
                run = run & (board >> (i * step))
            starts_of_lines = starts_of_lines | run
        return starts_of_lines != 0

    def winning_cells(self, board: Bitboard) -> Bitboard:
        """Return the cells that would complete a line for one side, occupied cells included.

        A line that starts at `s` with step `d` and lacks only its `j`-th mark wins at `s + j * d`.
        """
        winning = board & 0
        for step, starts in self.directions:
            shifted = [board >> (i * step) for i in range(self.k)]
            after: list[Bitboard] = [starts]  # after[-1 - j]: the marks behind the j-th are there
            for marks in reversed(shifted[1:]):
                after.append(after[-1] & marks)
            before: Bitboard = starts
            for j in range(self.k):
                winning = winning | ((before & after[-1 - j]) << (j * step))
                before = before & shifted[j]
        return winning


def named_rules(rules: Any, rows: int, cols: int, k: int) -> Rules:
    """Return `rules`, which may be a dict from a JSON file, or if it is None the rules of these sizes.

    Raises:
        ValueError: there is no such board, `rules` is not a `Rules`, or a size is given as well.
    """
    if rules is None:
        return Rules(rows, cols, k)
    if isinstance(rules, dict):
        rules = Rules(**rules)
    if not isinstance(rules, Rules) or (rows, cols, k) != (3, 3, 3):
        raise ValueError(f"rules must be Rules(rows, cols, k), without rows, cols or k beside it, got {rules!r}")
    return rules
