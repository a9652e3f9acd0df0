"""Checks of actions: one cell, or one cell for each of many boards."""

import operator
from functools import lru_cache
from typing import Any

import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

CHECKED_ONE_BY_ONE = 32
"""Largest number of actions that are checked one by one, which is faster than one NumPy operation on all of them."""


@lru_cache(maxsize=64)
def _cells(number: int) -> frozenset[int]:
    return frozenset(range(number))


def checked_cell(cells: int, action: Any) -> int:
    """Return the action on a board of `cells` cells as a Python integer.

    Raises:
        gymnasium.error.InvalidAction: it is not an integer from 0 to `cells - 1`.
    """
    try:
        cell = operator.index(action)
    except TypeError:
        cell = -1
    # A tensor of truth values or with axes has an index too.
    kind = str(getattr(action, "dtype", type(action).__name__))
    if not 0 <= cell < cells or kind in ("bool", "torch.bool") or np.shape(action):
        raise InvalidAction(f"action must be an integer from 0 to {cells - 1}, got {action!r}")
    return cell


def checked_cells(cells: int, actions: Any, boards: int, ignored: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Return one action for each of `boards` boards of `cells` cells, [boards] int64.

    On boards that are `ignored`, [boards], any integer is allowed.

    Raises:
        gymnasium.error.InvalidAction: they are not one integer from 0 to `cells - 1` for each board.
    """
    # The common case comes first: on few boards the full check would take as long as the ply itself.
    usual = type(actions) is np.ndarray and actions.dtype == np.int64 and actions.shape == (boards,)
    if usual and boards <= CHECKED_ONE_BY_ONE and _cells(cells).issuperset(actions.tolist()):
        usual_cells: NDArray[np.int64] = actions
        return usual_cells
    given = np.asarray(actions)
    if given.dtype.kind not in "iu" or given.shape != (boards,):
        got = f"{type(actions).__name__} of shape {given.shape} and type {given.dtype}"
        raise InvalidAction(f"actions must be {boards} integers, one for each board, got {got}")
    chosen: NDArray[np.int64] = given.astype(np.int64, copy=False)
    unsigned = chosen.view(np.uint64)  # negative numbers are the largest of these, so one comparison finds both
    if boards and np.maximum.reduce(unsigned) >= cells:
        outside = unsigned >= cells
        refused = outside if ignored is None else outside & ~ignored
        if refused.any():
            board = int(refused.argmax())
            raise InvalidAction(f"actions must be integers from 0 to {cells - 1}, got {given[board]} for board {board}")
        chosen = np.where(outside, 0, chosen)
    return chosen
