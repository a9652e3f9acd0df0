"""The board at the terminal, readable without colours, and the names of squares."""

from collections.abc import Mapping
from typing import NamedTuple

from rich import box
from rich.color import Color, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.style import Style
from rich.table import Table
from rich.text import Text

from selfplay.errors import UserError
from selfplay.position import Position
from tictactoe.rendering.text import MARKS, line_cells

MARK_STYLES = ("bold blue", "bold red")
LINE_STYLE = "bold black on green"
LOW, MIDDLE, HIGH = ColorTriplet(233, 146, 92), ColorTriplet(232, 229, 222), ColorTriplet(116, 176, 236)
"""Backgrounds (red, green, blue) of the shades -1, 0 and 1: the page's, chosen for colour-blind people too."""


class Hint(NamedTuple):
    """The value of a square to the seat to move."""

    text: str
    shade: float
    """Its colour, from -1 (a loss, or the worst square) to 1 (a win, or the best square)."""
    chosen: bool
    """Whether this is the best move, or the opponent's choice if the values are the opponent's."""


def read_square(position: Position, answer: str) -> int:
    """Return the empty cell whose number a person typed; squares count from 1, row by row.

    Raises:
        UserError: it is not a square, or it is taken.
    """
    cells = {str(cell + 1): cell for cell in range(position.rules.cells)}
    number = answer.strip()
    if number not in cells:
        raise UserError(f"{answer!r} is not a square of this board")
    if cells[number] not in position.legal:
        raise UserError(f"{number} is taken")
    return cells[number]


def board_table(position: Position, hints: Mapping[int, Hint] | None = None) -> Table:
    """Return a position as a table: last move in parentheses, winning lines in brackets, numbers in free squares.

    With `hints` it shows the value of each free square, and a star before the chosen one.
    """
    rules = position.rules
    squares = [_square(position, cell, hints) for cell in range(rules.cells)]
    width = max(map(len, squares))
    table = Table(box=box.ASCII, show_header=False, show_edge=False, show_lines=True, padding=0)
    for _ in range(rules.cols):
        table.add_column(justify="center", min_width=width, no_wrap=True)
    for row in range(rules.rows):
        table.add_row(*squares[row * rules.cols : (row + 1) * rules.cols])
    return table


def _square(position: Position, cell: int, hints: Mapping[int, Hint] | None) -> Text:
    rules = position.rules
    for seat, marks in enumerate(position.marks):
        mark = MARKS[seat]
        if line_cells(rules, marks) >> cell & 1:
            return Text(f"[{mark}]", LINE_STYLE)
        if marks >> cell & 1:
            is_last_move = cell == position.last_cell and hints is None
            return Text(f"({mark})" if is_last_move else f" {mark} ", MARK_STYLES[seat])
    if hints is not None:
        return _hint_square(hints[cell])
    return Text(f" {cell + 1} ", "dim")


def _hint_square(hint: Hint) -> Text:
    end = HIGH if hint.shade > 0 else LOW
    colour = Color.from_triplet(blend_rgb(MIDDLE, end, abs(hint.shade)))
    star = "*" if hint.chosen else " "
    return Text(f"{star}{hint.text} ", Style(color="black", bgcolor=colour))
