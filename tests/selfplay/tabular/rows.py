"""The rows of a table, worked out from text."""

from collections.abc import Sequence

EMPTY_ROW = 0


def row_of(board: Sequence[str]) -> int:
    """Return the base-3 number of a board, the first cell as the lowest digit."""
    return sum(".XO".index(mark) * 3**cell for cell, mark in enumerate(board))
