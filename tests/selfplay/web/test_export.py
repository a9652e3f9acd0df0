"""One player as a file: it is opened from the disk without a network, and shows and plays what Python does."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import selfplay
from selfplay.cli import web as command
from selfplay.dqn.config import DQNConfig
from selfplay.judge.ask import player_policy
from selfplay.position import Position, read_board
from selfplay.runs.folder import SNAPSHOTS as FOLDER, write_config
from selfplay.runs.load import load
from selfplay.tabular.players import AfterstatePlayer, MinimaxQPlayer, TabularPlayer
from selfplay.tensor_file import write_tensors
from selfplay.web import export, server
from selfplay.web.analysis import analyse
from tests.runs import refused, save
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.web.positions import early_boards, exact_result, texts
from tests.selfplay.web.visits import SHOWN, board_of, says, square, wait_for_turn, watched
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS

SNAPSHOTS = (3_200, 6_400, 12_800, 19_200)
ROUNDED = 0.1
"""Largest error of a value in a snapshot, which a file holds with 8 bits."""
HOSTILE = "<!--<script><img src=x onerror=alert(1)>'\"&amp;\u2028\u202e\x1b[2J\n"

DQNS: list[dict[str, Any]] = [
    {"symmetry": "none"},
    {"networks": "separate"},
    {"symmetry": "augment"},
    {"hidden": (24, 16), "symmetry": "none"},
    {"mask": True, "perspective": "absolute"},
    {"cols": 4},
    {"rows": 4, "cols": 4, "k": 4, "message_rounds": 1},
    {"message_rounds": 2, "message_width": 5, "hidden": (6, 4)},
    {"cols": 4, "message_rounds": 1, "message_width": 5, "hidden": (), "symmetry": "none"},
]


def table(player: type[TabularPlayer], *shape: int) -> TabularPlayer:
    """Return a player of random values."""
    return player(Rules(), np.random.default_rng(1000).normal(size=shape))


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """Yield a page that knows the script of a file."""
    page = browser.new_page()
    page.evaluate(f"() => {{ {server.bundled_script('exported_api.js')}; window.exportedApi = exportedApi; }}")
    yield page
    page.close()


def analyses(page: Page, player: Any, boards: list[str], number: int = 0) -> list[dict[str, Any]]:
    """Return what a file with this player, or one of its rivals, shows of many boards.

    They travel as texts, for objects take ten times as long.
    """
    script = """async ([data, boards, number]) => {
        const api = window.exportedApi(JSON.parse(data));
        return JSON.stringify(await Promise.all(boards.split(" ").map((board) => api.analysis(number, board, null))));
    }"""
    players = [{"index": 0}, *({"index": index, "name": name} for index, name in enumerate(export.RIVALS, start=1))]
    data = json.dumps({**export.player_data(player), "players": players})
    found: list[dict[str, Any]] = json.loads(page.evaluate(script, [data, " ".join(boards), number]))
    return found


@pytest.mark.parametrize(
    "player",
    [
        *(pytest.param(make(config_with(**changes)).player(), id=str(changes)) for changes in DQNS),
        pytest.param(table(MinimaxQPlayer, 3**9, 9), id="minimax-q"),
        pytest.param(table(AfterstatePlayer, 3**9), id="afterstates"),
        pytest.param(table(AfterstatePlayer, 2, 3**9), id="afterstates, 2 tables"),
    ],
)
def test_the_analysis_of_a_position_is_that_of_the_server(player: Any, page: Page) -> None:
    """But for the exact results on a board that the page does not solve."""
    rules = player.rules
    boards = [*texts(ABSOLUTE)[::27], "OOOXX.X..", "XXOOOXXOX"] if rules == Rules() else early_boards(rules)
    unknown = {"exact": [None] * rules.cells, "unsolved": True, "position": None, "gives_away": None}
    for board, shown in zip(boards, analyses(page, player, boards), strict=True):
        position = read_board(rules, board)
        expected = analyse(player_policy(player), player, position, np.random.default_rng(0))
        expected["values"] = None if position.over else pytest.approx(expected["values"], abs=1e-5)
        assert shown == (expected if rules.cells <= 12 else expected | unknown)


@pytest.mark.parametrize(("number", "name"), [*enumerate(export.RIVALS, start=1)])
def test_a_built_in_opponent_in_a_file_chooses_among_the_same_moves(number: int, name: str, page: Page) -> None:
    boards = texts(ABSOLUTE)[::27]
    for board, shown in zip(boards, analyses(page, table(AfterstatePlayer, 3**9), boards, number), strict=True):
        position = read_board(Rules(), board)
        moves = OPPONENTS[name].choices(Rules(), position.mover, position.opponent)
        assert shown["moves"] == list(Rules().cells_of(moves)), board
        assert shown["reply"] in shown["moves"]


class Exported(NamedTuple):
    """A run folder and the page of its player."""

    run: Path
    file: Path


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Return the run of a player with the default settings that has learned nothing, and its page."""
    folder = tmp_path_factory.mktemp("runs")
    run, file = folder / HOSTILE, folder / "page.html"
    saved(run, DQNConfig(), SNAPSHOTS)
    command.main([str(run), "--export", str(file)])
    return Exported(run, file)


