"""Boards as numbers of table rows, which is how all tabular learners know positions.

The row of a position is the sum of cell * 3^i over the cells i, where a cell is 0 if empty, 1 if the first
seat's and 2 if the second's. `A` is the number of cells.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tictactoe import Rules
from tictactoe.tree import game_tree

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class BoardTables(NamedTuple):
    """Hold what a compiled game loop looks up instead of computing it."""

    has_line: NDArray[np.bool_]
    """[2^A]: whether the marks of one seat, as a bitboard, hold a line."""
    powers: IntArray
    """[A]: 3^i, what the first seat's mark in cell i adds to the row; the second's adds twice as much."""


def board_tables(rules: Rules) -> BoardTables:
    """Return the look-up tables of a board of up to 16 cells."""
    return BoardTables(rules.has_line(np.arange(2**rules.cells)), 3 ** np.arange(rules.cells))


def row_numbers(rules: Rules, first: NDArray[Any], second: NDArray[Any]) -> IntArray:
    """Return the rows [n] of positions given as the bitboards of the two seats, [n] each."""
    rows: IntArray = np.zeros(len(first), dtype=np.int64)
    for cell in range(rules.cells):
        rows += ((first >> cell & 1) + 2 * (second >> cell & 1)) * np.int64(3**cell)
    return rows


def all_boards(rules: Rules) -> tuple[IntArray, IntArray]:
    """Return the bitboards of the first and of the second seat for every row, [3^A] each."""
    digits = np.arange(3**rules.cells)
    first, second = np.zeros_like(digits), np.zeros_like(digits)
    for cell in range(rules.cells):
        first |= (digits % 3 == 1).astype(np.int64) << cell
        second |= (digits % 3 == 2).astype(np.int64) << cell
        digits //= 3
    return first, second


class ReachablePositions(NamedTuple):
    """Hold the positions that legal games lead to, in the order of the game tree."""

    rows: IntArray
    """[S]"""
    mover: IntArray
    """[S]: the bitboard of the seat to move."""
    opponent: IntArray
    """[S]"""
    lost: NDArray[np.bool_]
    """[S]: the opponent's last move completed a line."""
    finished: NDArray[np.bool_]
    """[S]: a line is complete or the board is full."""
    ply: IntArray
    """[S]: marks on the board; the second seat is to move if it is odd."""


def reachable_positions(rules: Rules) -> ReachablePositions:
    """Enumerate the positions of a board of up to 16 cells, the empty board first."""
    tree = game_tree(rules)
    mover, opponent = tree.mover.astype(np.int64), tree.opponent.astype(np.int64)
    ply = tree.ply.astype(np.int64)
    second_to_move = ply % 2 == 1
    first, second = np.where(second_to_move, opponent, mover), np.where(second_to_move, mover, opponent)
    return ReachablePositions(row_numbers(rules, first, second), mover, opponent, tree.lost, tree.finished, ply)


def rows_and_seats(rules: Rules, observation: Any) -> tuple[IntArray, IntArray]:
    """Return the row [B] and the seat to move [B] of observations [B, R, C, 3] of either perspective.

    With equal numbers of marks the first seat is to move and the perspectives agree. Otherwise the second is,
    and the plane with more marks is the first seat's: plane 1 of the absolute view, plane 2 of the mover's.

    Raises:
        ValueError: the observations are not of this board.
    """
    planes = np.asarray(observation)
    expected = (rules.rows, rules.cols, 3)
    if planes.shape[1:] != expected:
        raise ValueError(f"this player knows observations [B, {expected}], got shape {planes.shape}")
    flat = planes.reshape(len(planes), rules.cells, 3).astype(np.int64)
    in_plane_1, in_plane_2 = flat[..., 1].sum(axis=1), flat[..., 2].sum(axis=1)
    swapped = (in_plane_1 < in_plane_2)[:, None]
    first, second = np.where(swapped, flat[..., 2], flat[..., 1]), np.where(swapped, flat[..., 1], flat[..., 2])
    powers = 3 ** np.arange(rules.cells)
    rows: IntArray = (first + 2 * second) @ powers
    return rows, (in_plane_1 != in_plane_2).astype(np.int64)


def greedy(values: FloatArray, action_mask: Any | None) -> IntArray:
    """Return the first of the best cells [B] by values [B, A], NaN cells left out.

    With `action_mask` [B, A] only the cells marked in it are chosen.
    """
    open_cells = ~np.isnan(values)
    if action_mask is not None:
        open_cells &= np.asarray(action_mask) != 0
    cells: IntArray = np.where(open_cells, values, -np.inf).argmax(axis=1)
    return cells
