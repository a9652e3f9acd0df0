"""Boards as pixels with NumPy only: no display and no image library.

A shape is a signed distance field: the distance of each pixel's centre from the edge of the shape, in pixels, negative
inside. Within half a pixel of the edge the colours are blended.
"""

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe.rendering.text import line_cells
from tictactoe.rules import Rules

Image: TypeAlias = NDArray[np.uint8]
Field: TypeAlias = NDArray[np.floating]

PAPER, GRID = 252, 188  # greys, with which NumPy fills an array at its quickest
TINT = (205, 215, 229)  # behind the last move
LINE_TINT = (255, 230, 140)  # behind the marks of a line
# Two of Okabe and Ito's colours, which stay apart in every kind of colour blindness: blue X, vermilion O.
MARK_COLOURS = ((0, 114, 178), (213, 94, 0))

# In pixels; the margin and the cells are even: many video encoders refuse a picture with an odd side.
MARGIN = 16
HALF_LINE = 1  # half the width of the grid's lines
SMALLEST_CELL, LARGEST_CELL = 12, 96
LONGEST_SIDE = 640  # of the grid, unless cells would become smaller than the smallest

# As parts of a cell's side.
CROSS_REACH = 0.215  # from the centre to the end of a stroke's middle, along each side
RING_RADIUS = 0.255  # to the middle of the stroke
STROKE = 0.1


def board_image(rules: Rules, x_marks: int, o_marks: int, last_cell: int | None = None) -> Image:
    """Return a position as an image, [height, width, 3] uint8.

    The cells of lines and the last move's cell are tinted. `x_marks` and `o_marks` are bitboards.
    Height and width are even and depend only on the size of the board. The array is new.
    """
    side = cell_pixels(rules)
    height, width = rules.rows * side + 2 * MARGIN, rules.cols * side + 2 * MARGIN
    image = np.full((height, width, 3), PAPER, np.uint8)
    image[MARGIN - HALF_LINE : HALF_LINE - MARGIN, MARGIN - HALF_LINE : HALF_LINE - MARGIN] = GRID
    corners = [(MARGIN + row * side, MARGIN + col * side) for row in range(rules.rows) for col in range(rules.cols)]
    cells = [image[top : top + side, left : left + side] for top, left in corners]
    won = line_cells(rules, x_marks) | line_cells(rules, o_marks)
    for number, cell in enumerate(cells):
        ground = cell[HALF_LINE:-HALF_LINE, HALF_LINE:-HALF_LINE]
        if won >> number & 1:
            ground[:] = LINE_TINT
        elif number == last_cell:
            ground[:] = TINT
        else:
            ground[:] = PAPER

    for marks, shape, colour in zip((x_marks, o_marks), _mark_shapes(side), MARK_COLOURS, strict=True):
        for number in rules.cells_of(marks):
            _paint(cells[number], shape, colour)
    return image


def cell_pixels(rules: Rules) -> int:
    """Return the side of a cell in pixels: even, and smaller on larger boards."""
    fitting = LONGEST_SIDE // max(rules.rows, rules.cols)
    return max(SMALLEST_CELL, min(LARGEST_CELL, fitting - fitting % 2))


@lru_cache(maxsize=16)
def _mark_shapes(side: int) -> tuple[Field, Field]:
    """Return the distance fields of X and O in a cell, [side, side] pixels each."""
    right = np.abs(np.arange(side) + 0.5 - side / 2)  # of the centre of each pixel from that of the cell
    down = right[:, None]
    # Every quarter of a cell looks alike: in it, a stroke of X runs from the centre along the diagonal.
    along = np.minimum((down + right) / 2, CROSS_REACH * side)
    cross = np.hypot(down - along, right - along)
    ring = np.abs(np.hypot(down, right) - RING_RADIUS * side)
    half_stroke = STROKE / 2 * side
    return cross - half_stroke, ring - half_stroke


def _paint(image: Image, shape: Field, colour: tuple[int, int, int]) -> None:
    """Blend a colour into the pixels that a shape covers, in place; `shape` is its distance field."""
    cover = np.clip(0.5 - shape, 0.0, 1.0)[..., None]
    image[:] = np.rint(image + cover * (np.array(colour) - image))
