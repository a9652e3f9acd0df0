"""The built-in opponents pick from just the cells that their names promise."""

from itertools import product

import numpy as np
import pytest

from tests.tictactoe.rule_book import (
    EMPTY,
    MARKS,
    Board,
    RuleBook,
    book_of,
    cells_in,
    empty_cells,
    mover_and_opponent,
    seat_to_move,
)
from tests.variants import VARIANTS
from tictactoe import Rules, best_moves, solve
from tictactoe.opponents import OPPONENTS, best_known
from tictactoe.search import Bounds

SEARCH_NOTHING = [name for name in OPPONENTS if name != "optimal"]
PLAY_VARIANTS = [name for name in OPPONENTS if name != "rule"]


def chosen_from(name: str, book: RuleBook, board: Board) -> set[int]:
    """Return the choices of an opponent for the seat to move, from its description."""
    empty = set(empty_cells(board))
    wins, blocks = (book.winning_cells(board, mark) & empty for mark in MARKS[:: (-1) ** seat_to_move(board)])
    if name == "random":
        return empty
    if wins or blocks:
        return wins or blocks
    return {"heuristic": empty, "rule": most_valuable(book, board)}[name]


def most_valuable(book: RuleBook, board: Board) -> set[int]:
    """Return the empty cells through which the fullest lines run that can still be completed."""
    worth = {}
    for cell in empty_cells(board):
        held = [{board[other] for other in line} - {EMPTY} for line in book.lines_through[cell]]
        marks = [sum(board[other] != EMPTY for other in line) for line in book.lines_through[cell]]
        worth[cell] = sum(4**number for number, kinds in zip(marks, held, strict=True) if len(kinds) < 2)
    return {cell for cell, value in worth.items() if value == max(worth.values())}


def random_boards(book: RuleBook) -> list[Board]:
    """Return a board with each number of marks."""
    rng = np.random.default_rng(0)
    marked = [[*"XO" * (marks // 2), *"X" * (marks % 2), *EMPTY * (book.cells - marks)] for marks in range(book.cells)]
    return [tuple(rng.permutation(board).tolist()) for board in marked]


RANDOM = [Rules(*size) for size in ((5, 5, 4), (4, 6, 4), (1, 30, 25), (8, 8, 8), (3, 4, 1), (3, 8, 2))]
"""Boards of which random positions are looked at; of any other, all that can be reached."""


@pytest.mark.parametrize(
    ("name", "rules"),
    [*product(OPPONENTS, [Rules()]), *product(PLAY_VARIANTS, VARIANTS), *product(SEARCH_NOTHING, RANDOM)],
    ids=str,
)
def test_opponents_choose_what_their_names_promise_on_one_board_and_on_many(name: str, rules: Rules) -> None:
    book = book_of(rules)
    boards = random_boards(book) if rules in RANDOM else [each for each in book.histories() if not book.finished(each)]
    positions = [mover_and_opponent(board) for board in boards]
    many = OPPONENTS[name].choices(rules, *np.array(positions, np.uint64).view(np.int64).T)
    for board, position, choices in zip(boards, positions, many.tolist(), strict=True):
        assert int(OPPONENTS[name].choices(rules, *position)) == choices % 2**64
        expected = solve(rules).lookup(*position)[1] if name == "optimal" else chosen_from(name, book, board)
        assert cells_in(choices, rules.cells) == set(expected)


def test_rule_plays_a_board_of_any_size() -> None:
    assert cells_in(OPPONENTS["rule"].choices(Rules(15, 15, 5), 0, 0), 225) == {
        15 * row + col for row in range(4, 11) for col in range(4, 11)
    }


def test_optimal_searches_larger_boards_alike_for_one_board_and_for_many() -> None:
    pytest.importorskip("numba", reason="without Numba there is no search")
    rules = Rules(5, 5, 4)
    full = 0b00110_11001_00110_11001_00110
    boards = [(0b111 << 10, 0b1011 << 6), (full, rules.full_board & ~full)]
    choices = [OPPONENTS["optimal"].choices(rules, *board) for board in boards]
    for chosen, board in zip(choices, boards, strict=True):
        assert cells_in(chosen, 25) == set(best_moves(rules, *board) or ())
    assert [chosen.bit_count() for chosen in choices] == [2, 0]
    assert OPPONENTS["optimal"].choices(rules, *np.array(boards).T).tolist() == choices


WIN, DRAW, LOSS, NOT_LOST, NOT_WON, UNKNOWN = (
    Bounds(*bounds) for bounds in ((1, 1), (0, 0), (-1, -1), (0, 1), (-1, 0), (-1, 1))
)


@pytest.mark.parametrize(
    ("known", "chosen"),
    [
        ([WIN, DRAW, NOT_LOST, UNKNOWN, WIN, LOSS], {0, 4}),
        ([LOSS, DRAW, NOT_LOST, UNKNOWN, NOT_WON, LOSS], {1, 2}),
        ([LOSS, LOSS, LOSS, UNKNOWN, NOT_WON, LOSS], {3, 4}),  # the rule would take the middle, which is lost
        ([LOSS, LOSS, LOSS, UNKNOWN, NOT_WON, LOSS, LOSS, LOSS, NOT_WON], {4}),  # the rule's among those not lost
        ([UNKNOWN] * 9, {4}),  # the rule's
        ([LOSS] * 6, {0, 1, 2, 3, 4, 5}),
    ],
)
def test_the_best_of_what_is_known(known: list[Bounds], chosen: set[int]) -> None:
    rules = Rules(3, 3, 3) if len(known) == 9 else Rules(2, 3, 3)
    assert cells_in(best_known(rules, 0, 0, dict(enumerate(known))), rules.cells) == chosen
