"""Judge pictures by what is to be seen in each cell."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Picture

from docs.draw_game import GAME, game_images
from tests.tictactoe.rule_book import EMPTY, RuleBook
from tictactoe import Rules
from tictactoe.rendering.pixels import BAND, MARGIN, MARK_COLOURS, board_image, cell_pixels

Image = NDArray[np.uint8]

SIZES = [(1, 1, 1), (1, 5, 3), (5, 1, 4), (3, 3, 3), (3, 4, 3), (7, 7, 5), (15, 15, 5), (2, 80, 3)]

WON = {
    "row": ((3, 3, 3), "XXX OO. ..."),
    "column": ((3, 3, 3), "OX. OX. O.X"),
    "diagonal": ((3, 3, 3), "XOO OXX OXX"),
    "antidiagonal": ((3, 3, 3), "XXO XOX OXO"),
    "two lines": ((3, 3, 3), "XXX XOO XOO"),
    "both diagonals": ((3, 3, 3), "XOX OXO XOX"),
    "two parallel lines": ((3, 3, 3), "XXX OOO XXX"),
    "longer than k": ((3, 5, 3), "XXXXX .OOO. OXO.."),
    "two runs in one row": ((1, 7, 3), "XXXOXXX"),
    "one column": ((5, 1, 4), "X O O O O"),
    "one mark": ((2, 2, 1), "X. .."),
    "tall": ((6, 4, 4), "X.O. OX.. .OX. XXOX X..O O..X"),
    "large": ((9, 9, 5), "X.......O .X.....O. ..X...O.. ...X.O... ....X.... ......... X........ XX....... XXX......"),
}


def draw(size: tuple[int, int, int], text: str, last_cell: int | None = None) -> Image:
    board = text.replace(" ", "")
    x_marks, o_marks = (sum(1 << cell for cell, mark in enumerate(board) if mark == which) for which in "XO")
    return board_image(Rules(*size), x_marks, o_marks, last_cell)


def cell_of(image: Image, rules: Rules, cell: int) -> Image:
    side = cell_pixels(rules)
    top, left = (MARGIN + place * side for place in divmod(cell, rules.cols))
    return image[top : top + side, left : left + side]


def pixels(image: Image, colour: tuple[int, int, int]) -> int:
    return int((image == colour).all(axis=-1).sum())


@pytest.mark.parametrize("size", SIZES)
def test_pictures_of_a_board_have_one_even_size(size: tuple[int, int, int]) -> None:
    rules = Rules(*size)
    side = cell_pixels(rules)
    shape = (rules.rows * side + 2 * MARGIN, rules.cols * side + 2 * MARGIN, 3)
    for marks in (0, 1):
        image = board_image(rules, marks, 0)
        assert image.dtype == np.uint8
        assert image.shape == shape
    assert shape[0] % 2 == shape[1] % 2 == 0


def test_cells_shrink_so_that_large_boards_fit_the_screen() -> None:
    sides = [max(board_image(Rules(side, side, 3), 0, 0).shape) for side in (3, 5, 7, 15, 40)]
    assert sides == [320, 512, 662, 662, 672]
    assert cell_pixels(Rules(1, 500, 3)) == 12


def test_empty_x_and_o_look_different_and_the_same_in_every_cell() -> None:
    rules = Rules(3, 4, 4)
    image = draw((3, 4, 4), "XO.. .XO. ..XO")
    for cell, mark in enumerate("XO...XO...XO"):
        first = cell_of(image, rules, "XO.".index(mark))
        np.testing.assert_array_equal(cell_of(image, rules, cell), first)
        inked = [pixels(first, colour) > 0.05 * first[..., 0].size for colour in MARK_COLOURS]
        assert inked == [mark == "X", mark == "O"]


@pytest.mark.parametrize("name", WON)
def test_the_picture_of_a_mirrored_position_is_the_mirrored_picture(name: str) -> None:
    (rows, cols, k), text = WON[name]
    board = np.array(list(text.replace(" ", ""))).reshape(rows, cols)
    last = int(board.ravel().tolist().index("X"))
    numbers = np.arange(rows * cols).reshape(rows, cols)
    picture = draw((rows, cols, k), text, last).astype(int)
    for mirrored, numbered, expected in (
        (board[:, ::-1], numbers[:, ::-1], picture[:, ::-1]),
        (board[::-1], numbers[::-1], picture[::-1]),
        (board.T, numbers.T, picture.swapaxes(0, 1)),
    ):
        size = (mirrored.shape[0], mirrored.shape[1], k)
        found = draw(size, "".join(mirrored.ravel()), numbered.ravel().tolist().index(last))
        np.testing.assert_allclose(found.astype(int), expected, atol=1)  # float32 rounds differently from the left


@pytest.mark.parametrize("size", SIZES)
def test_the_last_move_is_seen_in_its_cell_and_nowhere_else(size: tuple[int, int, int]) -> None:
    rules = Rules(*size)
    last = rules.cells // 2
    plain, marked = (board_image(rules, 1 << last, 0, cell) for cell in (None, last))
    changed = (plain != marked).any(axis=-1)
    inside = cell_of(changed[..., None], rules, last)
    assert inside.sum() == changed.sum()
    assert inside.mean() > 0.25


@pytest.mark.parametrize("name", WON)
def test_the_last_move_is_seen_on_a_winning_line(name: str) -> None:
    size, text = WON[name]
    rules, last = Rules(*size), text.replace(" ", "").index("X")
    changed = (draw(size, text) != draw(size, text, last)).any(axis=-1)
    assert cell_of(changed[..., None], rules, last).mean() > 0.1


@pytest.mark.parametrize("name", WON)
def test_bands_lie_behind_the_cells_of_winning_lines(name: str) -> None:
    size, text = WON[name]
    rules, book, board = Rules(*size), RuleBook(*size), tuple(text.replace(" ", ""))
    won = {cell for mark in "XO" for line in book.complete_lines(board, mark) for cell in line}
    assert won
    image = draw(size, text)
    for cell in range(rules.cells):
        quarter = cell_pixels(rules) // 4  # a band on a diagonal crosses corners of other cells, not their middles
        middle = cell_of(image, rules, cell)[quarter:-quarter, quarter:-quarter]
        share = pixels(middle, BAND) / middle[..., 0].size
        assert share > 0.2 if cell in won else share == 0, cell


@pytest.mark.parametrize("name", WON)
def test_bands_hide_no_mark(name: str) -> None:
    size, text = WON[name]
    rules = Rules(*size)
    alone = {mark: cell_of(draw(size, mark + EMPTY * (rules.cells - 1)), rules, 0) for mark in "XO"}
    image = draw(size, text)
    for cell, mark in enumerate(text.replace(" ", "")):
        if mark != EMPTY:
            colour = MARK_COLOURS["XO".index(mark)]
            inked = (alone[mark] == colour).all(axis=-1)
            assert (cell_of(image, rules, cell)[inked] == colour).all(), cell


def test_a_band_joins_the_cells_of_its_line() -> None:
    rules, image = Rules(), draw((3, 3, 3), "OX. OX. .X.")
    side = cell_pixels(rules)
    for border in (MARGIN + side, MARGIN + 2 * side):
        assert (image[border, MARGIN + 3 * side // 2] == BAND).all()
        assert not (image[border, MARGIN + side // 2] == BAND).all()


@pytest.mark.parametrize("text", ["X.. .O. ...", "XXX OO. ..."])
def test_pictures_are_equal_and_share_no_memory(text: str) -> None:
    first = draw((3, 3, 3), text, 0)
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(draw((3, 3, 3), text, 0), kept)


def test_the_readmes_picture_is_what_is_drawn_today() -> None:
    path = Path(__file__).parents[2] / "docs" / "game.gif"
    images = game_images(Rules(), GAME)
    with Picture.open(path) as game:
        assert getattr(game, "n_frames", 1) == len(images) == len(GAME) + 1
        for frame, image in enumerate(images):
            game.seek(frame)
            difference = np.abs(np.asarray(game.convert("RGB")).astype(int) - image)
            assert difference.mean() < 1  # a palette of few colours
    assert path.stat().st_size < 100_000
