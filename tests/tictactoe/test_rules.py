"""Compare the bitboard rules with the rule book, for every kind of bitboard."""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from tests.tictactoe.driver import EXACT
from tests.tictactoe.rule_book import EMPTY, MARKS, Board, RuleBook, bits, book_of, empty_cells, marks_of, seat_to_move
from tests.variants import VARIANTS, InventedRules
from tictactoe import Rules, best_moves, search_value
from tictactoe.opponents import rule_choices
from tictactoe.positions import checked_position
from tictactoe.rules import WORD_BITS, UnknownRuleError
from tictactoe.tree import game_tree

Function = Callable[..., Any]

WORD_BOARDS = [(1, 1, 1), (5, 1, 4), (1, 7, 1), (3, 3, 1), (3, 3, 3), (3, 5, 4), (5, 3, 3), (7, 9, 5)]
SIGNED_BOARDS = [(8, 8, 5), (8, 8, 1), (4, 16, 4), (1, 64, 6), (64, 1, 3)]
"""Boards of 64 cells: the last one is the sign bit of a word."""
LARGE_BOARDS = [(5, 13, 5), (15, 15, 5), (9, 20, 3)]


def as_words(bitboards: Sequence[int]) -> np.ndarray:
    return np.array(bitboards, dtype=np.uint64).view(np.int64)


def answer_with_python(function: Function, *boards: Sequence[int]) -> list[int]:
    return [int(function(*marks)) for marks in zip(*boards, strict=True)]


def answer_in_words(library: ModuleType, function: Function, *boards: Sequence[int]) -> list[int]:
    answer = function(*(library.asarray(as_words(marks)) for marks in boards))
    assert type(answer) is type(library.asarray(0))
    return [int(word) for word in answer]


KINDS: list[Function] = [answer_with_python, partial(answer_in_words, np), partial(answer_in_words, torch)]


def unsigned(words: list[int]) -> list[int]:
    """Return bitboards of 64 cells without their sign."""
    return [word % 2**64 if word < 0 else word for word in words]


def boards_to_ask(book: RuleBook) -> list[Board]:
    """Return boards from empty to full, most of them out of reach, and those on which a line is or lacks one mark."""
    rng = np.random.default_rng(book.cells)
    boards: list[Board] = [(mark,) * book.cells for mark in (EMPTY, *MARKS)]
    for _ in range(30):
        shares = rng.dirichlet((1, 1, 1))
        boards.append(tuple(rng.choice([*MARKS, EMPTY], size=book.cells, p=shares).tolist()))
    for line in book.lines_through[-1]:
        for gap in (book.cells, *line):
            marks = set(line) - {gap}
            boards.append(tuple("X" if cell in marks else EMPTY for cell in range(book.cells)))
    return boards


@pytest.mark.parametrize("size", WORD_BOARDS + SIGNED_BOARDS + LARGE_BOARDS, ids=str)
def test_lines_and_cells_are_those_of_the_rule_book_for_every_kind_of_bitboard(size: tuple[int, int, int]) -> None:
    rules, book = Rules(*size), RuleBook(*size)
    boards = boards_to_ask(book)
    sides = [[marks_of(board, mark) for board in boards] for mark in MARKS]
    empty = [bits(empty_cells(board)) for board in boards]
    for answer in KINDS if rules.cells <= WORD_BITS else [answer_with_python]:
        assert unsigned(answer(rules.legal_cells, *sides)) == empty
        for side, mark in zip(sides, MARKS, strict=True):
            lines = [{bits(line) for line in book.complete_lines(board, mark)} for board in boards]
            assert [set(rules.complete_lines(marks)) for marks in side] == lines
            assert answer(rules.has_line, side) == [bool(of) for of in lines]
            cells = [bits(book.completing_cells(board, mark)) for board in boards]
            assert unsigned(answer(rules.completing_cells, side)) == cells


@pytest.mark.parametrize("rules", [Rules(), *VARIANTS], ids=str)
def test_who_has_won_who_can_win_at_once_and_who_can_still_lose_follow_from_all_games(rules: Rules) -> None:
    book = book_of(rules)
    losers: dict[Board, set[int]] = {}
    winners = {book.empty_board: -1}

    def can_lose(board: Board) -> set[int]:
        """Return the seats that some game behind a board ends with a line and with a loss of."""
        if board not in losers:
            found, wins, seat = set[int](), [], seat_to_move(board)
            for cell in [] if book.finished(board) else empty_cells(board):
                after = book.play(board, cell, EXACT)
                winners[after.board] = after.winner
                found |= {1 - after.winner} if after.winner >= 0 else can_lose(after.board)
                wins += [cell] if after.winner == seat else []
            losers[board] = found
            marks = [marks_of(board, mark) for mark in MARKS]
            assert book.finished(board) or rules.winning_cells(marks[seat]) & ~sum(marks) == bits(wins)
            assert all(rules.can_lose(marks[one], marks[1 - one]) for one in found)
        return losers[board]

    can_lose(book.empty_board)
    sides = [[marks_of(board, mark) for board in winners] for mark in MARKS]
    for answer in KINDS:
        assert answer(rules.result, *sides) == [{0: 1, 1: -1, -1: 0}[winner] for winner in winners.values()]
    settled = [not rules.can_lose(*marks) for marks in zip(*sides, strict=True)]
    assert any(settled) or rules != Rules()


@pytest.mark.parametrize("name", ["rows", "cols", "k"])
@pytest.mark.parametrize("value", [0, 3.0, "3", None, True], ids=repr)
def test_a_bad_size_is_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} .*{value!r}$"):
        Rules(**{name: value})


@pytest.mark.parametrize(
    "part",
    [
        lambda rules: search_value(rules, 0, 0),
        lambda rules: best_moves(rules, 0, 0),
        lambda rules: rule_choices(rules, 0, 0),
        lambda rules: rule_choices(rules, *np.zeros((2, 1), np.int64)),
        lambda rules: checked_position(rules, RuleBook(3, 3, 3).one_hot(tuple(EMPTY * 9), "mover"), "mover"),
        game_tree,
    ],
    ids=["value", "moves", "rule", "rule on boards", "position", "tree"],
)
def test_what_plays_the_usual_game_only_refuses_a_rule_that_it_does_not_know(part: Function) -> None:
    part(InventedRules())
    with pytest.raises(UnknownRuleError, match="invented=True"):
        part(InventedRules(invented=True))
