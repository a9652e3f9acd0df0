"""Positions as texts, and what is exactly true of them, found by trying all moves."""

import random
from functools import cache

import numpy as np
from numpy.typing import NDArray

from selfplay.position import Position
from selfplay.verdict_text import NAMES
from tictactoe import Rules

MARKS = ".XO"


def texts(observations: NDArray[np.int8]) -> list[str]:
    """Return absolute observations [B, R, C, 3] as boards of the page."""
    marks = observations.reshape(len(observations), -1, 3).argmax(axis=2)
    return ["".join(MARKS[mark] for mark in board) for board in marks]


def text_of(position: Position) -> str:
    """Return a position as a board of the page."""
    first, second = position.marks
    return "".join(MARKS[(first >> cell & 1) + 2 * (second >> cell & 1)] for cell in range(position.rules.cells))


def position_of(rules: Rules, board: str) -> Position:
    """Return the position that a board of the page shows."""
    first, second = (sum(1 << cell for cell, mark in enumerate(board) if mark == own) for own in "XO")
    return Position(rules, (first, second))


def random_boards(rules: Rules, empty: int, number: int) -> list[str]:
    """Return boards of random games that go on, with a number of empty cells."""
    generator = random.Random(1)
    boards: list[str] = []
    while len(boards) < number:
        position = Position(rules)
        while len(position.legal) > empty and not position.over:
            position = position.after(generator.choice(position.legal))
        if not position.over:
            boards.append(text_of(position))
    return boards


@cache
def outcome(position: Position) -> tuple[int, int]:
    """Return the value of a position to the seat to move, and the plies to its end.

    The winner hurries and the loser resists.
    """
    if position.over:
        return (0 if position.winner is None else -1), 0
    ends = []
    for cell in position.legal:
        value, plies = outcome(without_last(position.after(cell)))
        ends.append((-value, plies))
    best = max(value for value, _ in ends)
    return best, 1 + (min if best > 0 else max)(plies for value, plies in ends if value == best)


def without_last(position: Position) -> Position:
    """Return a position that is the same whatever move led to it."""
    return Position(position.rules, position.marks)


def truth(position: Position) -> dict[str, object]:
    """Return what the page must say of a position that is not over."""
    after = {cell: without_last(position.after(cell)) for cell in position.legal}
    cells = range(position.rules.cells)
    return {
        "exact": [NAMES[-outcome(after[cell])[0]] if cell in after else None for cell in cells],
        "plies": [1 + outcome(after[cell])[1] if cell in after else None for cell in cells],
        "replies": [right_replies(after[cell]) if cell in after else None for cell in cells],
        "position": NAMES[outcome(position)[0]],
        "unsolved": False,
    }


def right_replies(position: Position) -> int:
    """Return how many moves keep the value of a position."""
    if position.over:
        return 0
    value = outcome(position)[0]
    return sum(-outcome(without_last(position.after(cell)))[0] == value for cell in position.legal)
