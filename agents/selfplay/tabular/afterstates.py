"""The player that the afterstate learners share: it values a cell by the position that its own mark leads to."""

from typing import Any

import numpy as np

from selfplay.tabular.boards import FloatArray, IntArray, greedy, rows_and_seats
from tictactoe import Rules


class AfterstatePlayer:
    """Choose the empty cell whose afterstate has the highest value; the first of equals.

    `table` is [3^A] float64 with values that each position's last mover wants high, or [2, 3^A] with a table
    per seat.
    """

    def __init__(self, rules: Rules, table: FloatArray) -> None:
        self.rules = rules
        self.table = table

    def q_values(self, observation: Any) -> FloatArray:
        """Return the afterstate value of each cell [B, A], NaN where it is taken.

        The observations [B, R, C, 3] may be of either perspective.
        """
        rows, seats = rows_and_seats(self.rules, observation)
        powers = 3 ** np.arange(self.rules.cells)
        taken = rows[:, None] // powers % 3 != 0
        after = np.where(taken, 0, rows[:, None] + (seats[:, None] + 1) * powers)
        values = self.table[after] if self.table.ndim == 1 else self.table[seats[:, None], after]
        return np.where(taken, np.nan, values)

    def act(self, observation: Any, action_mask: Any | None = None) -> IntArray:
        """Return the greedy cells [B], among those marked in `action_mask` [B, A] if one is given."""
        return greedy(self.q_values(observation), action_mask)
