"""What the tabular learners leave: players that look their values up in a table."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from selfplay.tabular.boards import FloatArray, IntArray, greedy, rows_and_seats
from selfplay.tabular.config import MinimaxQConfig, TabularConfig
from selfplay.tensor_file import Reader, read_model
from tictactoe import Rules

TABLE = "table"
"""Name of a tabular player's only tensor."""


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

    def tensors(self) -> dict[str, Tensor]:
        """Return its table."""
        return {TABLE: torch.from_numpy(self.table)}


class MinimaxQPlayer:
    """Choose the highest value for the first seat, the lowest for the second; the first of equals.

    All nine cells are open, as in training. `table` is [1, 3^A, A] or [2, 3^A, A] float64.
    """

    def __init__(self, table: FloatArray) -> None:
        self.rules = Rules()
        self.table = table

    def q_values(self, observation: Any) -> FloatArray:
        """Return the action values [B, A] as the mover wants them high: the second seat's with their sign changed.

        The observations [B, R, C, 3] may be of either perspective.
        """
        rows, seats = rows_and_seats(self.rules, observation)
        values = self.table[np.minimum(seats, len(self.table) - 1), rows]
        return np.where(seats[:, None] == 0, values, -values)

    def act(self, observation: Any, action_mask: Any | None = None) -> IntArray:
        """Return the greedy cells [B], among those marked in `action_mask` [B, A] if one is given."""
        return greedy(self.q_values(observation), action_mask)

    def tensors(self) -> dict[str, Tensor]:
        """Return its table."""
        return {TABLE: torch.from_numpy(self.table)}


def read_player(path: Path, config: TabularConfig, read: Reader = read_model) -> AfterstatePlayer | MinimaxQPlayer:
    """Return the player whose table a file holds.

    Raises:
        UserError: the file does not hold it.
    """
    wanted = {TABLE: torch.empty(config.table_shape, dtype=torch.float64, device="meta")}
    table = read(path, wanted, config.rules)[TABLE].numpy()
    return MinimaxQPlayer(table) if isinstance(config, MinimaxQConfig) else AfterstatePlayer(config.rules, table)
