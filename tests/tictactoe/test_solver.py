"""Compare the exact solution with known facts and with a plain minimax over the rule book."""

import pytest

from tests.tictactoe.rule_book import book_of, mover_and_opponent
from tests.variants import VARIANTS
from tictactoe import Rules, solve

SMALL_BOARDS = [Rules(*size) for size in ((1, 1, 1), (1, 5, 2), (2, 2, 2), (2, 3, 2), (4, 2, 3), (2, 4, 3), (3, 3, 3))]


@pytest.mark.parametrize("rules", [*SMALL_BOARDS, *VARIANTS], ids=str)
def test_solution_equals_plain_minimax(rules: Rules) -> None:
    solution = solve(rules)
    expected = book_of(rules).minimax()
    assert len(solution.tree) == len(solution.value) == len(solution.optimal_moves) == len(expected)
    for board, answer in expected.items():
        assert solution.lookup(*mover_and_opponent(board)) == answer, board


@pytest.mark.parametrize(
    ("mover", "opponent"),
    # In base 3 the first two, which hold a cell twice, would have the code of a reachable position.
    [(0b1, 0b101), (0b10, 0b1010), (0b111, 0b111000), (0b1, 0), (0, 1 << 9), (1 << 9, 1 << 10), (-1, 0), (0, -1)],
)
def test_lookup_refuses_what_is_no_position(mover: int, opponent: int) -> None:
    with pytest.raises(ValueError, match=f"{mover:#b}.*{opponent:#b}"):
        solve(Rules()).lookup(mover, opponent)


def test_a_board_of_more_than_16_cells_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1x17 .*\b17\b"):
        solve(Rules(1, 17, 3))
