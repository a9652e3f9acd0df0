"""What an exported page computes of its player is what Python computes, in every position."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from selfplay.algorithms import ALGORITHMS
from selfplay.dqn.config import PRESETS
from selfplay.learner import Learner
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from selfplay.web import export
from selfplay.web.command import PAGE
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.dqn.scripted import config_with
from tests.selfplay.web.boards import random_positions, texts
from tictactoe import Rules, solve

DQNS: Mapping[str, dict[str, Any]] = {
    "shared": {"symmetry": "none"},
    "separate and canonical": {"networks": "separate"},
    "with a mask, as X and O": {"mask": True, "perspective": "absolute"},
    "convolutional and canonical": {"convolution": (6, 5), "perspective": "absolute"},
    "lines behind a convolution, dueling": {"convolution": (4,), "lines": 3, "dueling": True, "symmetry": "augment"},
    "lines, two layers, dueling": {"lines": 2, "hidden": (24, 16), "dueling": True, "perspective": "absolute"},
    "leaning on the rule": {"rule_weight": 0.5, "symmetry": "none"},
    "leaning on the rule, as X and O": {"rule_weight": 2.0, "mask": True, "perspective": "absolute"},
}
TABLES = {
    "minimax-q": MinimaxQConfig(games=300),
    "minimax-q, a table for each seat": MinimaxQConfig(games=300, tables="separate"),
    "afterstate-q": AfterstateQConfig(games=300),
    "td-value": TDValueConfig(games=300),
    "td-backup": TDBackupConfig(games=300),
}
PLIES = 700
WORDS = {1: "win", 0: "draw", -1: "loss"}
LOOK = """async ([own, boards]) => {
    const source = (await import("./own_source.js")).ownSource(JSON.parse(own));
    return JSON.stringify(await Promise.all(boards.split(" ").map((board) => source.look(0, board, null))));
}"""
"""Both ways as a text, because objects take the driver ten times as long."""


def learned(config: Any) -> Any:
    """Return the player of a run that has only just begun to learn."""
    learner: Learner = ALGORITHMS[config.algorithm].learner(config, None)
    while learner.steps < (PLIES if config.algorithm == "dqn" else config.games):
        learner.advance(PLIES)
    learner.finish()
    return learner.player()


@pytest.fixture(scope="module")
def look(browser: Any) -> Iterator[Any]:
    """Return what asks the page's own source for what it shows of each of many boards."""
    context = browser.new_context()
    page = context.new_page()

    def file(route: Any) -> None:
        path = PAGE / Path(route.request.url).name
        if path.suffix == ".js":
            route.fulfill(body=path.read_text(), content_type="text/javascript")
        else:
            route.fulfill(body="", content_type="text/html")

    page.route("**/*", file)
    page.goto("http://page.test/")

    def look(player: Any, boards: list[str], mask: bool = False) -> list[dict[str, Any]]:
        own = {"game": export.game_of(player), "mask": mask, "weights": export.packed(player), "kept": []}
        own["rule_weight"] = getattr(player, "rule_weight", 0.0)
        text = page.evaluate(LOOK, [json.dumps(own), " ".join(boards)])
        found: list[dict[str, Any]] = json.loads(text)
        return found

    yield look
    context.close()


def values(looks: list[dict[str, Any]]) -> NDArray[np.float64]:
    return np.array([[np.nan if value is None else value for value in look["values"]] for look in looks])


def same(player: Any, observations: NDArray[np.int8], looks: list[dict[str, Any]]) -> None:
    """Assert that the page shows the values, the raw moves and the legal moves of Python's player."""
    np.testing.assert_allclose(values(looks), player.q_values(observations), rtol=0, atol=1e-5)
    assert [look["move"] for look in looks] == player.act(observations).tolist()
    empty = observations[..., 0].reshape(len(observations), -1)
    assert [look["reply"] for look in looks] == player.act(observations, empty).tolist()


@pytest.mark.parametrize("changes", DQNS.values(), ids=DQNS)
def test_a_network_has_the_same_values_and_moves(changes: dict[str, Any], look: Any) -> None:
    player = learned(config_with(**changes))
    same(player, ABSOLUTE, look(player, texts(ABSOLUTE), player.mask))


@pytest.mark.parametrize("config", TABLES.values(), ids=TABLES)
def test_a_table_has_the_same_values_and_moves(config: Any, look: Any) -> None:
    player = learned(config)
    same(player, ABSOLUTE, look(player, texts(ABSOLUTE)))


def test_lines_of_a_larger_board_have_the_same_values_and_moves(look: Any) -> None:
    """Nothing is claimed to be true of a board that the page does not solve."""
    player = learned(replace(PRESETS["large"], num_envs=16, memory_size=2_000, batch_size=32, warmup=64, hidden=(64,)))
    positions = random_positions(player.rules, 300, seed=1000)
    looks = look(player, texts(positions))
    same(player, positions, looks)
    untold = {"exact": [None] * 16, "known": "no", "position": None, "gives_away": None}
    assert all(shown | untold == shown for shown in looks)


@pytest.mark.parametrize("rules", [Rules(), Rules(3, 4, 3)], ids=str)
def test_what_is_true_is_the_exact_solution(rules: Rules, look: Any) -> None:
    """Of each cell, of the position and of the player's move."""
    player = learned(config_with(rows=rules.rows, cols=rules.cols, k=rules.k, hidden=(4,)))
    positions = ABSOLUTE if rules == Rules() else random_positions(rules, 500, seed=1000)
    solution, expected = solve(rules), []
    for board, move in zip(texts(positions), player.act(positions), strict=True):
        mover, opponent = bitboards(board)
        value, best = solution.lookup(mover, opponent)
        after = [
            WORDS[-solution.lookup(opponent, mover | 1 << cell)[0]] if mark == "." else None
            for cell, mark in enumerate(board)
        ]
        expected.append({"exact": after, "known": "solved", "position": WORDS[value], "gives_away": move not in best})
    shown = [{name: each[name] for name in expected[0]} for each in look(player, texts(positions))]
    assert shown == expected


def bitboards(board: str) -> tuple[int, int]:
    """Return the marks of the mover and of the other seat."""
    x, o = (sum(1 << cell for cell, each in enumerate(board) if each == mark) for mark in "XO")
    return (x, o) if board.count("X") == board.count("O") else (o, x)


@pytest.mark.parametrize(
    ("board", "result", "line"),
    [("XXXOO....", "X", [0, 1, 2]), ("OOOXX.X..", "O", [0, 1, 2]), ("XXOOOXXOX", "draw", [])],
)
def test_a_finished_game_has_its_result_and_no_move(board: str, result: str, line: list[int], look: Any) -> None:
    [shown] = look(learned(config_with(hidden=(4,))), [board])
    nothing: dict[str, Any] = {
        "values": None,
        "move": None,
        "moves": [],
        "reply": None,
        "position": None,
        "gives_away": None,
    }
    ended = {"seat": board.count("X") - board.count("O"), "result": result, "line": line}
    nothing |= {"exact": [None] * 9, "known": "solved", "position": None, "gives_away": None}
    assert shown == ended | nothing


@pytest.mark.parametrize("board", ["X........X", "XX.......", "XXXOOO...", "<b>......", ""])
def test_what_is_no_position_is_refused(board: str, look: Any) -> None:
    with pytest.raises(Exception, match=r"Error: (X has|Both have|The board )"):
        look(learned(config_with(hidden=(4,))), [board])
