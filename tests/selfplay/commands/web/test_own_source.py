"""What an exported page computes of its player is what Python computes, in every position."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from selfplay.algorithms import ALGORITHMS, load
from selfplay.commands.web import export
from selfplay.dqn.config import PRESETS
from selfplay.learner import Learner
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from tests.selfplay.commands.web.boards import random_positions, texts
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.dqn.scripted import config_with
from tictactoe import Rules, batch, solve

DQNS: Mapping[str, dict[str, Any]] = {
    "shared": {"symmetry": "none"},
    "separate and canonical": {"networks": "separate"},
    "with a mask, as X and O": {"mask": True, "perspective": "absolute"},
    "convolutional and canonical": {"convolution": (6, 5), "perspective": "absolute"},
    "lines behind a convolution, dueling": {"convolution": (4,), "lines": 3, "dueling": True, "symmetry": "augment"},
    "lines, two layers, dueling": {"lines": 2, "hidden": (24, 16), "dueling": True, "perspective": "absolute"},
}
TABLES = {
    "minimax-q": MinimaxQConfig(games=300),
    "minimax-q, a table for each seat": MinimaxQConfig(games=300, tables="separate"),
    "afterstate-q": AfterstateQConfig(games=300),
    "td-value": TDValueConfig(games=300),
    "td-backup": TDBackupConfig(games=300),
}
PLIES = 700


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
        path = export.PAGE / Path(route.request.url).name
        script = path.suffix == ".js"
        route.fulfill(body=path.read_text() if script else "", content_type=f"text/{'javascript' if script else 'html'}")

    page.route("**/*", file)
    page.goto("http://page.test/")

    def look(player: Any, boards: list[str], mask: bool = False, kept: int | None = None) -> list[dict[str, Any]]:
        own = {"game": export.game_of(player), "mask": mask, "weights": export.packed(player.tensors()), "kept": []}
        found: list[dict[str, Any]] = page.evaluate(
            """async ([own, boards, kept]) => {
                const source = (await import("./own_source.js")).ownSource(own);
                return Promise.all(boards.map((board) => source.look(0, board, kept)));
            }""",
            [own, boards, kept],
        )
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
