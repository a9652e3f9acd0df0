"""Boards as text for a terminal, a log or a document."""

from functools import reduce
from operator import or_

from tictactoe.rules import Rules

MARKS = ("X", "O")


def board_text(rules: Rules, x_marks: int, o_marks: int, last_cell: int | None = None) -> str:
    """Return a position as text: the last move in parentheses, the cells of winning lines in brackets.

    `x_marks` and `o_marks` are bitboards. Rows are separated by line breaks, with none at the end.
    """
    winning = line_cells(rules, x_marks) | line_cells(rules, o_marks)
    text = ""
    for cell in range(rules.cells):
        mark = "X" if x_marks >> cell & 1 else "O" if o_marks >> cell & 1 else "."
        text += ("[{}]" if winning >> cell & 1 else "({})" if cell == last_cell else " {} ").format(mark)
        if not (cell + 1) % rules.cols:
            text = text.rstrip() + "\n"
    return text.rstrip()


def line_cells(rules: Rules, board: int) -> int:
    """Return the bitboard of all cells on complete lines of one side."""
    return reduce(or_, rules.complete_lines(board), 0)
