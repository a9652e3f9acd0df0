"""Functions of the page, called one by one: what they accept and show has a known answer."""

import contextlib
from collections.abc import Callable
from dataclasses import asdict
from itertools import product
from typing import Any

import pytest

from selfplay.errors import UserError
from selfplay.position import read_board
from tests.runs import refused
from tests.tictactoe.rule_book import RuleBook
from tictactoe import Rules

Call = Callable[..., Any]


@pytest.mark.parametrize(
    ("position", "exact", "lost", "cells"),
    [
        ("win", ["win", "draw", "win"], [[1, 2, 1]], [0, 2]),
        ("draw", ["draw", "loss"], [[0, 1, 2, 3, 4], [1, 0, 3, 2, 4], [1, 0, 3, 2, 4, 5]], [0, 1]),
        ("draw", ["draw", "loss", *["draw"] * 7], [[1, 2, 1]], [0, 2, 3, 4, 5, 6, 7, 8]),
        ("loss", ["loss", "loss"], [], []),
        (None, [None, None], [], []),
    ],
)
def test_a_hint_names_all_moves_that_win_or_begin_a_way_to_win_or_keep_the_draw(
    call: Call, position: str | None, exact: list[str | None], lost: list[list[int]], cells: list[int]
) -> None:
    """The player has lost games of five plies as O; one of six plies, or one that ends with a taken square, as X."""
    game = {"start": "." * 9, "cells": [], "at": 0}
    seat, analysis, evaluation = {"seat": 0}, {"exact": exact, "position": position}, {"games": lost, "ways": [1]}
    assert call("play.js", "hintFor", asdict(Rules()), game, seat, analysis, evaluation)["cells"] == cells


def test_a_hint_in_a_lost_position_resists_longest(call: Call) -> None:
    game = {"start": "." * 9, "cells": [], "at": 0}
    lost = {"exact": ["loss", None, "loss", "loss"], "plies": [2, None, 4, 4], "position": "loss"}
    hint = call("play.js", "hintFor", asdict(Rules()), game, {"seat": 0}, lost, {"games": [], "ways": [0]})
    assert hint["cells"] == [2, 3]


class LosingLines(RuleBook):
    """The game in which a complete line loses."""

    def line_winner(self, seat: int) -> int:
        return 1 - seat


@pytest.mark.parametrize("kind", [RuleBook, LosingLines])
def test_one_function_says_what_a_line_means(call: Call, kind: type[RuleBook]) -> None:
    """Who has won a board or a list of moves, and every exact result, follow from it."""
    rules, book = Rules(2, 3, 2), kind(2, 3, 2)
    meaning = f"resultOfLine = () => {1 if kind is RuleBook else -1};"
    boards = {"".join(board): known for board, known in book.minimax().items()}
    script = f"(rules, lines, boards) => {{ {meaning} const solve = solver(rules, lines); return boards.map(solve); }}"
    for (board, (value, best)), results in zip(
        boards.items(), call("solve.js", script, asdict(rules), book.lines, [*boards]), strict=True
    ):
        if best:
            signs = [score if score is None else (score > 0) - (score < 0) for score in results]
            assert [cell for cell, sign in enumerate(signs) if sign == value] == [*best], board
            assert max(sign for sign in signs if sign is not None) == value, board
    ended = f"(rules) => {{ {meaning} return [outcome(rules, 'XXO...').winner, loserOf(rules, [0, 2, 1])]; }}"
    winner = book.line_winner(0)
    assert call("play.js", ended, asdict(rules)) == [winner, 1 - winner]


@pytest.mark.parametrize(("rules", "every"), [(Rules(2, 3, 3), 1), (Rules(3, 3, 2), 7), (Rules(1, 6, 3), 1)])
def test_the_page_accepts_the_positions_that_the_server_accepts_and_knows_their_winners(
    call: Call, rules: Rules, every: int
) -> None:
    boards = ["".join(marks) for marks in product(".XO", repeat=rules.cells)][::every]
    script = """(rules, boards) => boards.map((board) => [problemOf(rules, board) === null, outcome(rules, board)])"""
    for board, (accepted, end) in zip(boards, call("rules.js", script, asdict(rules), boards), strict=True):
        position = None
        with contextlib.suppress(UserError):
            position = read_board(rules, board)
        assert accepted == (position is not None), board
        if position is not None:
            assert (end["winner"], end["over"]) == (position.winner, position.over), board


def test_lines_that_no_single_mark_can_have_finished_are_no_position(call: Call) -> None:
    """Of X, of O, and three of which any two have a mark in common."""
    rules = Rules(4, 4, 3)
    for board in ("XXX.OO.OXXX.OO..", "OOO.XX.XOOO.XX.X", "XXX.XXOOXO....OO"):
        assert call("rules.js", "problemOf", asdict(rules), board) is not None
        refused(read_board, rules, board)
    for board in ("XXX.XOO.XOO.....", "XXXXOO.O........"):
        assert call("rules.js", "problemOf", asdict(rules), board) is None
        assert read_board(rules, board).over
