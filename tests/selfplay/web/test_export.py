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

from selfplay.algorithms import load
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.player import OWN_NETWORK
from selfplay.tensor_file import write_tensors
from selfplay.training.folder import SNAPSHOTS, write_config
from selfplay.web import command, export
from tests.runs import refused, save
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.web.boards import texts
from tests.selfplay.web.visits import answered, board_of, square

LARGEST = 500_000
"""Bytes of the file of the default player."""
KEPT = (3_200, 6_400, 12_800, 19_200)
HOSTILE = "<!--<script><img src=x onerror=alert(1)>'\"&amp;\u2028\u202e\x1b[2J\n"

SHOWN = """(values) => {
    const squares = [...document.querySelectorAll("#panel-inside figure:first-of-type [data-value]")];
    const same = (square, cell) => Math.abs(Number(square.dataset.value) - values[cell]) < 1e-5;
    return squares.length === values.length && squares.every(same);
}"""
"""Whether the page shows these values, which it comes to once it has looked."""


class Exported(NamedTuple):
    """Hold a run folder and the page of its player."""

    run: Path
    file: Path


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Return the run of a player with the default settings that has learned nothing, and its page."""
    folder = tmp_path_factory.mktemp("runs")
    run, file = folder / "run", folder / "page.html"
    saved(run, DQNConfig(), KEPT)
    command.main([str(run), "--export", str(file)])
    return Exported(run, file)


def saved(run: Path, config: DQNConfig, kept: tuple[int, ...] = ()) -> None:
    """Write the folder of a player; at each of the steps `kept` it was another one, the last is it itself."""
    players = [make(replace(config, seed=seed)).player() for seed in range(1000, 1000 + max(1, len(kept)))]
    save(run, config, players[-1])
    (run / SNAPSHOTS).mkdir()
    for steps, player in zip(kept, players, strict=False):
        write_tensors(run / SNAPSHOTS / f"{steps}.safetensors", player.tensors())


@contextmanager
def opened(browser: Browser, file: Path, link: str = "") -> Iterator[Page]:
    """Open a page from the disk, with the network off; it asks for nothing else, and the console stays empty."""
    context = browser.new_context(offline=True, reduced_motion="reduce")
    page = context.new_page()
    asked: list[str] = []
    written: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: written.append(message.text))
    page.on("pageerror", lambda error: written.append(str(error)))
    page.on("dialog", lambda dialog: written.append(dialog.message))
    page.goto(f"{file.as_uri()}{link}")
    page.wait_for_selector(".board")
    yield page
    context.close()
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    assert written == []


@pytest.mark.parametrize("seat", ["X", "O"])
def test_a_game_is_played_without_a_network(seat: str, exported: Exported, browser: Browser) -> None:
    with opened(browser, exported.file, f"#seat={seat}") as page:
        while "Your move" in answered(page):
            square(page, board_of(page).index(".")).click()
        assert re.search(r"You win|You lose|wins|A draw", page.locator("#status").inner_text())
        assert board_of(page).count("X") >= 3


def test_the_file_of_the_default_player_is_small(exported: Exported, tmp_path: Path) -> None:
    """With the player as it was earlier, the states in which it is wrong, and the lines that beat it."""
    own = held(exported.file)
    assert len(own["kept"]) == len(KEPT)
    assert len(own["wrong"]["states"]) > 100
    assert len(own["lost"]["lines"]) > 100
    assert exported.file.stat().st_size < LARGEST
    command.main(["shipped", "--export", str(tmp_path / "shipped.html")])
    assert (tmp_path / "shipped.html").stat().st_size < LARGEST


def held(file: Path) -> dict[str, Any]:
    """Return the data that lies in a page."""
    [text] = re.findall(r'<script type="application/json" id="own">(.*?)</script>', file.read_text(), re.DOTALL)
    own: dict[str, Any] = json.loads(text)
    return own


def test_the_file_computes_what_python_computes_in_every_state(exported: Exported, browser: Browser) -> None:
    """By the very script and the very numbers that lie in it, which are run a second time to get at the values."""
    [script] = re.findall(r'<script type="module">(.*?)</script>', exported.file.read_text(), re.DOTALL)
    look = f"""async (boards) => {{
        {script}
        const source = $own_source_js.ownSource(JSON.parse(document.getElementById("own").textContent));
        const looks = await Promise.all(boards.split(" ").map((board) => source.look(0, board, null)));
        return JSON.stringify(looks.map(({{ values, move }}) => [move, ...values]));
    }}"""
    player = load(exported.run)
    with opened(browser, exported.file) as page:
        found = np.array(json.loads(page.evaluate(look, " ".join(texts(ABSOLUTE)))))
    assert found[:, 0].tolist() == player.act(ABSOLUTE).tolist()
    np.testing.assert_allclose(found[:, 1:], player.q_values(ABSOLUTE), rtol=0, atol=1e-5)


def test_the_page_shows_what_python_computes(exported: Exported, browser: Browser) -> None:
    """Of some positions, of the player as it is and as it was."""
    some = ABSOLUTE[100::1100]
    with opened(browser, exported.file) as page:
        for kept, steps in [(None, None), *enumerate(KEPT)]:
            expected = load(exported.run, steps=steps).q_values(some)
            for board, values in zip(texts(some), expected, strict=True):
                page.evaluate("link => { location.hash = link; }", link_to(board, kept))
                page.wait_for_function(SHOWN, arg=values.tolist())


def link_to(board: str, kept: int | None) -> str:
    return f"view=inside&board={board}" + ("" if kept is None else f"&kept={kept}")


def test_what_is_wrong_and_what_is_lost_is_a_click_away(exported: Exported, browser: Browser) -> None:
    own = held(exported.file)
    with opened(browser, exported.file, "#view=wrong") as page:
        page.locator("#panel-wrong .card").first.click()
        assert board_of(page) == own["wrong"]["states"][0]["board"]
        page.locator("#tab-lost").click()
        page.locator("#panel-lost .line").first.click()
        assert page.locator("#panel-lost [data-ply]").count() == len(own["lost"]["lines"][0]["cells"])


def test_the_name_of_a_run_is_shown_and_not_run(
    tmp_path: Path, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    run, file = tmp_path / HOSTILE, tmp_path / "page.html"
    saved(run, config_with())
    command.main([str(run), "--export", str(file)])
    assert capsys.readouterr().out.count("\n") == 1
    shown = "".join(char if char.isprintable() else repr(char)[1:-1] for char in HOSTILE)
    with opened(browser, file) as page:
        assert str(page.locator("#player option").text_content()).startswith(f"{shown}, 3")


def test_nothing_else_can_run_or_be_loaded(exported: Exported, browser: Browser) -> None:
    """The page's own policy stops what somebody could bring into it."""
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
    page.goto(exported.file.as_uri())
    assert page.evaluate(violations) == [["connect-src", "img-src", "script-src-elem"], None]
    context.close()


