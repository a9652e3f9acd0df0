"""Functions of the page, called one by one: what they say and accept has a known answer."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Browser

from selfplay.errors import UserError
from selfplay.position import read_board
from selfplay.web.export import bundled_script
from tictactoe import Rules

Call = Callable[..., Any]
MINUS = "\u2212"


@pytest.fixture(scope="module")
def call(browser: Browser) -> Iterator[Call]:
    """Yield what calls a JavaScript function in the scope of a module of the page."""
    page = browser.new_page()

    def called(module: str, function: str, *args: Any) -> Any:
        return page.evaluate(f"(args) => {{ {bundled_script(module)}\n return ({function})(...args); }}", args)

    yield called
    page.close()


def test_values_are_signed_and_short(call: Call) -> None:
    values = [0, -0.004, 0.25, -1, 9.99, 10, -12.34, 99.9, 100, -1234]
    signed = ["0.00", "0.00", "+0.25", "-1.00", "+9.99", "+10.0", "-12.3", "+99.9", "+100", "-1234"]
    shown = call("sentences.js", "(...values) => values.map(valueText)", *values)
    assert shown == [text.replace("-", MINUS) for text in signed]


@pytest.mark.parametrize(
    ("seat", "exact", "turning", "illegal", "flags", "sentence"),
    [
        (
            *(0, ["draw", None, "illegal"], 2, True, {2: "loses here"}),
            f"Move 3, square 3, is a taken square. Its learned value was {MINUS}12.3. This ends the game.",
        ),
        (
            *(1, [None, "draw", None, "loss", None], 1, False, {1: "gives the win away", 3: "loses here"}),
            "Move 4, square 4, is the first move that loses. Then X completes a line.",
        ),
        (
            *(1, [None, "draw", None, None, None, "loss", None], 1, False, {1: "gives the win away"}),
            "Then X completes a line. Which move loses first is not known on this board.",
        ),
        (
            *(0, [None, None, "illegal"], None, True, {}),
            "It ends with a taken square. Which move loses first is not known on this board.",
        ),
        (1, [None], None, False, {}, "Then X completes a line. Which move loses first is not known on this board."),
    ],
    ids=range(5),
)
def test_of_a_lost_game_it_is_said_where_it_is_lost(
    call: Call, seat: int, exact: list[str | None], turning: int | None, illegal: bool, flags: Any, sentence: str
) -> None:
    learned = [-12.34 if result == "illegal" else None for result in exact]
    game = {"seat": seat, "cells": [*range(len(exact))], "illegal": illegal, "turning": turning, "exact": exact}
    said = call(
        "games_lost.js",
        """(game) => {
            const app = { player: () => ({ rows: 3, cols: 3 }) };
            return [game.cells.map((_, ply) => flagOf(game, ply)), turningSentence(app, game)];
        }""",
        game | {"learned": learned},
    )
    assert said[0] == [flags.get(ply) for ply in range(len(exact))]
    assert said[1].startswith(sentence)


@pytest.mark.parametrize(
    ("module", "said", "changes"),
    [
        ("games_lost.js", "Nothing beats it: it loses no game in either seat.", {}),
        ("games_lost.js", "No lost game was found.", {"number": [None, 0], "complete": False}),
        ("games_lost.js", "No lost game was found.", {"number": [0, 7]}),
        ("mistakes.js", "Its move keeps the value of every state.", {"kind": "optimal"}),
        ("mistakes.js", "No reply beats it.", {}),
        ("mistakes.js", "None was found in the part of its play that was followed.", {"complete": False}),
        ("mistakes.js", "States in which its move gives something away", {"kind": "optimal", "number": 7}),
    ],
)
def test_nothing_good_is_said_because_time_was_up(call: Call, module: str, said: str, changes: dict[str, Any]) -> None:
    games = module == "games_lost.js"
    found = {"kind": "beaten", "number": [0, 0] if games else 0, "complete": True, "games": [], "states": []} | changes
    function = "(lost) => drawLists(null, lost)[0].textContent" if games else "aboutOf"
    assert call(module, function, found).startswith(said)


def test_the_page_accepts_the_positions_that_the_server_accepts(call: Call) -> None:
    """Lines that no single mark can have finished, of X, of O, and three of which any two have a mark in common."""
    several = ["XXX.OO.OXXX.OO..", "OOO.XX.XOOO.XX.X", "XXX.XXOOXO....OO", "XXX.XOO.XOO.....", "XXXXOO.O........"]
    for rules, boards in ((Rules(2, 3, 3), map("".join, product(".XO", repeat=6))), (Rules(4, 4, 3), several)):
        problems = {board: call("rules.js", "problemOf", asdict(rules), board) for board in boards}
        for board, problem in problems.items():
            with contextlib.nullcontext() if problem is None else pytest.raises(UserError):
                read_board(rules, board)
    finished = "{} has lines that no single mark can have finished together."
    assert [*problems.values()] == [*map(finished.format, "XOX"), None, None]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "It would play square 4. That keeps the draw."),
        ({"exact": ["draw"] * 3 + ["loss"], "gives_away": True}, "That gives the draw away: it is a loss if both play"),
        ({"position": "loss"}, "No move does better: the position is lost."),
        (
            {"move": 0},
            "square 1, which is taken, so by the rules it loses at once. Against you it plays square 2 instead.",
        ),
        ({"gives_away": None}, "Whether that gives anything away is not known on this board."),
        ({"move": None, "moves": [1, 2]}, "It would play square 2 or square 3, chosen at random. Each keeps the draw."),
        ({"move": None}, "It would play square 4. That keeps the draw."),
        ({"known": "no"}, "Exact results are not known: this board is too large to be solved here."),
        (
            {"exact": [None] * 4, "position": None},
            "is not known. ? means not known: the search ran out of time. ???",
        ),
        ({"result": "draw"}, "The game is over."),
    ],
)
def test_a_sentence_says_what_is_known_of_a_move(call: Call, changes: dict[str, Any], sentence: str) -> None:
    analysis: dict[str, Any] = {
        "seat": 1,
        "result": None,
        "move": 3,
        "moves": [3],
        "reply": 1,
        "exact": [None, *["draw"] * 3],
    }
    analysis |= {"known": "solved", "position": "draw", "gives_away": False} | changes
    said = call(
        "inside.js",
        """(rules, board, analysis) => {
            const sentences = [moveSentence(rules, board, analysis, false), exactSentence(board, analysis)];
            return [...sentences, exactMap(rules, board, analysis).textContent].join(" ");
        }""",
        *({"rows": 2, "cols": 2, "k": 2}, "X...", analysis),
    )
    assert sentence in said