def saved(run: Path, config: DQNConfig, steps: tuple[int, ...] = ()) -> None:
    """Write the folder of a player; each of its snapshots is another one, the last is it itself."""
    players = [make(replace(config, seed=seed)).player() for seed in range(1000, 1000 + max(1, len(steps)))]
    save(run, config, players[-1])
    (run / FOLDER).mkdir()
    for each, player in zip(steps, players, strict=False):
        write_tensors(run / FOLDER / f"{each}.safetensors", player.tensors())


@contextmanager
def opened(browser: Browser, file: Path, link: str = "") -> Iterator[Page]:
    """Open a page from the disk, with the network off; it requests nothing else, and the console stays empty."""
    context = browser.new_context(offline=True, reduced_motion="reduce")
    page = context.new_page()
    with watched(page, file.as_uri()):
        page.goto(f"{file.as_uri()}{link}")
        page.wait_for_selector(".board")
        yield page
    context.close()


def data_in(file: Path) -> dict[str, Any]:
    [text] = re.findall(r'<script type="application/json" id="player-data">(.*?)</script>', file.read_text(), re.DOTALL)
    data: dict[str, Any] = json.loads(text)
    return data


def test_the_file_is_played_and_looked_into(exported: Exported, browser: Browser) -> None:
    """The name of its run is shown and not run."""
    data, some = data_in(exported.file), ABSOLUTE[100::1100]
    with opened(browser, exported.file, "#seat=O") as page:
        assert page.locator("#player").get_attribute("title") == HOSTILE
        while "Your move" in wait_for_turn(page):
            square(page, board_of(page).index(".")).click()
        assert board_of(page).count("X") >= 3
        for steps in (None, *SNAPSHOTS):
            expected = load(exported.run, steps=steps).q_values(some)
            for board, values in zip(texts(some), expected, strict=True):
                link = f"view=inside&board={board}" + ("" if steps is None else f"&steps={steps}")
                page.evaluate("link => { location.hash = link; }", link)
                near = 1e-5 if steps in (None, SNAPSHOTS[-1]) else ROUNDED
                page.wait_for_function(SHOWN.replace("1e-5", str(near)), arg=values.tolist())
        page.locator("#tab-mistakes").click()
        page.locator("#panel-mistakes .card").first.click()
        assert board_of(page) == data["evaluations"]["0"]["groups"][0]["board"]
        page.locator("#tab-beat").click()
        says(page, ".rung", [re.compile(r"\d ways? to beat it")] * 5)
        ways = {f"{sum(each['ways']):,} ways to beat it" for each in data["evaluations"].values()}
        assert ways <= {*page.locator(".rung span").all_inner_texts()}
        page.evaluate("() => { location.hash = 'player=heuristic&moves=1,9,2&seat=X'; }")
        page.wait_for_selector(".board [data-cell='2'][data-mark='O']")  # it blocks


def test_a_snapshot_loses_the_games_that_the_judge_finds(exported: Exported, page: Page) -> None:
    """In a file JavaScript follows every reply. Rounding to 8 bits changes no move of this player."""
    script = """async ([data, steps]) => await window.exportedApi(JSON.parse(data)).evaluation(0, steps)"""
    verdict = selfplay.evaluate(load(exported.run, steps=SNAPSHOTS[-1]))
    found = page.evaluate(script, [json.dumps(data_in(exported.file)), SNAPSHOTS[-1]])
    assert found["ways"] == [verdict.first.ways_to_beat, verdict.second.ways_to_beat]
    assert sum(group["games"] for group in found["groups"]) == verdict.ways_to_beat
    for group in found["groups"]:  # each leads to a move in a lost game that does not keep the value
        position = Position(Rules())
        for cell in group["game"][: group["ply"]]:
            position = position.after(cell)
        assert position == replace(read_board(Rules(), group["board"]), last_cell=position.last_cell)
        order = {"loss": 0, "draw": 1, "win": 2}
        results = {cell: order[exact_result(position, cell) or ""] for cell in position.empty}
        assert results.get(group["game"][group["ply"]], -1) < max(results.values())


def test_no_other_script_picture_or_request_is_allowed(tmp_path: Path, browser: Browser) -> None:
    file = tmp_path / "shipped.html"
    command.main(["shipped", "--export", str(file)])
    violations = """async () => {
        const found = [];
        document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
        const script = document.createElement("script");
        script.textContent = "window.broken = 1";
        const picture = document.createElement("img");
        picture.src = "https://example.org/picture.png";
        document.body.append(script, picture);
        await fetch("https://example.org/").catch(() => {});
        await new Promise((done) => setTimeout(done));
        return [found.sort(), window.broken ?? null];
    }"""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector(".board")
    assert page.evaluate(violations) == [["connect-src", "img-src", "script-src-elem"], None]
    context.close()


def test_what_cannot_be_exported_is_named(tmp_path: Path) -> None:
    file, own = tmp_path / "page.html", tmp_path / "own"
    save(own, config_with(), make(config_with()).player())
    write_config(own, config_with(), {"network": "nets:wide"})
    for names, named in (((), "--export"), (("optimal",), "optimal"), ((str(own),), "nets:wide")):
        assert named in refused(command.main, [*names, "--export", str(file)])
    assert not file.exists()
