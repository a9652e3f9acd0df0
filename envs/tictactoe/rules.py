"""The rules of the m,n,k family on bitboards: bit `a` of a bitboard is cell `a`.

The functions use only `&`, `|`, `<<`, `>>` and comparisons. So the same code works on a Python integer, for a board of
any size, and on int64 arrays of NumPy or torch, for many boards of up to 64 cells.

To add a variant of the rules, write a field of `Rules`: it is a flag, a keyword argument and part of every file. Its
meaning belongs here, its rewards to `rewards.py`, what a target makes of it to `dqn.py`, and all this once more to the
page's `rules.js`. Parts that call `refuse_unknown_rules` refuse it until they name it. Tests to extend: `OTHER_VALUES`
in `tests/variants.py`, `tictactoe/rule_book.py`, and those of `pytest -m browser`.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Integral
from typing import Any, TypeAlias

Bitboard: TypeAlias = Any
"""A Python int, a NumPy int64 array or a torch int64 tensor; each element of an array is one board."""

WORD_BITS = 64
SIZES = ("rows", "cols", "k")
"""The fields of `Rules` that every part of the code knows."""


def positive_integer(name: str, value: Any) -> int:
    """Return a setting as a Python integer.

    Raises:
        ValueError: it is not an integer from 1.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return int(value)


class Event:
    """The events that a ply leads to, for the seat that made it: plain numbers, which arrays hold for many boards."""

    ONGOING = 0
    """The game continues."""
    ALLOW = 1
    """The game continues, and the opponent can win with its next ply."""
    DRAW = 2
    """The ply filled the board, and nobody has won."""
    WIN = 3
    """The seat that made the ply has won."""
    ILLEGAL = 4
    """The cell was taken: the seat that made the ply has lost."""


RESULTS = {Event.ONGOING: 0, Event.ALLOW: 0, Event.DRAW: 0, Event.WIN: 1, Event.ILLEGAL: -1}
"""The result of the seat that made a ply, by event in order: 1 if it has won, -1 if it has lost, else 0."""
NOBODY = -1
"""The winner during a game and after a draw."""
WINNERS = [{1: (0, 1), 0: (NOBODY, NOBODY), -1: (1, 0)}[result] for result in RESULTS.values()]
"""`WINNERS[event][seat]` is the winner after a ply of `seat`."""


@dataclass(frozen=True)
class Rules:
    """The rules of a board of `rows` x `cols` cells on which `k` marks in a row win.

    Raises:
        ValueError: a size is not a positive integer, or no line of `k` fits the board.
    """

    rows: int = 3
    """Number of rows of the board."""
    cols: int = 3
    """Number of columns of the board."""
    k: int = 3
    """Number of marks in a row that make a line."""

    def __post_init__(self) -> None:
        for name in SIZES:
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

    def on_board(self, mover: int, opponent: int) -> bool:
        """Return whether two bitboards share no cell and have no cell beyond the board."""
        return mover >= 0 and opponent >= 0 and not mover & opponent and mover | opponent <= self.full_board

    def legal_cells(self, mover: Bitboard, opponent: Bitboard) -> Bitboard:
        """Return the cells that the mover may mark."""
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

    @property
    def line_event(self) -> int:
        """Return the event of a ply that completes a line."""
        return Event.WIN

    @property
    def line_result(self) -> int:
        """Return the result, 1 or -1, of the seat that completes a line."""
        return RESULTS[self.line_event]

    def result(self, own: Bitboard, other: Bitboard) -> Any:
        """Return the result of one side by the lines of both: 1 if it has won, -1 if it has lost, 0 without a line."""
        return (1 * self.has_line(own) - 1 * self.has_line(other)) * self.line_result

    def event(self, completed: bool, full: bool, completing: int) -> int:
        """Return the event of a legal ply on one board.

        `completed`: it completed a line. `full`: it filled the board. `completing`: the legal cells that would complete
        a line for the opponent, as a bitboard.
        """
        if completed:
            return self.line_event
        if full:
            return Event.DRAW
        return Event.ALLOW if completing else Event.ONGOING

    def winning_cells(self, board: Bitboard) -> Bitboard:
        """Return the cells with which one side would win at once, occupied cells included.

        A legal one is a threat: the other side pays `allow` for leaving it.
        """
        return self.completing_cells(board)

    def can_lose(self, own: Bitboard, other: Bitboard) -> Any:  # noqa: ARG002 (not with these rules)
        """Return whether one side can still lose by a line: whether the other can still complete one."""
        full = self.full_board if isinstance(own, int) else self.full_word
        return self.has_line(full & ~own)

    def completing_cells(self, board: Bitboard) -> Bitboard:
        """Return the cells that would complete a line for one side, occupied cells included.

        A line that starts at `s` with step `d` and lacks only its `j`-th mark is completed at `s + j * d`.
        """
        completing = board & 0
        for step, starts in self.directions:
            shifted = [board >> (i * step) for i in range(self.k)]
            after: list[Bitboard] = [starts]  # after[-1 - j]: the marks behind the j-th are there
            for marks in reversed(shifted[1:]):
                after.append(after[-1] & marks)
            before: Bitboard = starts
            for j in range(self.k):
                completing = completing | ((before & after[-1 - j]) << (j * step))
                before = before & shifted[j]
        return completing


class UnknownRuleError(ValueError):
    """A field of `Rules` that a part of the code does not know, and that does not have its default."""


def refuse_unknown_rules(rules: Rules, part: str, known: Collection[str] = SIZES) -> None:
    """Refuse rules that differ from the usual ones in a field that a part of the code does not know.

    For parts that do not ask `Rules` what a line means, such as compiled loops and the page's JavaScript.

    Raises:
        UnknownRuleError: a field that is not `known` does not have its default; `part` says who refuses it.
    """
    for field in fields(rules):
        value = getattr(rules, field.name)
        if field.name not in known and value != field.default:
            raise UnknownRuleError(f"{part} does not know the rule {field.name}={value}")


def named_rules(rules: Any, *sizes: int, **settings: Any) -> Rules:
    """Return `rules`, which may be a dict from a JSON file, or if it is None the rules of these settings.

    Raises:
        ValueError: there is no such board, `rules` is not a `Rules`, or a setting of the board is given as well.
        TypeError: there is no such setting.
    """
    if rules is None:
        return Rules(*sizes, **settings)
    if isinstance(rules, Mapping):
        rules = Rules(**rules)
    if not isinstance(rules, Rules) or sizes or settings:
        names = ", ".join(field.name for field in fields(Rules))
        raise ValueError(f"rules must be a tictactoe.Rules, without any of {names} next to it, got {rules!r}")
    return rules
