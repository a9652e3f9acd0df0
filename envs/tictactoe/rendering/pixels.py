"""Boards as pixels, drawn with NumPy alone: no display and no picture library.

Shapes are signed distance fields: how far each pixel's centre lies outside the edge of the shape, in pixels,
negative inside. Within half a pixel of the edge the colours are blended, which smooths it.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe.rules import Rules

Image: TypeAlias = NDArray[np.uint8]
Field: TypeAlias = NDArray[np.floating]
Point: TypeAlias = tuple[float, float]
Colour: TypeAlias = tuple[int, int, int]

PAPER, GRID = 252, 188  # greys, with which NumPy fills an array at its quickest
TINT = (205, 215, 229)  # behind the last move
BAND = (255, 230, 140)  # behind a winning line
BAND_EDGE = (222, 168, 24)
# Two of Okabe and Ito's colours, which stay apart in every kind of colour blindness: blue X, vermilion O.
MARK_COLOURS = ((0, 114, 178), (213, 94, 0))

# In pixels, all even: a picture with an odd side is refused by many video encoders.
MARGIN = 16
GRID_WIDTH = 2
SMALLEST_CELL, LARGEST_CELL = 12, 96
LONGEST_SIDE = 640  # of the grid, unless cells would become smaller than the smallest

# As parts of a cell's side.
CROSS_REACH = 0.215  # from the centre to the end of a stroke's middle, along each side
RING_RADIUS = 0.255  # to the middle of the stroke
STROKE = 0.1
BAND_WIDTH = 0.68  # as wide as leaves the marks beside a diagonal free
BAND_EDGE_WIDTH = 0.025


def board_image(rules: Rules, x_marks: int, o_marks: int, last_cell: int | None = None) -> Image:
    """Draw a position, [height, width, 3] uint8: the last move's cell is tinted, a band lies behind winning lines.

    `x_marks` and `o_marks` are bitboards. Height and width are even and follow from the size of the board alone;
    the array is a fresh one.
    """
    image = _cells_image(rules, x_marks, o_marks, last_cell)
    runs = rules.runs(x_marks) + rules.runs(o_marks)
    if runs:
        _highlight(image, rules, runs)
        for cell in {cell for run in runs for cell in run}:
            mark = 0 if x_marks >> cell & 1 else 1
            _paint(_cell_view(image, rules, cell), _mark_cover(cell_pixels(rules))[mark], MARK_COLOURS[mark])
    return image


def cell_pixels(rules: Rules) -> int:
    """Return the side of a cell in pixels: even, and smaller on larger boards."""
    fitting = LONGEST_SIDE // max(rules.rows, rules.cols)
    return max(SMALLEST_CELL, min(LARGEST_CELL, fitting - fitting % 2))


def _cells_image(rules: Rules, x_marks: int, o_marks: int, last_cell: int | None) -> Image:
    """Draw the grid, the marks and the tint of the last move by laying tiles, which is quick."""
    size = cell_pixels(rules)
    kinds = [  # as `_tiles` has them
        2 * (1 if x_marks >> cell & 1 else 2 if o_marks >> cell & 1 else 0) + (cell == last_cell)
        for cell in range(rules.cells)
    ]
    height, width = rules.rows * size, rules.cols * size
    image = np.full((height + 2 * MARGIN, width + 2 * MARGIN, 3), PAPER, np.uint8)
    frame = MARGIN - GRID_WIDTH // 2  # tiles bring half of each line; around the grid the outer half is missing
    image[frame:-frame, frame:-frame] = GRID
    cells = image[MARGIN:-MARGIN, MARGIN:-MARGIN].reshape(rules.rows, size, rules.cols, size, 3)
    cells[:] = _tiles(size)[np.reshape(kinds, (rules.rows, rules.cols))].swapaxes(1, 2)
    return image


@lru_cache(maxsize=16)
def _tiles(size: int) -> Image:
    """Draw each kind of cell, [6, size, size, 3]: empty, X, O, each of them plain and tinted; not to be changed."""
    tiles = np.full((3, 2, size, size, 3), GRID, np.uint8)
    inner = slice(GRID_WIDTH // 2, -(GRID_WIDTH // 2))
    for tinted, colour in enumerate(((PAPER, PAPER, PAPER), TINT)):
        tiles[:, tinted, inner, inner] = colour
        for mark, cover in enumerate(_mark_cover(size)):
            _paint(tiles[1 + mark, tinted], cover, MARK_COLOURS[mark])
    tiles.flags.writeable = False
    return tiles.reshape(6, size, size, 3)


@lru_cache(maxsize=16)
def _mark_cover(size: int) -> Field:
    """Return how much of each pixel of a cell X and O cover, [2, size, size]; not to be changed."""
    down, right = _pixel_centres((0, size), (0, size))
    middle, half_stroke = size / 2, STROKE / 2 * size
    near, far = middle - CROSS_REACH * size, middle + CROSS_REACH * size
    strokes = ((near, near), (far, far)), ((near, far), (far, near))
    cross = np.minimum(*(_distance(down, right, *ends) for ends in strokes))
    ring = np.abs(np.hypot(down - middle, right - middle) - RING_RADIUS * size)
    cover = np.stack([_cover(cross - half_stroke), _cover(ring - half_stroke)])
    cover.flags.writeable = False
    return cover


def _highlight(image: Image, rules: Rules, runs: Iterable[tuple[int, ...]]) -> None:
    """Lay a band over the cells of each run, in place."""
    size = cell_pixels(rules)
    half_width = BAND_WIDTH / 2 * size
    bands = []
    for run in runs:
        ends = _centre(rules, run[0]), _centre(rules, run[-1])
        (top, bottom), (left, right) = (
            (int(min(places) - half_width) - 1, int(max(places) + half_width) + 2) for places in zip(*ends, strict=True)
        )
        bands.append((image[top:bottom, left:right], _distance(*_pixel_centres((top, bottom), (left, right)), *ends)))
    # All edges come before all fillings, so that crossing bands become one shape.
    for view, distance in bands:
        _paint(view, _cover(distance - half_width), BAND_EDGE)
    for view, distance in bands:
        _paint(view, _cover(distance - half_width + BAND_EDGE_WIDTH * size), BAND)


def _centre(rules: Rules, cell: int) -> Point:
    """Return the middle of a cell, (down, right) in pixels from the picture's upper left corner."""
    row, col = divmod(cell, rules.cols)
    size = cell_pixels(rules)
    return MARGIN + (row + 0.5) * size, MARGIN + (col + 0.5) * size


