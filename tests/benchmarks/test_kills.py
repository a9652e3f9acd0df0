"""Runs that are killed at random moments come to the same bits, and the benchmark that says so finds what is wrong."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.training import kills
from benchmarks.training.kills import SETTINGS, Tally
from benchmarks.training.left_behind import EVENTS, HALVES, NEWEST, differences, halves, left_behind, newest
from benchmarks.training.lives import Kill, Life
from selfplay.cli import train
from selfplay.training.events import Events
from tests.benchmarks.reports import printed_rows
from tests.runs import DQN, ROOT, forge, without_pictures

KILLS = 10
"""Of each setting; the benchmark's hundred take minutes."""
RESUMED = Kill(begun=True, kept=True, writing=False, ended=False)


def apart(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.benchmarks.kills_apart", *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_runs_killed_at_random_moments_end_with_the_same_bits() -> None:
    ended = apart("all", "--kills", str(KILLS), "--shorten", "8", "--seed", "1000")
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    rows = [row for row in printed_rows(ended.stdout) if row[3] == str(KILLS)]
    assert len(rows) == len(SETTINGS) == 10
    for row in rows:
        assert sum(map(int, row[6:9])) == KILLS
        assert row[9:12] == ["yes", "0", "0"]


def test_planted_faults_are_found() -> None:
    ended = apart("faults")
    assert (ended.returncode, ended.stderr) == (0, "")
    found = json.loads(ended.stdout)
    right = {"different": [], "stuck": "", "complaints": []}
    assert [len(life.pop("kills")) for life in found.values()] == [1] * len(found)
    assert min(life.pop("seconds") for life in found.values()) > 0
    assert found.pop("none") == right
    different = ["model.safetensors", "players.safetensors", "metrics.jsonl", NEWEST, EVENTS]
    assert set(different) <= set(found["generator not restored"].pop("different"))
    assert found.pop("generator not restored") == {name: right[name] for name in ("stuck", "complaints")}
    assert found["settings in place"].pop("stuck").endswith("config.json: is truncated or not JSON")
    assert found["first checkpoint in place"].pop("stuck").endswith("no checkpoint is whole; start a new run")
    [complaint] = found["checkpoint in place"].pop("complaints")
    assert complaint.endswith("30.json: is damaged (it is not JSON); trying the checkpoint before it")
    assert all(not any(life.values()) for life in found.values())


@pytest.mark.parametrize(
    ("life", "cells", "line"),
    [
        (Life([RESUMED], ["model.safetensors"], "", [], 1.0), ["NO (1)", "0", "0"], "is another: model.safetensors"),
        (Life([RESUMED], [], "exit status 2: gone", [], 1.0), ["yes", "1", "0"], "cannot go on, exit status 2: gone"),
        (Life([RESUMED], [], "", ["damaged"], 1.0), ["yes", "0", "1"], "complains: damaged"),
    ],
)
def test_a_fault_is_shown_and_is_the_exit_status(
    life: Life, cells: list[str], line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lives = [Life([RESUMED, RESUMED], [], "", [], 1.0), life]
    monkeypatch.setattr(kills, "measure", lambda name, _: Tally(name, 1.0, lives))
    with pytest.raises(SystemExit) as ended:
        kills.main(["--settings", "minimax-q"])
    assert ended.value.code == kills.UNEQUAL
    printed = capsys.readouterr().out
    assert f"minimax-q, run 2, {line}\n" in printed
    assert "3 kills, 1 faults; seed 0" in printed
    [row] = [row for row in printed_rows(printed) if row[0] == "minimax-q"]
    assert row == ["minimax-q", "1.0", "2", "3", "0", "0", "0", "3", "0", *cells]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "it"
    with pytest.MonkeyPatch.context() as patched:
        without_pictures(patched.setattr)
        train.main([*DQN, "--run-dir", str(folder)])
    return folder


def test_nothing_is_different_but_times(whole: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(whole, tmp_path / "it"))
    forge(other, counters={"seconds": 1e6})
    path = other / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line | {"time/training_s": 1e6}) + "\n" for line in lines))
    left = left_behind(whole)
    assert differences(left, left_behind(other)) == []
    assert left.keys() == {
        "config.json",
        "evaluation.json",
        "metrics.jsonl",
        "model.safetensors",
        "newest.json",
        "players.safetensors",
        "progress.png",
        EVENTS,
        HALVES,
        NEWEST,
    }


def one_bit(name: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        content[-1] ^= 1
        (folder / name).write_bytes(content)

    return change


def told_again(folder: Path) -> None:
    events = Events(folder, 10_000)
    events.scalar("eval/optimal_states", 1.0, 2_400)
    events.close()


CHANGES: dict[str, Callable[[Path], object]] = {
    "model.safetensors": one_bit("model.safetensors"),
    "players.safetensors": one_bit("players.safetensors"),
    "newest.json": one_bit("newest.json"),
    "progress.png": one_bit("progress.png"),
    "metrics.jsonl": lambda folder: (folder / "metrics.jsonl").write_text("{}\n"),
    "evaluation.json": lambda folder: (folder / "evaluation.json").unlink(),
    "config.json.partial": lambda folder: (folder / "config.json.partial").touch(),
    NEWEST: lambda folder: one_bit(f"checkpoint/{newest(folder)}.safetensors")(folder),
    HALVES: lambda folder: (folder / "checkpoint" / "9.safetensors.partial").touch(),
    EVENTS: told_again,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_difference_is_found(name: str, whole: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(whole, tmp_path / "it"))
    CHANGES[name](other)
    assert differences(left_behind(whole), left_behind(other)) == [name]


def test_halves_are_what_a_killed_process_was_writing_or_removing(tmp_path: Path) -> None:
    place = tmp_path / "checkpoint"
    assert (halves(tmp_path), newest(tmp_path)) == (set(), 0)
    place.mkdir()
    for name in ("2.safetensors", "3.json", "3.safetensors", "4.json", "4.safetensors", "5.safetensors"):
        (place / name).touch()
        os.utime(place / name, ns=(7, 7))
    assert halves(tmp_path) == {("2.safetensors", 7), ("5.safetensors", 7)}
    assert newest(tmp_path) == 4
