"""Positions as texts, as an agent sees them, and what is exactly true of them."""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from selfplay.position import Position
from selfplay.text import NAMES
from tictactoe import Rules, solve


def texts(observations: NDArray[np.int8]) -> list[str]:
    """Return absolute observations [B, R, C, 3] as boards of the page."""
    marks = observations.reshape(len(observations), -1, 3).argmax(axis=2)
    return ["".join(".XO"[mark] for mark in board) for board in marks]


def early_boards(rules: Rules) -> list[str]:
    """Return boards of at most four marks, too few for a line."""
    marks = ["", "X", "XO", "X.OX", "OX..XO"]
    return [each.rjust(end, ".").ljust(rules.cells, ".") for each in marks for end in range(6, rules.cells + 1)]


def value(position: Position) -> int:
    """Return the value of a position to the seat to move."""
    return solve(position.rules).lookup(position.mover, position.opponent)[0]


@cache
def plies_left(position: Position) -> int:
    """Return the plies to the end if the winner hurries and the loser resists, by trying all moves."""
    if position.over:
        return 0
    ends = [(-value(after), plies_left(after)) for after in following(position)]
    best = max(result for result, _ in ends)
    return 1 + (min if best > 0 else max)(plies for result, plies in ends if result == best)


def following(position: Position) -> list[Position]:
    """Return the positions after each move."""
    return [replace(position.after(cell), last_cell=None) for cell in position.empty]


def right_replies(position: Position) -> int:
    """Return how many moves keep the value of a position."""
    return sum(-value(after) == value(position) for after in following(position)) if not position.over else 0


def exact_result(position: Position, cell: int) -> str | None:
    """Return the result of a move with best play, None for a taken cell."""
    return NAMES[-value(position.after(cell))] if cell in position.empty else None