def test_of_many_kept_players_the_file_has_as_many_as_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, file = tmp_path / "run", tmp_path / "page.html"
    saved(run, config_with(), tuple(range(1, 8)))
    size = len(export.packed(load(run)))
    monkeypatch.setattr(export, "ROOM_FOR_KEPT", 3 * size + size // 2)
    command.main([str(run), "--export", str(file)])
    own = held(file)
    assert own["player"]["kept"] == {"unit": "plies", "steps": [1, 3, 5, 7]}
    assert own["kept"][:3] == [export.packed(load(run, steps=steps)) for steps in (1, 3, 5)]
    assert own["kept"][3] == ""
    size = file.stat().st_size
    told = f"The page of run is in {file} ({size:,} bytes, with 4 of the 7 players that its run has kept)"
    assert capsys.readouterr().out.startswith(told)


def test_who_cannot_be_exported_is_told_who_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, own = tmp_path / "page.html", tmp_path / "own"
    save(own, config_with(), make(config_with()).player())
    write_config(own, config_with(), {OWN_NETWORK: "nets:wide"})
    way_out = "; --export takes shipped, or a run of any algorithm with a network of ours"
    wrong = {
        (): f"--export writes the page of one player, got 0: selfplay web RUN --export {file}",
        ("shipped", "optimal"): f"--export writes the page of one player, got 2: selfplay web RUN --export {file}",
        ("optimal",): f"optimal: is a built-in opponent, which has learned nothing{way_out}",
        ("agents:mine",): f"agents:mine: is an agent of your own, which only Python can ask{way_out}",
        (str(own),): f"{own}: has a network of your own, nets:wide, which only Python can ask{way_out}",
    }
    for names, line in wrong.items():
        assert refused(command.main, [*names, "--export", str(file)]) == line
    assert refused(command.main, ["nobody", "--export", str(file)]).startswith("nobody: is neither a run folder")
    with monkeypatch.context() as smaller:
        smaller.setattr(export, "LARGEST", 1_000)
        line = refused(command.main, ["shipped", "--export", str(file)])
    assert line == (
        "shipped: has 75,812 bytes of numbers, and a page is given at most 1,000; a smaller board or network fits"
    )
    assert not file.exists()
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        command.main(["shipped", "--export", str(tmp_path)])
    assert not list(tmp_path.parent.glob("*.partial"))
