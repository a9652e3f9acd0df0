"""Boards as SVG, in mid tones and without a ground, so that they can be read on a white and on a dark page."""

import re
from collections.abc import Sequence

from tictactoe.rendering.text import board_text
from tictactoe.rules import Rules

HUES = BLUE, ORANGE, GREEN, GREY = "#3a7bd5", "#cf6a2b", "#2e8b57", "#7b7b7b"
"""Hues of X, of O, of a line and of the rest, as on the page; each differs enough from white and from black."""
MARK_SHAPES = {
    "X": f'<path d="M-.23-.23l.46.46m0-.46l-.46.46" stroke="{BLUE}"/>',
    "O": f'<circle r=".26" stroke="{ORANGE}"/>',
    ".": "",
}
NUMBER = (
    f'<text y=".13" font-family="sans-serif" font-size=".36" text-anchor="middle" fill="{GREY}" fill-opacity="1">'
    "{}</text>"
)
"""An empty square's own."""
TINTS = {"[": GREEN, "(": GREY, " ": "none"}
"""Fill of a square, by what is before its mark in the text."""
SQUARE = (
    '<g transform="translate({1} {0})"><rect x="-.5" y="-.5" width="1" height="1" fill="{2}" '
    f'stroke="{GREY}" stroke-width=".04"/>{{3}}</g>'
)
BOARD = (
    '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{0}" width="{1}00" viewBox="-.5 -.5 {1} {2}" '
    'style="width: calc(2em * {1}); max-width: 100%; margin: .3em .9em .3em 0" overflow="visible" fill="none" '
    'fill-opacity=".25" stroke-width=".11" stroke-linecap="round">{3}</svg>'
)


class Drawing(str):
    """SVG that a notebook draws; where Python shows a value as text, it shows the boards as text."""

    def __repr__(self) -> str:
        return "\n\n".join(re.findall('aria-label="([^"]*)"', self))

    _repr_html_ = str.__str__


def board_svg(rules: Rules, x_marks: int, o_marks: int, last_cell: int | None = None, *, numbers: bool = False) -> str:
    """Return a position as SVG without a ground; a notebook draws it if it is the last value of a cell.

    The square of the last move is tinted grey, those of winning lines green. `x_marks` and `o_marks` are bitboards.
    With `numbers` each empty square shows its cell, from 0.
    """
    text = board_text(rules, x_marks, o_marks, last_cell)
    squares, empty = "", []
    for cell, (bracket, mark) in enumerate(re.findall(r"([ [(])([XO.])", text)):
        shape = MARK_SHAPES[mark]
        if numbers and mark == ".":
            shape = NUMBER.format(cell)
            empty.append(f"{cell:2}")
        squares += SQUARE.format(*divmod(cell, rules.cols), TINTS[bracket], shape)
    if numbers:
        text = re.sub(r" \.", lambda _: empty.pop(0), text)
    return Drawing(BOARD.format(text, rules.cols, rules.rows, squares))


def game_svg(rules: Rules, cells: Sequence[int]) -> str:
    """Return the boards after each move of a game, one after another, each as `board_svg` returns it."""
    marks, boards = [0, 0], []
    for ply, cell in enumerate(cells):
        marks[ply % 2] |= 1 << cell & ~sum(marks)  # a taken cell, which ends a game, keeps its mark
        boards.append(board_svg(rules, marks[0], marks[1], cell))
    return Drawing(" ".join(boards))
