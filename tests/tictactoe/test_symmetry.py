"""Check that the symmetries are all turns and reflections."""

from itertools import product

import numpy as np
import pytest

from tictactoe import Rules
from tictactoe.symmetry import representatives, symmetries

BOARDS = [(3, 3, 3), (4, 4, 3), (8, 8, 5), (2, 3, 2), (3, 4, 3), (7, 4, 4), (1, 1, 1), (1, 5, 2), (5, 1, 2)]


def expected_symmetries(rows: int, cols: int) -> set[tuple[int, ...]]:
    """Send every cell through each reflection, with and without exchanging rows and columns."""
    expected = set()
    for transpose, up, left in product((False, True) if rows == cols else (False,), (False, True), (False, True)):
        down = range(rows)[::-1] if up else range(rows)
        right = range(cols)[::-1] if left else range(cols)
        expected.add(tuple(c * cols + r if transpose else r * cols + c for r in down for c in right))
    return expected


@pytest.mark.parametrize("size", BOARDS, ids=str)
def test_all_turns_and_reflections_are_there(size: tuple[int, int, int]) -> None:
    rows, cols, _ = size
    table = symmetries(Rules(*size))
    assert table.shape == (8 if rows == cols else 4, rows * cols)
    assert table.dtype == np.int64
    assert table[0].tolist() == list(range(rows * cols))
    assert set(map(tuple, table.tolist())) == expected_symmetries(rows, cols)


def test_the_shared_table_is_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        symmetries(Rules())[0, 0] = 1


@pytest.mark.parametrize("size", [(3, 3, 3), (3, 4, 3), (4, 4, 4), (5, 7, 4), (8, 8, 5)], ids=str)
def test_all_images_of_a_position_have_one_representative_among_them(size: tuple[int, int, int]) -> None:
    rules = Rules(*size)
    marks = np.random.default_rng(0).integers(3, size=(300, rules.cells))

    def words(board: np.ndarray) -> list[np.ndarray]:
        bits = np.left_shift(np.uint64(1), np.arange(rules.cells, dtype=np.uint64))
        return [((board == plane) * bits).sum(axis=1, dtype=np.uint64).view(np.int64) for plane in (1, 2)]

    images = [words(marks[:, cells]) for cells in symmetries(rules)]
    # Bitboards are compared as signed words.
    least = [min(each) for each in zip(*(zip(*np.array(image).tolist(), strict=True) for image in images), strict=True)]
    for image in images:
        assert list(zip(*np.array(representatives(rules, *image)).tolist(), strict=True)) == least
