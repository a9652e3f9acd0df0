"""Tabular players, and how their tables number positions.

The table row of a position is the sum of cell * 3^i over the cells i, where a cell is 0 if it is empty, 1 if it holds
the first seat's mark and 2 if it holds the second's. `A` is the number of cells, `S` that of reachable positions.
"""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from selfplay.judge.agent_tables import player_html
from selfplay.tabular.config import MinimaxQConfig, TabularConfig, table_shape
from selfplay.tensor_file import read_model
from tictactoe import Rules
from tictactoe.tree import FloatArray, IntArray, game_tree, ternary_code

TABLE = "table"
"""Name of a tabular player's only tensor."""


def reachable_rows(rules: Rules) -> IntArray:
    """Return the table rows [S] of all positions that legal games lead to, in the order of the game tree."""
    tree = game_tree(rules)
    first_to_move = tree.ply % 2 == 0
    first = np.where(first_to_move, tree.mover, tree.opponent)
    second = np.where(first_to_move, tree.opponent, tree.mover)
    return ternary_code(rules, first, second)


def rows_and_seats(rules: Rules, observation: Any) -> tuple[IntArray, IntArray]:
    """Return the table row [B] and the seat to move [B] of observations [B, R, C, 3] of either perspective.

    With equal numbers of marks the first seat is to move and the perspectives agree. Otherwise the second is,
    and the plane with more marks is the first seat's: plane 1 of the absolute view, plane 2 of the mover's.

    Raises:
        ValueError: the observations are not of this board.
    """
    planes = np.asarray(observation)
    expected = (rules.rows, rules.cols, 3)
    if planes.shape[1:] != expected:
        raise ValueError(f"this player knows observations [B, {expected}], got shape {planes.shape}")
    marks = planes.reshape(len(planes), rules.cells, 3)[..., 1:].astype(np.int64)  # [B, A, 2]
    counts = marks.sum(axis=1)
    mover_sees_second = counts[:, 0] < counts[:, 1]
    marks[mover_sees_second] = marks[mover_sees_second][..., ::-1]
    rows: IntArray = marks @ np.array([1, 2]) @ 3 ** np.arange(rules.cells)
    seats = (counts[:, 0] != counts[:, 1]).astype(np.int64)
    return rows, seats


class TabularPlayer:
    """A player that chooses the best cell by a table of float64 values; the first of equals."""

    axis_of_rows: ClassVar[int]
    """The axis of the table whose places are the rows of positions."""

    def __init__(self, rules: Rules, table: FloatArray) -> None:
        self.rules = rules
        self.table = table

    def q_values(self, observation: Any) -> FloatArray:
        """Return the value of each cell to the mover, [B, A], NaN for a cell that is never chosen.

        The observations [B, R, C, 3] may be of either perspective; of one alone the values are [A].
        """
        if np.ndim(observation) == 3:
            rows, seats = rows_and_seats(self.rules, observation[None])
            values: FloatArray = self.values_of(rows, seats)[0]
            return values
        rows, seats = rows_and_seats(self.rules, observation)
        return self.values_of(rows, seats)

    def values_of(self, rows: IntArray, seats: IntArray) -> FloatArray:
        """Return the values [B, A] in these rows [B] of the table, to the seats to move [B]."""
        raise NotImplementedError

    def act(self, observation: Any, action_mask: Any | None = None) -> Any:
        """Return the greedy cells [B], among those marked in `action_mask` [B, A] if one is given.

        For one observation [R, C, 3], and a mask [A], it is one integer.
        """
        values = self.q_values(observation)
        allowed = ~np.isnan(values)
        if action_mask is not None:
            allowed &= np.asarray(action_mask) != 0
        cells = np.where(allowed, values, -np.inf).argmax(axis=-1)
        if cells.ndim == 0:
            return int(cells)
        return cells

    _repr_html_ = player_html

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rules}, table of {self.table.size:,} values)"

    def tensors(self) -> dict[str, Tensor]:
        """Return the table."""
        return {TABLE: torch.from_numpy(self.table)}


class AfterstatePlayer(TabularPlayer):
    """A player that chooses the empty cell whose afterstate has the highest value; the first of equals.

    `table` is [3^A], or [2, 3^A] with a table per seat: the value of each position to the seat that has just moved.
    """

    axis_of_rows = -1

    def values_of(self, rows: IntArray, seats: IntArray) -> FloatArray:
        """Return the afterstate value of each cell [B, A], NaN where it is taken."""
        powers = 3 ** np.arange(self.rules.cells)
        taken = rows[:, None] // powers % 3 != 0
        after = np.where(taken, 0, rows[:, None] + (seats[:, None] + 1) * powers)
        values = self.table[after] if self.table.ndim == 1 else self.table[seats[:, None], after]
        return np.where(taken, np.nan, values)


class MinimaxQPlayer(TabularPlayer):
    """A player that chooses the highest value for the first seat, the lowest for the second; the first of equals.

    All cells are open, as in training. `table` is [3^A, A].
    """

    axis_of_rows = 0

    def values_of(self, rows: IntArray, seats: IntArray) -> FloatArray:
        """Return the action values [B, A], the second seat's with their sign changed."""
        return np.where(seats[:, None] == 0, self.table[rows], -self.table[rows])


def make_player(config: TabularConfig, table: FloatArray) -> TabularPlayer:
    """Return the player of this algorithm and table."""
    if isinstance(config, MinimaxQConfig):
        return MinimaxQPlayer(config.rules, table)
    return AfterstatePlayer(config.rules, table)


def read_player(path: Path, config: TabularConfig) -> TabularPlayer:
    """Return the player whose table a file holds.

    Raises:
        UserError: the file does not hold such a table.
    """
    wanted = {TABLE: torch.empty(table_shape(config), dtype=torch.float64, device="meta")}
    table = read_model(path, wanted)[TABLE].numpy()
    return make_player(config, table)
