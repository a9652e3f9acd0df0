"""A built-in opponent as one who is asked for the proof: each of its choices is followed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tictactoe import Rules, planes
from tictactoe.opponents import Choices
from tictactoe.tree import FloatArray, IntArray


@dataclass(frozen=True)
class BuiltIn:
    """Answer what a built-in opponent plays: it draws among its choices."""

    choices: Choices
    rules: Rules

    symmetric: bool = False
    """Whether one image of each position is followed, because its choices turn with the board.

    Of one image alone there is no mean result of what it draws, and no games to show.
    """

    @property
    def draws(self) -> bool:
        """Tell that it draws its moves."""
        return True

    @property
    def legal(self) -> bool:
        """Tell that it chooses among the empty cells."""
        return True

    def cells(self, mover: IntArray, opponent: IntArray) -> NDArray[np.int64]:
        """Return the first of its choices in each position, [n]; the bitboards are [n] int64."""
        first: NDArray[np.int64] = self.chances(mover, opponent).argmax(axis=1)
        return first

    def chances(self, mover: IntArray, opponent: IntArray) -> FloatArray:
        """Return the probability of each cell, [n, A]: the same for each choice; the bitboards are [n]."""
        choices = self.choices(self.rules, mover.astype(np.int64), opponent.astype(np.int64))
        chosen = planes.bits(self.rules.cells, choices.astype(np.int64))
        shares: FloatArray = chosen / chosen.sum(axis=1, keepdims=True)
        return shares
