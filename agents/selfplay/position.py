"""One position of a game: whose turn it is, who has won, and what a player sees."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selfplay.errors import UserError
from selfplay.protocols import Array
from tictactoe import Rules, batch, planes
from tictactoe.rendering.text import MARKS
from tictactoe.tree import IntArray

EMPTY = "."


@dataclass(frozen=True)
class Position:
    """A game between two plies, on a board of any size."""

    rules: Rules
    marks: tuple[int, int] = (0, 0)
    """The bitboards of X and O."""
    last_cell: int | None = None

    @property
    def seat(self) -> int:
        """Return the seat to move."""
        return (self.marks[0] | self.marks[1]).bit_count() % 2

    @property
    def mover(self) -> int:
        """Return the marks of the seat to move."""
        return self.marks[self.seat]

    @property
    def opponent(self) -> int:
        """Return the marks of the other seat."""
        return self.marks[1 - self.seat]

    @property
    def empty(self) -> tuple[int, ...]:
        """Return the cells that may be marked."""
        return self.rules.cells_of(self.rules.legal_cells(self.mover, self.opponent))

    @property
    def winner(self) -> int | None:
        """Return the seat that has won by a line, None if no seat has."""
        result = self.rules.result(*self.marks)
        if result == 0:
            return None
        return 0 if result > 0 else 1

    @property
    def over(self) -> bool:
        """Return whether a line is complete or the board is full."""
        return self.winner is not None or not self.empty

    def after(self, cell: int) -> "Position":
        """Return the position after the seat to move has marked an empty cell."""
        first, second = self.marks
        if self.seat == 0:
            return Position(self.rules, (first | 1 << cell, second), cell)
        return Position(self.rules, (first, second | 1 << cell), cell)

    @property
    def words(self) -> Sequence[IntArray]:
        """Return the marks of the seat to move and of the other as bitboards [1], of a board of up to 64 cells."""
        return [np.array([marks], np.uint64).view(np.int64) for marks in (self.mover, self.opponent)]

    @property
    def observation(self) -> Array:
        """Return what the seat to move sees, [1, R, C, 3], itself in plane 1."""
        mover, opponent = self.words
        return batch.observe(self.rules, batch.State(mover, opponent, np.zeros(1, np.int64)), "mover")

    @property
    def mask(self) -> Array:
        """Return 1 for each cell that may be marked, [1, A]."""
        return planes.bits(self.rules.cells, self.rules.legal_cells(*self.words)).view(np.int8)


def read_board(rules: Rules, text: str) -> Position:
    """Return the position that a text of one character a cell shows, row by row: X, O or a point.

    Raises:
        UserError: it is no such text, or no legal game leads to it.
    """
    if len(text) != rules.cells or set(text) - {EMPTY, *MARKS}:
        raise UserError(f"a board of {rules} is {rules.cells} characters out of {EMPTY}{''.join(MARKS)}")
    first, second = (sum(1 << cell for cell, mark in enumerate(text) if mark == own) for own in MARKS)
    position = Position(rules, (first, second))
    if first.bit_count() - second.bit_count() not in (0, 1):
        raise UserError(f"no game leads to {text}: X has as many marks as O, or one more")
    if rules.has_line(position.mover):
        raise UserError(f"no game leads to {text}: {MARKS[position.seat]} has a line already, and is to move")
    other = position.opponent
    lasts = [cell for cell in rules.cells_of(other) if not rules.has_line(other & ~(1 << cell))]
    if rules.has_line(other) and not lasts:
        raise UserError(f"no game leads to {text}: {MARKS[1 - position.seat]} has lines that no single move completes")
    return position
