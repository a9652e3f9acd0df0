"""Check that the symmetries are all turns and reflections, and that nothing in the game can tell them apart."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.tictactoe.rule_book import Board, RuleBook, bits, mover_and_opponent
from tictactoe import Rules, solve
from tictactoe.symmetry import symmetries

BOARDS = [(3, 3, 3), (4, 4, 3), (8, 8, 5), (2, 3, 2), (3, 4, 3), (7, 4, 4)]
SOLVED_BOARDS = [(3, 3, 3), (2, 3, 2), (4, 2, 3), (1, 5, 2)]

RESHAPES: list[Callable[[int, int, int, int], tuple[int, int]]] = [
    lambda row, col, _rows, _cols: (row, col),
    lambda row, col, _rows, cols: (row, cols - 1 - col),
    lambda row, col, rows, _cols: (rows - 1 - row, col),
    lambda row, col, rows, cols: (rows - 1 - row, cols - 1 - col),
]


def expected_symmetries(rows: int, cols: int) -> set[tuple[int, ...]]:
    """Send every cell through each coordinate map, with and without exchanging rows and columns."""
    expected = set()
    for transpose in (False, True) if rows == cols else (False,):
        for reshape in RESHAPES:
            images = []
            for row in range(rows):
                for col in range(cols):
                    r, c = reshape(row, col, rows, cols)
                    images.append(c * cols + r if transpose else r * cols + c)
            expected.add(tuple(images))
    return expected


def image(board: Board, permutation: tuple[int, ...]) -> Board:
    return tuple(board[cell] for cell in permutation)


@pytest.mark.parametrize("size", BOARDS, ids=str)
def test_all_turns_and_reflections_are_there(size: tuple[int, int, int]) -> None:
    rows, cols, _ = size
    table = symmetries(Rules(*size))
    assert table.shape == (8 if rows == cols else 4, rows * cols)
    assert table.dtype == np.int64
    assert table[0].tolist() == list(range(rows * cols))
    assert set(map(tuple, table.tolist())) == expected_symmetries(rows, cols)


@pytest.mark.parametrize("size", [(1, 1, 1), (1, 5, 2), (5, 1, 2)], ids=str)
def test_boards_of_one_row_or_column_have_the_same_number_of_rows_in_the_table(size: tuple[int, int, int]) -> None:
    rows, cols, _ = size
    table = symmetries(Rules(*size))
    assert table.shape == (8 if rows == cols else 4, rows * cols)
    assert set(map(tuple, table.tolist())) == expected_symmetries(rows, cols)


@pytest.mark.parametrize("size", BOARDS, ids=str)
def test_lines_map_onto_lines(size: tuple[int, int, int]) -> None:
    lines = {frozenset(line) for line in RuleBook(*size).lines}
    for permutation in symmetries(Rules(*size)).tolist():
        assert {frozenset(permutation[cell] for cell in line) for line in lines} == lines


@pytest.mark.parametrize("size", BOARDS, ids=str)
def test_the_symmetries_form_a_group(size: tuple[int, int, int]) -> None:
    permutations = set(map(tuple, symmetries(Rules(*size)).tolist()))
    for first in permutations:
        compositions = {tuple(first[cell] for cell in second) for second in permutations}
        assert compositions == permutations


@pytest.mark.parametrize("size", SOLVED_BOARDS, ids=str)
def test_images_have_the_same_value_and_the_images_of_the_optimal_moves(size: tuple[int, int, int]) -> None:
    rules = Rules(*size)
    solution = solve(rules)
    permutations = list(map(tuple, symmetries(rules).tolist()))
    for board in RuleBook(*size).histories():
        value, optimal = solution.lookup(*mover_and_opponent(board))
        for permutation in permutations:
            image_value, image_optimal = solution.lookup(*mover_and_opponent(image(board, permutation)))
            assert image_value == value
            assert bits(permutation[cell] for cell in image_optimal) == bits(optimal)


def test_the_shared_table_is_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        symmetries(Rules())[0, 0] = 1
