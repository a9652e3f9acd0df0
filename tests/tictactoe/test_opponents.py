"""The built-in opponents pick from just the cells that their names promise."""

from itertools import product

import numpy as np
import pytest

from tests.tictactoe.rule_book import EMPTY, MARKS, Board, RuleBook, book_of, cells_in, empty_cells, marks_of
from tests.variants import VARIANTS
from tictactoe import Rules, best_moves, solve
from tictactoe.opponents import OPPONENTS, best_known
from tictactoe.search import Bounds

SEARCH_NOTHING = [name for name in OPPONENTS if name != "optimal"]
PLAY_VARIANTS = [name for name in OPPONENTS if name != "rule"]


def chosen_from(name: str, book: RuleBook, board: Board) -> set[int]:
    """Return the choices of an opponent for the mark X, from its description."""
    empty = set(empty_cells(board))
    if name == "random":
        return empty
    wins, blocks = (book.winning_cells(board, mark) & empty for mark in MARKS)
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


def board_of(rules: Rules, mover: int, opponent: int) -> Board:
    """Return a position as the rule book's board, on which the mover has X."""
    marks = ((mover >> cell & 1, opponent >> cell & 1) for cell in range(rules.cells))
    return tuple("X" if mine else "O" if theirs else EMPTY for mine, theirs in marks)


@pytest.mark.parametrize(
    ("name", "rules"),
    [*product(OPPONENTS, [Rules()]), *product(PLAY_VARIANTS, VARIANTS)],
    ids=str,
)
def test_opponents_choose_what_their_names_promise_in_every_state(name: str, rules: Rules) -> None:
    book, solution = book_of(rules), solve(rules)
    decisions = solution.tree.decisions
    for mover, opponent in zip(solution.tree.mover[decisions].tolist(), solution.tree.opponent[decisions], strict=True):
        choices = cells_in(OPPONENTS[name].choices(rules, mover, int(opponent)), rules.cells)
        board = board_of(rules, mover, opponent)
        expected = solution.lookup(mover, opponent)[1] if name == "optimal" else chosen_from(name, book, board)
        assert choices == set(expected)


@pytest.mark.parametrize("name", SEARCH_NOTHING)
@pytest.mark.parametrize("size", [(5, 5, 4), (4, 6, 4), (1, 30, 25), (8, 8, 8), (3, 4, 1), (3, 8, 2)], ids=str)
def test_the_choices_are_the_same_for_one_board_and_for_many(size: tuple[int, int, int], name: str) -> None:
    rules, book = Rules(*size), RuleBook(*size)
    rng = np.random.default_rng(0)
    boards = []
    for marks in range(rules.cells):
        shuffled = rng.permutation([*"OX" * (marks // 2), *"O" * (marks % 2), *EMPTY * (rules.cells - marks)])
        boards.append(tuple(shuffled.tolist()))
    positions = [[marks_of(board, mark) for mark in MARKS] for board in boards]
    many = OPPONENTS[name].choices(rules, *np.array(positions, np.uint64).view(np.int64).T).view(np.uint64).tolist()
    for board, position, choices in zip(boards, positions, many, strict=True):
        assert OPPONENTS[name].choices(rules, *position) == choices
        assert cells_in(choices, rules.cells) == chosen_from(name, book, board)


def test_rule_plays_a_board_of_any_size() -> None:
    assert cells_in(OPPONENTS["rule"].choices(Rules(15, 15, 5), 0, 0), 225) == {
        15 * row + col for row in range(4, 11) for col in range(4, 11)
    }


def test_optimal_searches_larger_boards_alike_for_one_board_and_for_many() -> None:
    pytest.importorskip("numba", reason="without Numba there is no search")
    rules = Rules(5, 5, 4)
    full = 0b00110_11001_00110_11001_00110
    boards = [(0, 1 << 12), (0b111 << 10, 0b1011 << 6), (full, rules.full_board & ~full)]
    choices = [OPPONENTS["optimal"].choices(rules, *board) for board in boards]
    for chosen, board in zip(choices, boards, strict=True):
        assert cells_in(chosen, 25) == set(best_moves(rules, *board) or ())
    assert [chosen.bit_count() for chosen in choices] == [4, 2, 0]
    words = np.array(boards)
    assert OPPONENTS["optimal"].choices(rules, words[:, 0], words[:, 1]).tolist() == choices


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
