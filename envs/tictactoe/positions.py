"""Checks of the positions and seats that `reset(options=...)` accepts."""

from collections.abc import Collection, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tictactoe.names import unknown
from tictactoe.rules import Rules, refuse_unknown_rules


def checked_start(rules: Rules, perspective: str, setting: Any, options: Mapping[str, Any]) -> tuple[int, int]:
    """Return the bitboards of X and of O from which a game on one board starts, as Python integers.

    `options` may hold a `position` and a `seat`. `setting` is the agent's seat if they hold none: 0, 1 or `"random"`;
    it is None if the caller plays both seats.

    Raises:
        ValueError: no game can continue from the position, it is not the seat's turn if the caller plays both, or the
            opponent's first move could end the game.
    """
    marks = (0, 0)
    if "position" in options:
        marks = checked_position(rules, options["position"], perspective)
    to_play, seat = seat_to_move(*marks), options.get("seat", setting)
    if setting is None:
        if "seat" in options and not (is_seat(seat) and seat == to_play):
            raise ValueError(f"option seat must be {to_play}, the seat to move in this position, got {seat!r}")
    elif "seat" in options and not is_seat(seat):
        raise ValueError(f"option seat must be 0 or 1, the agent's seat in this game, got {seat!r}")
    elif seat != to_play:  # a random seat may be the other one
        check_first_reply(rules, *marks)
    return marks


def checked_position(rules: Rules, position: Any, perspective: str) -> tuple[int, int]:
    """Return the bitboards of X and of O in a position from which a game can continue, as Python integers.

    `position` is [rows, cols, 3] of 0 and 1, the board as the mover observes it: plane 1 shows X with perspective
    `"absolute"`, and the mover's marks with `"mover"`. The numbers of marks say which seat is the mover.

    Raises:
        ValueError: it is not such a board, no game leads to it, or the game is over there.
    """
    planes = _checked_planes(rules, position)
    first, second = (_bitboard(planes[..., plane]) for plane in (1, 2))
    second_to_move = perspective == "mover" and first.bit_count() != second.bit_count()
    x_marks, o_marks = (second, first) if second_to_move else (first, second)
    if seat_to_move(x_marks, o_marks) not in (0, 1):
        raise ValueError(
            f"no game leads to {first.bit_count()} marks in plane 1 and {second.bit_count()} in plane 2 of the "
            f"position, as perspective {perspective!r} shows it: X must have as many marks as O, or one more"
        )
    # Nothing else needs to be checked: with the rules known here marks can be placed in any order. If they hold no line
    # in the end, no part of them holds one, so no game is over earlier.
    refuse_unknown_rules(rules, "a position to start from")
    for mark, marks in (("X", x_marks), ("O", o_marks)):
        if rules.has_line(marks):
            raise ValueError(f"{mark} has a complete line in the position, so the game is over: give an earlier one")
    if not rules.legal_cells(x_marks, o_marks):
        raise ValueError("no cell of the position may be marked, so the game is over: give an earlier one")
    return x_marks, o_marks


def seat_to_move(x_marks: int, o_marks: int) -> int:
    """Return the seat to move in a position, 0 or 1."""
    return x_marks.bit_count() - o_marks.bit_count()


def check_options(options: Any, known: Collection[str]) -> None:
    """Refuse unknown options of `reset`.

    Raises:
        ValueError: an option is unknown, or the options are not a dict.
    """
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dict with the keys {', '.join(known)}, got {options!r}")
    for key in options:
        if key not in known:
            raise ValueError(unknown("reset option", key, known))


def is_seat(seat: object) -> bool:
    """Return whether `seat` is the integer 0 or 1."""
    return isinstance(seat, Integral) and not isinstance(seat, bool) and seat in (0, 1)


def check_first_reply(rules: Rules, x_marks: int, o_marks: int) -> None:
    """Refuse a position in which the opponent's first move could end the game: `reset` cannot return a finished game.

    Raises:
        ValueError: the seat to move can complete a line or fill the board.
    """
    seat = seat_to_move(x_marks, o_marks)
    legal = rules.legal_cells(x_marks, o_marks)
    completing = rules.completing_cells((x_marks, o_marks)[seat]) & legal
    if completing or legal.bit_count() == 1:
        raise ValueError(
            "an opponent who moves first in this position could complete a line or fill the board, and reset cannot "
            f"return a finished game: give seat={seat}, or another position"
        )


def _checked_planes(rules: Rules, position: Any) -> NDArray[np.bool_]:
    given = np.asarray(position)
    shape = (rules.rows, rules.cols, 3)
    if given.shape != shape or given.dtype.kind not in "biuf":
        got = f"{type(position).__name__} of shape {given.shape} and type {given.dtype}"
        raise ValueError(f"position must be numbers of shape {shape}, one-hot like an observation, got {got}")
    set_to_one: NDArray[np.bool_] = given == 1
    proper = (set_to_one.sum(axis=2) == 1) & ((given == 0).sum(axis=2) == 2)
    if not proper.all():
        cell = int(proper.argmin())
        got = given.reshape(-1, 3)[cell].tolist()
        raise ValueError(f"position must be one-hot, with one 1 and two 0 for each cell, got {got} for cell {cell}")
    return set_to_one


def _bitboard(plane: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(plane, bitorder="little").tobytes(), "little")
