"""Functions of the page, called one by one: what they say and accept has a known answer."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Browser

from selfplay.cli.play_board import HIGH, LOW, MIDDLE
from selfplay.errors import UserError
from selfplay.learning.plots import VALUES
from selfplay.position import read_board
from selfplay.web.server import bundled_script
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


def test_colours_mean_a_loss_a_draw_or_a_win(call: Call) -> None:
    """A board of zeros is all in the colour of a draw, and beyond a win is no more than a win; as elsewhere."""
    loss, draw, win = LOW.rgb, MIDDLE.rgb, HIGH.rgb
    assert VALUES(1.0)[:3] == HIGH.normalized
    for kind, values in (("dqn", [-2, -1, 0, 0, 1, 1.9, None]), ("td-value", [-0.1, 0, 0.5, 0.5, 1, 1.1, None])):
        shown = call("heat_map.js", "learnedColours", {"kind": kind}, values)
        assert shown == [loss, loss, draw, draw, win, win, None]
    analysis = {"values": [0.6, 0.4, -0.6, 0.9], "exact": ["win", "win", "draw", None]}
    for rewards, expected in (("shaped", [False, True, True, False]), ("article", [False] * 4)):
        player = {"kind": "dqn", "rewards": rewards}
        assert call("heat_map.js", "disagreements", player, "....", analysis) == expected


def test_the_time_bar_has_even_stops_and_a_flag_where_the_proof_begins(call: Call) -> None:
    assert call("time_bar.js", "stopsOf", [*range(1, 131)]) == [*range(1, 131, 3)]
    places = [call("time_bar.js", "placeOf", [100, 200, 800], steps) for steps in (50, 100, 141.42, 200, 400, 900)]
    assert places == pytest.approx([0, 0, 0.25, 0.5, 0.75, 1], abs=1e-4)
    points = [{"steps": at, "lost": lost, "exact": True} for at, lost in enumerate([0, 3, 0, 0])]
    assert call("time_bar.js", "proofBegins", points) == 2
    assert call("time_bar.js", "proofBegins", points[:2]) is None
    assert call("time_bar.js", "proofBegins", [points[2] | {"exact": False}]) is None


def test_players_have_names_that_people_read(call: Call) -> None:
    run = {"kind": "dqn", "run": True, "differs": "hidden 8, seed 5"}
    players = [{"name": "a", **run}, {"name": "b", **run, "repaired": True}, {"name": "c", **run}]
    players += [{"name": "m:agent", "kind": "own", "run": False, "differs": ""}]
    shown = call("names.js", "(players) => titled(players).map(({ title }) => title)", players)
    assert shown == [
        "DQN, seed 5, hidden 8 (a)",
        "DQN, seed 5, hidden 8, repaired",
        "DQN, seed 5, hidden 8 (c)",
        "m:agent",
    ]


@pytest.mark.parametrize(
    ("position", "exact", "lost", "cell", "words"),
    [
        ("draw", ["draw", "win"], [], 1, "square 2 wins against anybody"),
        ("draw", ["draw", "loss"], [[0, 1, 2, 3, 4], [1, 0, 3, 2, 4, 5]], 0, "square 1. It begins 1 known way to win."),
        ("draw", ["draw", "loss"], [[1, 2, 1]], 0, "No way to beat it is known from here; square 1 keeps the draw."),
        ("loss", ["loss", "loss"], [], 0, "Every move loses against best play."),
        (None, [None, None], [], None, "No way to win is known from here."),
    ],
)
def test_a_hint_is_the_next_move_of_a_way_to_win(
    call: Call, position: str | None, exact: list[str | None], lost: list[list[int]], cell: int | None, words: str
) -> None:
    """The player has lost a game of five plies as O, and one of six, or one that ends with a taken square, as X."""
    rules, game = {"rows": 3, "cols": 3, "k": 3}, {"start": "." * 9, "cells": [], "at": 0}
    hint = call("play.js", "hintFor", rules, game, {"seat": 0}, {"exact": exact, "position": position}, lost)
    assert hint["cell"] == cell
    assert words in hint["text"]


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("Its move keeps the value of every state.", {"kind": "optimal"}),
        ("No reply beats it.", {}),
        ("None was found in the part of its play that was followed.", {"complete": False}),
    ],
)
def test_nothing_good_is_said_because_time_was_up(call: Call, said: str, changes: dict[str, Any]) -> None:
    assert call("mistakes.js", "nothingWords", {"kind": "beaten", "complete": True} | changes) == said


def test_a_proof_and_states_that_are_still_wrong_are_reconciled(call: Call) -> None:
    text = "(evaluation) => stillWrong(evaluation)?.textContent"
    wrong = {"number": 108, "reached": 0}
    assert call("evaluation.js", text, wrong) == "108 states are still wrong: its own play never reaches them."
    assert "reaches 2, and gives only a win away there" in call("evaluation.js", text, wrong | {"reached": 2})
    assert call("evaluation.js", text, {"number": 0, "reached": 0}) is None


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
        ({"unsolved": True}, "Exact results are not known: this board is too large to be solved here."),
        (
            {"exact": [None] * 4, "position": None},
            "is not known. ? means not known: the search ran out of time. ???",
        ),
        ({"moves": []}, "The game is over."),
    ],
)
def test_a_sentence_says_what_is_known_of_a_move(call: Call, changes: dict[str, Any], sentence: str) -> None:
    analysis = {
        "move": 3,
        "moves": [3],
        "reply": 1,
        "exact": [None, *["draw"] * 3],
    }
    analysis |= {"values": None, "position": "draw", "gives_away": False} | changes
    said = call(
        "inside.js",
        """(rules, board, analysis) => {
            const sentences = [moveSentence(rules, board, analysis, false), exactSentence(board, analysis)];
            return [...sentences, exactMap(rules, board, analysis).textContent].join(" ");
        }""",
        *({"rows": 2, "cols": 2, "k": 2}, "X...", analysis),
    )
    assert sentence in said
