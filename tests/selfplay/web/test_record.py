"""What the page reads of a run while it is written is what the run writes, and nothing else."""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from selfplay.files import write_whole
from selfplay.web import record
from selfplay.web.record import MOST_POINTS, Record, newest_of, point_of, thinned
from tests.malicious_files import MALICIOUS_FILES
from tictactoe import Rules

SEATS = {
    "eval/first/losses": 3,
    "eval/second/losses": 4,
    "eval/first/illegal": 0,
    "eval/second/illegal": 2,
}
OTHERS = {"time/training_s": 1.5, "eval/optimal_states": 4_000, "teach/positions": 17.0, "explore/epsilon": 0.25}
NONE = {"seconds": None, "optimal": None, "positions": None, "explored": None}


def line(steps: Any, **others: Any) -> bytes:
    return (json.dumps({"plies": steps, **SEATS, **others}) + "\n").encode()


def steps_of(news: tuple[list[record.Point], bool] | None) -> tuple[list[Any], bool] | None:
    return None if news is None else ([point["steps"] for point in news[0]], news[1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


def test_a_line_is_a_point() -> None:
    whole = {"steps": 70, "lost": 7, "illegal": 2, "exact": True}
    assert point_of(line(70), "plies") == whole | NONE
    assert point_of(line(70, **OTHERS), "plies") == {
        **whole,
        "seconds": 1.5,
        "optimal": 4_000,
        "positions": 17.0,
        "explored": 0.25,
    }


def test_of_a_seat_that_was_not_followed_to_the_end_what_was_met_counts() -> None:
    found = {"plies": 70, "eval/first/losses": 3, "eval/first/illegal": 0}
    found |= {"eval/second/losses_at_least": 10, "eval/second/illegal_at_least": 1}
    assert (
        point_of(json.dumps(found).encode(), "plies") == {"steps": 70, "lost": 13, "illegal": 1, "exact": False} | NONE
    )
    assert point_of(b'{"plies": 70}', "plies") == {"steps": 70, "lost": None, "illegal": None, "exact": False} | NONE


@pytest.mark.parametrize("steps", [-1, True, 1.5, "70", None, [], 10**30, float("nan")], ids=str)
def test_a_line_without_steps_is_none(steps: Any) -> None:
    assert point_of(line(steps), "plies") is None
    assert point_of(line(7), "games") is None


@pytest.mark.parametrize(
    "value", [True, "3", None, [], float("nan"), float("inf"), 10**400, -1e101], ids=lambda v: str(v)[:9]
)
def test_what_is_no_number_is_not_known(value: Any) -> None:
    found = point_of(line(7, **{"eval/first/losses": value, "time/training_s": value}), "plies")
    assert found == {"steps": 7, "lost": None, "illegal": 2, "exact": False} | NONE


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"3", b"nothing", b"\xff", b"[" * 60_000, b"9" * 60_000, b'"\\ud800"'], ids=len
)
def test_a_line_of_something_else_is_none(text: bytes) -> None:
    assert point_of(text, "plies") is None


def test_what_is_added_is_told_once_and_half_a_line_when_it_is_whole(path: Path) -> None:
    reading = Record(path, "plies")
    assert reading.news() is None
    path.write_bytes(line(1) + line(2))
    assert steps_of(reading.news()) == ([1, 2], True)
    assert reading.news() is None
    with path.open("ab") as file:
        file.write(line(3)[:20])
        file.flush()
        assert reading.news() is None
        file.write(line(3)[20:] + line(4)[:1])
        file.flush()
        assert steps_of(reading.news()) == ([3], False)
        file.write(line(4)[1:])
    assert steps_of(reading.news()) == ([4], False)


def test_a_record_that_begins_empty_is_told_as_such(path: Path) -> None:
    path.touch()
    reading = Record(path, "plies")
    assert reading.news() == ([], True)
    path.write_bytes(line(1))
    assert steps_of(reading.news()) == ([1], False)