def _cell_view(image: Image, rules: Rules, cell: int) -> Image:
    row, col = divmod(cell, rules.cols)
    size = cell_pixels(rules)
    return image[MARGIN + row * size :, MARGIN + col * size :][:size, :size]


def _pixel_centres(rows: tuple[int, int], cols: tuple[int, int]) -> tuple[Field, Field]:
    """Return where the centres of pixels lie, as a column and a row."""
    down, right = (np.arange(*places, dtype=np.float32) + np.float32(0.5) for places in (rows, cols))
    return down[:, None], right[None, :]


def _distance(down: Field, right: Field, start: Point, end: Point) -> Field:
    """Return the distance of each point to the segment from `start` to `end`, [height, width]."""
    step_down, step_right = end[0] - start[0], end[1] - start[1]
    squared = step_down**2 + step_right**2 or 1.0  # the segment may be a point
    down, right = down - start[0], right - start[1]
    part = np.clip((down * step_down + right * step_right) / squared, 0.0, 1.0)
    distance: Field = np.sqrt((down - part * step_down) ** 2 + (right - part * step_right) ** 2)
    return distance


def _cover(field: Field) -> Field:
    """Return how much of each pixel lies in a shape, from 0 to 1."""
    cover: Field = np.clip(0.5 - field, 0.0, 1.0)
    return cover


def _paint(image: Image, cover: Field, colour: Colour) -> None:
    """Blend a colour into the pixels that a shape covers, in place."""
    for channel, value in enumerate(colour):  # NumPy is slow on an innermost axis of three
        below = image[..., channel].astype(np.float32)
        image[..., channel] = np.rint(below + cover * (value - below))
