"""The page hears of every run what it writes while it trains, and of those that begin meanwhile."""

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import selfplay
from selfplay.cli import train
from selfplay.training import callbacks, folder as run_folder
from selfplay.training.folder import legends
from selfplay.training.screen import Screen
from selfplay.web import live
from selfplay.web.live import Event, Following, follow
from tests.runs import DQN, Stopper, metrics
from tests.selfplay.dqn.scripted import config_with


def made(place: Path, name: str, **changes: Any) -> Path:
    """Leave the folder of a run that has only begun."""
    (place / name).mkdir()
    run_folder.write_config(place / name, config_with(**changes), {})
    return place / name


def append(folder: Path, *steps: int) -> None:
    with (folder / "metrics.jsonl").open("a") as file:
        file.writelines(json.dumps({"plies": each}) + "\n" for each in steps)


def run_folders(place: Path) -> list[Path]:
    return sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else []


def following(place: Path) -> Following:
    return Following(lambda: run_folders(place))


def told(events: list[Event]) -> list[tuple[str, Any]]:
    """Return events in short: the names of runs, the steps of points, the steps of what is newest."""
    return [(event.name, _gist(event.name, event.data)) for event in events]


def _gist(name: str, data: Mapping[str, Any]) -> Any:
    if name == "runs":
        return [run["name"] for run in data["runs"]]
    if name == "points":
        return data["run"], [point["steps"] for point in data["points"]], data["anew"]
    return data["run"], data["steps"]


def test_runs_are_told_with_what_they_have_come_to_and_then_what_is_new(tmp_path: Path) -> None:
    one, two = made(tmp_path, "a", seed=1, mask=True), made(tmp_path, "b", seed=2)
    (tmp_path / "no run").mkdir()
    (tmp_path / "file").touch()
    append(one, 1, 2)
    append(two, 7)
    page = following(tmp_path)
    events = page.news()
    assert told(events) == [("runs", ["a", "b"]), ("points", (0, [1, 2], True)), ("points", (1, [7], True))]
    board = {"unit": "plies", "rows": 3, "cols": 3, "k": 3}
    assert events[0].data["runs"] == [
        {"index": 0, "name": "a", "differs": "mask, seed 1", **board},
        {"index": 1, "name": "b", "differs": "seed 2", **board},
    ]
    assert page.news() == []
    append(two, 8)
    assert told(page.news()) == [("points", (1, [8], False))]
    three = made(tmp_path, "0", seed=3)
    append(three, 5)
    assert told(page.news()) == [("runs", ["a", "b", "0"]), ("points", (2, [5], True))]
    assert page.news() == []


def test_where_there_are_no_runs_yet_the_first_is_awaited(tmp_path: Path) -> None:
    page = following(tmp_path / "runs")
    assert told(page.news()) == [("runs", [])]
    assert page.news() == []
    (tmp_path / "runs").mkdir()
    made(tmp_path / "runs", "a")
    assert told(page.news()) == [("runs", ["a"])]


def test_a_run_whose_settings_cannot_be_read_is_passed_over_until_they_can(tmp_path: Path) -> None:
    folder, page = made(tmp_path, "a"), following(tmp_path)
    whole = (folder / "config.json").read_text()
    (folder / "config.json").write_text("{")
    assert told(page.news()) == [("runs", [])]
    assert page.news() == []
    (folder / "config.json").write_text(whole)
    assert told(page.news()) == [("runs", ["a"])]


def test_a_run_that_is_removed_is_told_no_more_of(tmp_path: Path) -> None:
    folder, page = made(tmp_path, "a"), following(tmp_path)
    append(folder, 1)
    page.news()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert page.news() == []


def test_of_more_runs_than_are_followed_the_newest_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_RUNS", 3)
    made(tmp_path, "z")
    page = following(tmp_path)
    page.news()
    for name in "abcd":
        made(tmp_path, name)
    page = following(tmp_path)
    assert told(page.news()) == [("runs", ["b", "c", "d"])]
    made(tmp_path, "e")
    assert page.news() == []


def test_a_name_that_moves_the_cursor_is_escaped(tmp_path: Path) -> None:
    made(tmp_path, "a\x1b[2J\n")
    assert told(following(tmp_path).news()) == [("runs", ["a\\x1b[2J\\n"])]


def test_a_run_is_followed_while_it_trains(tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch) -> None:
    page, events, show = following(tmp_path), list[Event](), Screen.evaluated

    def shown(screen: Screen, record: selfplay.Record) -> None:
        show(screen, record)
        events.extend(page.news())

    monkeypatch.setattr(Screen, "evaluated", shown)
    monkeypatch.setattr(callbacks, "SECONDS", 0.0)
    assert stopper.left == -1
    train.main([*DQN, "--run-dir", str(tmp_path / "it")])
    events += page.news()
    assert told(events) == [
        ("runs", ["it"]),
        ("points", (0, [960], True)),
        ("points", (0, [1_920], False)),
        ("newest", (0, 960)),
        ("points", (0, [2_400], False)),
        ("newest", (0, 1_920)),
        ("newest", (0, 2_400)),
    ]
    last = metrics(tmp_path / "it")[-1]
    [point] = events[4].data["points"]
    assert point["lost"] == last["eval/first/losses"] + last["eval/second/losses"]
    assert point["optimal"] == last["eval/optimal_states"]
    assert len(events[-1].data["opening"]) == 9


def test_events_are_sent_as_they_come_and_a_comment_when_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "POLL_SECONDS", 0.001)
    monkeypatch.setattr(live, "KEEP_ALIVE_SECONDS", 0.003)
    folder = made(tmp_path, "a")

    async def hear() -> list[str]:
        stream = follow(lambda: run_folders(tmp_path))
        texts = [(await anext(stream)).text()]
        append(folder, 3)
        texts += [(await anext(stream)).text(), (await anext(stream)).text()]
        await stream.aclose()
        return texts

    with ThreadPoolExecutor(1) as thread:  # of its own: in that of the tests a browser may have a loop that runs
        runs, points, comment = thread.submit(asyncio.run, hear()).result()
    assert runs.startswith('event: runs\ndata: {"runs": [{"index": 0, "name": "a"')
    assert points.startswith('event: points\ndata: {"run": 0, "points": [{"steps": 3,')
    assert all(text.endswith("}\n\n") and text.count("\n") == 3 for text in (runs, points))
    assert comment == ":\n\n"


def test_what_is_behind_is_little() -> None:
    assert live.POLL_SECONDS + callbacks.SECONDS < 2


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ([{}], [""]),
        ([{}, {}], ["", ""]),
        ([{}, {"seed": 1}], ["seed 0", "seed 1"]),
        ([{"mask": True}, {"mask": True, "double": True}, {}], ["mask", "mask, double", ""]),
        ([{"hidden": (8, 4)}, {"rows": 4, "cols": 4, "k": 4}], ["3,3,3, hidden 8x4", "4,4,4"]),
    ],
)
def test_a_legend_says_in_what_runs_differ_among_themselves(changes: list[dict[str, Any]], wanted: list[str]) -> None:
    assert legends([selfplay.DQNConfig(**each) for each in changes]) == wanted


def test_the_legends_of_no_runs_and_of_several_algorithms() -> None:
    assert legends([]) == []
    configs = [selfplay.DQNConfig(seed=3), selfplay.TDValueConfig(seed=3, back_up_losses=False)]
    assert legends(configs) == ["dqn", "td-value, no back up losses"]