def test_what_a_resumed_run_puts_in_its_place_is_told_anew(path: Path) -> None:
    reading = Record(path, "plies")
    path.write_bytes(line(1) + line(2) + line(3))
    reading.news()
    write_whole(path, line(1) + line(2))
    assert steps_of(reading.news()) == ([1, 2], True)
    write_whole(path, line(1) + line(2) + line(30) + line(40))  # another file, though it is longer
    assert steps_of(reading.news()) == ([1, 2, 30, 40], True)
    os.truncate(path, len(line(1)))
    assert steps_of(reading.news()) == ([1], True)
    path.unlink()
    assert reading.news() is None
    path.write_bytes(line(9))
    assert steps_of(reading.news()) == ([9], True)


def test_what_is_no_record_is_passed_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "LONGEST_LINE", 1_000)
    path.write_bytes(b"{\n" + line(1) + b"x" * 5_500 + b"\n" + line(2) + b"\xff\n\n" + line(3) + b"y" * 2_500)
    reading = Record(path, "plies")
    assert steps_of(reading.news()) == ([1, 2, 3], True)
    with path.open("ab") as file:
        file.write(b"y\n" + line(4))
    assert steps_of(reading.news()) == ([4], False)


@pytest.mark.parametrize("count", [1, 2, 399, 400, 401, 800, 801, 802, 803, 1_601, 5_000])
def test_of_many_points_some_are_told_evenly_with_the_first_and_the_last(count: int, path: Path) -> None:
    path.write_bytes(b"".join(map(line, range(count))))
    found = steps_of(Record(path, "plies").news())
    assert found is not None
    steps = found[0]
    assert len(steps) == min(count, MOST_POINTS) or (count > 800 and 350 <= len(steps) <= MOST_POINTS)
    assert (steps[0], steps[-1]) == (0, count - 1)
    gaps = {after - before for before, after in pairwise(steps)}
    assert not gaps or max(gaps) <= 2.5 * count / len(steps)
    assert steps == sorted(set(steps))


def test_some_of_points_that_are_few_are_all_of_them() -> None:
    points: list[record.Point] = [{"steps": number} for number in range(MOST_POINTS)]
    assert thinned(points) == points
    assert thinned([]) == []


@pytest.mark.parametrize("plant", MALICIOUS_FILES)
def test_whatever_lies_in_its_place_does_no_harm(plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "LARGEST_RECORD", 1 << 22)
    (tmp_path / "it").mkdir()
    path = tmp_path / "it" / "file"
    MALICIOUS_FILES[plant](path)
    reading = Record(path, "plies")
    assert reading.news() in (None, ([], True))
    assert reading.news() is None
    assert newest_of(path, Rules()) is None


NEWEST: dict[str, Any] = {"steps": 70, "opening": [0.5, None, *[-1] * 7], "game": [4, 0, 8], "proofs": 2}


def test_what_is_newest_is_read(path: Path) -> None:
    path.write_text(json.dumps(NEWEST | {"more": 1}))
    assert newest_of(path, Rules()) == NEWEST
    path.write_text(json.dumps(NEWEST | {"game": [4, 0, 4]}))  # a taken cell ends the game
    assert newest_of(path, Rules()) is not None
    assert newest_of(path.with_name("nothing"), Rules()) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": -1},
        {"steps": "70"},
        {"proofs": None},
        {"opening": [0.5] * 8},
        {"opening": [float("nan")] * 9},
        {"opening": ["x"] * 9},
        {"opening": {}},
        {"game": []},
        {"game": [9]},
        {"game": [-1]},
        {"game": [4, 4, 0]},
        {"game": [0.0]},
        {"game": [0, 1, 2, 3, 4, 5, 6, 7, 8, 8]},
        {"game": 3},
        {"game": [[]]},
        {"padding": "x" * 70_000},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_what_no_run_writes_is_not_newest(changes: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(NEWEST | changes))
    assert newest_of(path, Rules()) is None
