"""Check that the symmetries are all turns and reflections."""

import numpy as np
import pytest

from tests.tictactoe.rule_book import EMPTY, MARKS, marks_of
from tictactoe import Rules
from tictactoe.symmetry import representatives, symmetries

BOARDS = [(3, 3, 3), (4, 4, 3), (8, 8, 5), (2, 3, 2), (3, 4, 3), (7, 4, 4), (1, 1, 1), (1, 5, 2), (5, 1, 2)]


@pytest.mark.parametrize("size", BOARDS, ids=str)
def test_all_turns_and_reflections_are_there(size: tuple[int, int, int]) -> None:
    rows, cols, _ = size
    cells = np.arange(rows * cols).reshape(rows, cols)
    grids = [cells, cells.T] if rows == cols else [cells]
    table = symmetries(Rules(*size))
    assert table.dtype == np.int64
    assert table[0].tolist() == list(range(rows * cols))
    expected = [np.flip(grid, axes).ravel().tolist() for grid in grids for axes in ((), 0, 1, (0, 1))]
    assert sorted(table.tolist()) == sorted(expected)


@pytest.mark.parametrize("size", [(3, 3, 3), (3, 4, 3), (5, 7, 4), (8, 8, 5)], ids=str)
def test_all_images_of_a_position_have_one_representative_among_them(size: tuple[int, int, int]) -> None:
    rules = Rules(*size)
    boards = np.random.default_rng(0).choice([*MARKS, EMPTY], size=(100, rules.cells))

    def words(turned: np.ndarray) -> np.ndarray:
        return np.array([[marks_of(board, mark) for board in turned] for mark in MARKS], np.uint64).view(np.int64)

    images = [words(boards[:, cells]) for cells in symmetries(rules)]
    # Bitboards are compared as signed words.
    least = [min(each) for each in zip(*(image.T.tolist() for image in images), strict=True)]
    for image in images:
        assert np.array(representatives(rules, *image)).T.tolist() == least
