"""The page is told of every run what it writes while it trains, and of runs that begin meanwhile."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from selfplay.files import write_whole
from selfplay.learning import folder as run_folder
from selfplay.web.live import MOST_POINTS, Event, LiveRuns, read_latest, read_points
from tests.selfplay.dqn.scripted import config_with
from tictactoe import Rules

LOST = {"eval/games_lost": 9, "eval/first/losses": 3, "eval/second/losses": 4}
LOST |= {"eval/first/illegal": 0, "eval/second/illegal": 2}
POINT = {"steps": 70, "lost": 9, "exact": True, "optimal": None}
LATEST: dict[str, Any] = {"steps": 70, "opening": [0.5, None, *[-1] * 7], "game": [4, 0, 4]}


def line(steps: Any, **others: Any) -> bytes:
    return (json.dumps({"plies": steps, "time/training_s": 0.5, **LOST, **others}) + "\n").encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_a_line_is_a_point(path: Path) -> None:
    path.write_bytes(line(70) + line(71, **{"eval/optimal_states": 4_000}))
    assert read_points(path, "plies") == [POINT, POINT | {"steps": 71, "optimal": 4_000}]


def test_of_a_seat_that_was_not_followed_to_the_end_the_games_met_count(path: Path) -> None:
    metrics = {"plies": 70, "time/training_s": 0.5, "eval/first/losses": 3, "eval/first/illegal": 0}
    metrics |= {"eval/second/losses_at_least": 10, "eval/second/illegal_at_least": 1}
    path.write_text(json.dumps(metrics) + '\n{"plies": 71, "time/training_s": 0.5}\n')
    unknown = {"steps": 71, "lost": None, "exact": False}
    assert read_points(path, "plies") == [POINT | {"lost": 14, "exact": False}, POINT | unknown]


@pytest.mark.parametrize("other", [line(2)[:20], b"nothing\n" + line(2)], ids=["half a line", "a damaged line"])
def test_what_was_read_before_a_line_that_is_none_is_shown(other: bytes, path: Path) -> None:
    path.write_bytes(line(1) + other)
    assert [point["steps"] for point in read_points(path, "plies")] == [1]
    assert read_points(path, "games") == []


@pytest.mark.parametrize("count", [0, 1, 399, 400, 401, 803])
def test_of_many_points_some_are_returned_evenly_with_the_first_and_the_last(count: int, path: Path) -> None:
    path.write_bytes(b"".join(map(line, range(count))))
    steps: list[Any] = [point["steps"] for point in read_points(path, "plies")]
    assert len(steps) == min(count, MOST_POINTS)
    assert steps[:1] + steps[-1:] == ([0, count - 1] if count else [])
    assert all(0 < after - before <= 1 + count / MOST_POINTS for before, after in pairwise(steps))


def test_the_latest_state_is_read(path: Path) -> None:
    assert read_latest(path, Rules()) is None
    path.write_text(json.dumps(LATEST | {"more": 1}))
    assert read_latest(path, Rules()) == LATEST


@pytest.mark.parametrize(
    "changes",
    [
        *({"steps": "70"}, {"opening": [0.5] * 8}, {"opening": [float("nan")] * 9}, {"opening": ["x"] * 9}),
        *({"game": []}, {"game": [9]}, {"game": [[]]}, {"padding": "x" * 70_000}),
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_what_no_run_writes_is_no_latest_state(changes: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(LATEST | changes))
    assert read_latest(path, Rules()) is None


def made(place: Path, name: str, **changes: Any) -> Path:
    """Leave the folder of a run that has only begun."""
    (place / name).mkdir()
    run_folder.write_config(place / name, config_with(**changes), {})
    return place / name


def append(folder: Path, *steps: int) -> None:
    with (folder / "metrics.jsonl").open("ab") as file:
        file.writelines(map(line, steps))


def summary(news: list[Event]) -> list[tuple[str, Any]]:
    """Return events in short: the names of runs, and the steps of points."""
    return [
        (name, [run["name"] for run in data["runs"]])
        if name == "runs"
        else (name, (data["run"], [point["steps"] for point in data["points"]]))
        for name, data in news
    ]


def test_runs_are_told_with_their_metrics_and_then_what_is_new(tmp_path: Path) -> None:
    one, two = made(tmp_path, "a", seed=1, mask=True), made(tmp_path, "b\x1b[2J\n", seed=2)
    (made(tmp_path, " damaged") / "config.json").write_text("{")
    settings = (two / "config.json").read_text()
    (two / "config.json").write_text("{")  # it is followed once it can be read
    append(one, 1, 2)
    append(two, 7)
    runs = LiveRuns(lambda: sorted(tmp_path.iterdir()))
    assert summary(runs.news()) == [("runs", ["a"]), ("metrics", (0, [1, 2]))]
    (two / "config.json").write_text(settings)
    news = runs.news()
    assert summary(news) == [("runs", ["a", "b\\x1b[2J\\n"]), ("metrics", (1, [7]))]
    run = {"unit": "plies", "length": config_with().length, "rows": 3, "cols": 3, "k": 3}
    assert news[0][1]["runs"] == [
        {"index": 0, "name": "a", **run},
        {"index": 1, "name": "b\\x1b[2J\\n", **run},
    ]
    assert runs.news() == []
    append(two, 8)
    assert summary(runs.news()) == [("metrics", (1, [7, 8]))]
    write_whole(one / "metrics.jsonl", line(1) + line(3))  # a resumed run puts another file in its place
    assert summary(runs.news()) == [("metrics", (0, [1, 3]))]
    append(made(tmp_path, "0", seed=3), 5)
    assert summary(runs.news()) == [("runs", ["a", "b\\x1b[2J\\n", "0"]), ("metrics", (2, [5]))]
    for file in one.iterdir():
        file.unlink()
    one.rmdir()
    assert runs.news() == []
