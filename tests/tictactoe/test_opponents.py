"""The built-in opponents pick from just the cells that their names promise."""

import pytest

from tests.tictactoe.rule_book import EMPTY, RuleBook, cells_in
from tictactoe import Rules, solve
from tictactoe.opponents import OPPONENTS

BOOK = RuleBook(3, 3, 3)
TREE = solve(Rules()).tree


def positions() -> list[tuple[int, int, tuple[str, ...]]]:
    """Return every decision state as the mover's and the opponent's marks and as the rule book's board, mover X."""
    found = []
    for state in TREE.decisions:
        mover, opponent = int(TREE.mover[state]), int(TREE.opponent[state])
        board = tuple("X" if mover >> cell & 1 else "O" if opponent >> cell & 1 else EMPTY for cell in range(9))
        found.append((mover, opponent, board))
    return found


def test_random_picks_from_all_empty_cells() -> None:
    for mover, opponent, board in positions():
        choices = OPPONENTS["random"](Rules(), mover, opponent)
        assert cells_in(choices, 9) == {cell for cell in range(9) if board[cell] == EMPTY}


def test_heuristic_wins_else_blocks_else_picks_any_empty_cell() -> None:
    kinds = set()
    for mover, opponent, board in positions():
        empty = {cell for cell in range(9) if board[cell] == EMPTY}
        wins, blocks = (BOOK.winning_cells(board, mark) & empty for mark in ("X", "O"))
        choices = cells_in(OPPONENTS["heuristic"](Rules(), mover, opponent), 9)
        assert choices == (wins or blocks or empty)
        kinds.add("win" if wins else "block" if blocks else "any")
    assert kinds == {"win", "block", "any"}


def test_optimal_keeps_the_value() -> None:
    solution = solve(Rules())
    for mover, opponent, _ in positions():
        value, cells = solution.lookup(mover, opponent)
        choices = cells_in(OPPONENTS["optimal"](Rules(), mover, opponent), 9)
        assert choices == set(cells)
        for cell in choices:
            assert solution.lookup(opponent, mover | 1 << cell)[0] == -value


def test_optimal_refuses_a_board_that_cannot_be_solved() -> None:
    with pytest.raises(ValueError, match="up to 16 cells"):
        OPPONENTS["optimal"](Rules(5, 5, 4), 0, 0)
