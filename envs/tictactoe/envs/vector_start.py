"""What `reset(options=...)` asks of a vector environment: which boards start, from which positions, in which seats."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tictactoe import batch
from tictactoe.envs.backends.games import Cells, Flags, Start
from tictactoe.positions import (
    check_first_reply,
    check_options,
    check_seat_to_move,
    checked_position,
    is_seat,
    seat_to_move,
)
from tictactoe.rules import Rules

OPTIONS = ("reset_mask", "position", "seat")


def chosen_boards(options: Mapping[str, Any], boards: int) -> Flags:
    """Return the boards that start a new game, [boards]: those of the mask, or all.

    Raises:
        ValueError: an option does not exist; the mask is of another shape or type, or names no board.
    """
    check_options(options, OPTIONS)
    if "reset_mask" not in options:
        return np.ones(boards, bool)
    chosen = options["reset_mask"]
    if not isinstance(chosen, np.ndarray) or chosen.shape != (boards,) or chosen.dtype != bool:
        raise ValueError(f"reset_mask must be a NumPy array of {boards} bools, got {chosen!r}")
    if not chosen.any():
        raise ValueError("reset_mask names no board: at least one element must be True")
    return chosen


def start_of(
    options: Mapping[str, Any], rules: Rules, perspective: str, chosen: Flags, setting: int | str | None
) -> Start | None:
    """Return from where the chosen boards start; None if from the empty board and by the settings.

    `setting` is the versus view's seat, and None in the turn view, whose seats are both the caller's.

    Raises:
        ValueError: a position is none from which a game can go on; a seat is none, or not the one to move where both
            are the caller's; or an opponent's first move could end a game.
    """
    if "position" not in options and "seat" not in options:
        return None
    boards = len(chosen)
    positions, seats = options.get("position"), options.get("seat")
    if positions is not None and (not hasattr(positions, "__len__") or len(positions) != boards):
        raise ValueError(f"position must hold {boards} boards, [{boards}, {rules.rows}, {rules.cols}, 3]")
    if seats is not None:
        seats = _seats(seats, boards)
    marks: NDArray[np.uint64] = np.zeros((2, boards), np.uint64)
    for board in np.flatnonzero(chosen):
        position = None if positions is None else positions[board]
        seat = setting if seats is None else seats[board]
        try:
            marks[:, board] = _checked_marks(rules, position, perspective, seat, setting)
        except ValueError as error:
            raise ValueError(f"board {board}: {error}") from None
    return Start(_state(marks), seats)


def _checked_marks(
    rules: Rules, position: Any, perspective: str, seat: Any, setting: int | str | None
) -> tuple[int, int]:
    """Return the bitboards of X and of O from which one board starts, for an agent in this seat."""
    x_marks, o_marks = (0, 0) if position is None else checked_position(rules, position, perspective)
    to_play = seat_to_move(x_marks, o_marks)
    if setting is not None:
        if seat != to_play:  # a random one may turn out to be the other
            check_first_reply(rules, x_marks, o_marks)
    elif seat is not None:
        check_seat_to_move(seat, to_play)
    return x_marks, o_marks


def _seats(seats: Any, boards: int) -> Cells:
    found = np.asarray(seats)
    if found.shape not in ((), (boards,)) or not all(is_seat(seat) for seat in found.ravel()):
        raise ValueError(f"option seat must be 0 or 1, or one of them for each of {boards} boards, got {seats!r}")
    return np.array(np.broadcast_to(found, boards), np.int64)


def _state(marks: NDArray[np.uint64]) -> batch.State:
    """Return the bitboards of X and of O, [2, N], from the view of each board's mover."""
    ply = np.array([x.bit_count() + o.bit_count() for x, o in marks.T.tolist()])
    x_marks, o_marks = marks.view(np.int64)
    x_first = ply & 1 == 0
    return batch.State(np.where(x_first, x_marks, o_marks), np.where(x_first, o_marks, x_marks), ply)
