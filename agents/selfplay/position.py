"""One position of a game: whose turn it is, who has won, and what a player sees."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selfplay.protocols import Array
from tictactoe import Rules, batch
from tictactoe.tree import IntArray


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
    def legal(self) -> tuple[int, ...]:
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
        return self.winner is not None or not self.legal

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
        return batch.observe(self.rules, self._state, "mover")

    @property
    def mask(self) -> Array:
        """Return 1 for each cell that may be marked, [1, A]."""
        mask: Array = batch.action_mask(self.rules, self._state).view(np.int8)
        return mask

    @property
    def _state(self) -> batch.State:
        """Return the position as a batch of one board."""
        mover, opponent = self.words
        return batch.State(mover, opponent, np.array([sum(self.marks).bit_count()]))
