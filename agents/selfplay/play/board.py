"""What a person at the terminal sees and types: positions, the names of squares, and boards that need no colours."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.color import Color
from rich.style import Style
from rich.text import Text

from selfplay.errors import UserError
from selfplay.position import Position
from tictactoe import Rules
from tictactoe.rendering.text import MARKS, line_cells

NUMBERED_CELLS = 9
"""Up to this size each square has a number of its own; on larger boards it is a row and a column."""

LONGEST_SHOWN = 20
"""Characters of an answer that are repeated to whoever typed it."""

MARK_STYLES = ("bold blue", "bold red")
LINE_STYLE = "bold black on green"
LOW, MIDDLE, HIGH = (230, 130, 70), (225, 225, 225), (105, 170, 230)
"""Background of a square worth -1, 0 and 1, red, green, blue; people who see few colours can tell these apart."""


class Hint(NamedTuple):
    """Say what a square is worth to the seat to move."""

    text: str
    shade: float
    """What its colour shows, from -1, a loss or the worst square, to 1, a win or the best."""
    chosen: bool
    """The one who rates would move here."""


def square_name(rules: Rules, cell: int) -> str:
    """Return what a person calls a cell: its number from 1, or its row and column from 1."""
    if rules.cells <= NUMBERED_CELLS:
        return str(cell + 1)
    row, col = divmod(cell, rules.cols)
    return f"{row + 1} {col + 1}"


def how_to_name(rules: Rules) -> str:
    """Return how squares are to be typed, for the prompt."""
    if rules.cells <= NUMBERED_CELLS:
        return f"square 1 to {rules.cells}"
    return f"row and column, as in {square_name(rules, min(rules.cols + 2, rules.cells - 1))}"


def read_square(position: Position, answer: str) -> int:
    """Return the empty cell that a person has named.

    Raises:
        UserError: it is no square, or it is taken.
    """
    rules = position.rules
    numbered = rules.cells <= NUMBERED_CELLS
    pattern = r"(\d{1,3})" if numbered else r"(\d{1,3})(?:\s*,\s*|\s+)(\d{1,3})"
    match = re.fullmatch(pattern, answer.strip(), re.ASCII)
    if match is None:
        raise UserError(f"{shown(answer)} is no square")
    row, col = divmod(int(match[1]) - 1, rules.cols) if numbered else (int(match[1]) - 1, int(match[2]) - 1)
    if not (0 <= row < rules.rows and 0 <= col < rules.cols):
        raise UserError(f"{shown(answer)} is not on the board")
    cell = row * rules.cols + col
    if cell not in position.empty:
        raise UserError(f"{square_name(rules, cell)} is taken")
    return cell


def shown(answer: str) -> str:
    """Return an answer for a message: in quotes, cut short, and without what could confuse a terminal."""
    answer = answer.strip()
    if not answer:
        return "an empty line"
    return ascii(answer[:LONGEST_SHOWN]) + ("..." if len(answer) > LONGEST_SHOWN else "")


def board(position: Position) -> Text:
    """Draw a position; the last move stands in parentheses, a winning line in brackets, free squares by number."""
    rules = position.rules
    winning = sum(line_cells(rules, marks) for marks in position.marks)
    numbered = rules.cells <= NUMBERED_CELLS
    squares = []
    for cell in range(rules.cells):
        seat = _seat_at(position, cell)
        if seat is None:
            squares.append(Text(f" {cell + 1 if numbered else '.'} ", "dim"))
        elif winning >> cell & 1:
            squares.append(Text(f"[{MARKS[seat]}]", LINE_STYLE))
        else:
            around = "()" if cell == position.last_cell else "  "
            squares.append(Text(f"{around[0]}{MARKS[seat]}{around[1]}", MARK_STYLES[seat]))
    return _grid(rules, squares)


def hint_board(position: Position, hints: Mapping[int, Hint]) -> Text:
    """Draw what each free square is worth, the chosen one with a star before it."""
    squares = []
    for cell in range(position.rules.cells):
        seat = _seat_at(position, cell)
        if seat is None:
            hint = hints[cell]
            squares.append(Text(f"{'*' if hint.chosen else ' '}{hint.text} ", _shade(hint.shade)))
        else:
            squares.append(Text(f" {MARKS[seat]} ", MARK_STYLES[seat]))
    return _grid(position.rules, squares)


def _seat_at(position: Position, cell: int) -> int | None:
    return next((seat for seat in (0, 1) if position.marks[seat] >> cell & 1), None)


def _shade(value: float) -> Style:
    end, part = (HIGH, min(value, 1)) if value > 0 else (LOW, min(-value, 1))
    colour = (round(middle + part * (far - middle)) for middle, far in zip(MIDDLE, end, strict=True))
    return Style(color="black", bgcolor=Color.from_rgb(*colour))


def _grid(rules: Rules, squares: Sequence[Text]) -> Text:
    """Rule lines between squares of equal width; boards without numbers get those of rows and columns."""
    width = max(len(square) for square in squares)
    for square in squares:
        square.align("center", width)
    numbered = rules.cells <= NUMBERED_CELLS
    margin = 0 if numbered else len(str(rules.rows)) + 2
    lines = [
        Text("" if numbered else f"{row + 1} ".rjust(margin))
        + Text("|").join(squares[row * rules.cols : (row + 1) * rules.cols])
        for row in range(rules.rows)
    ]
    between = Text("\n" + " " * margin + "+".join(["-" * width] * rules.cols) + "\n")
    if numbered:
        return between.join(lines)
    heads = " ".join(str(col + 1).center(width) for col in range(rules.cols))
    return Text(" " * margin + heads + "\n") + between.join(lines)
