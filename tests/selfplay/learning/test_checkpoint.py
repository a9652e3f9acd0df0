"""A checkpoint gives back what was written; a damaged one is passed over, and one of another network refused."""

import os
from pathlib import Path

import pytest
import torch

from selfplay.dqn.config import DQNConfig
from selfplay.learner import State
from selfplay.learning import checkpoint
from selfplay.learning.checkpoint import Checkpoint, Checkpoints
from selfplay.learning.folder import METRICS
from selfplay.learning.loop import Progress
from tests.runs import last_checkpoint

CONFIG = DQNConfig()
EXPECTED = {"table": torch.zeros(3, 2), "seat": torch.zeros(4, dtype=torch.int64)}


def write(checkpoints: Checkpoints, number: int) -> None:
    tensors = {"table": torch.full((3, 2), number / 7), "seat": torch.arange(4) + number}
    checkpoints.write(State(tensors, {"generator": 2**127 + number}), Progress(number * 10, number / 3, 1, number))


def again(folder: Path) -> Checkpoints:
    return Checkpoints(folder, CONFIG, 60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a run folder with the last two of three checkpoints."""
    checkpoints = again(tmp_path)
    for number in (1, 2, 3):
        write(checkpoints, number)
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(path.name.split("-")[0] for path in (folder / "checkpoint").iterdir())


def assert_read(found: Checkpoint | None, number: int) -> None:
    assert found is not None
    assert found.state.counters == {"generator": 2**127 + number}
    assert torch.equal(found.state.tensors["table"], torch.full((3, 2), number / 7))
    assert torch.equal(found.state.tensors["seat"], torch.arange(4) + number)
    assert found.progress == Progress(number * 10, number / 3, 1, number)
    assert (found.settings["seed"], found.settings["hidden"]) == (0, [256])


def test_the_last_checkpoint_is_read_and_the_one_before_it_stays(folder: Path) -> None:
    assert files(folder) == ["2", "3"]
    checkpoints = again(folder)
    assert_read(checkpoints.read(EXPECTED), 3)
    write(checkpoints, 4)
    assert files(folder) == ["3", "4"]
    assert_read(again(folder).read(EXPECTED), 4)


def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = last_checkpoint(folder)
    *content, last = path.read_bytes()
    path.write_bytes(bytes([*content, last ^ 1]))  # a number of a tensor, so that the checksum alone can notice
    checkpoints = again(folder)
    assert_read(checkpoints.read(EXPECTED), 2)
    damage = "is damaged (its checksum differs); trying the checkpoint before it"
    assert capsys.readouterr().err == f"{path}: {damage}\n"
    write(checkpoints, 9)  # the whole one stays beside it
    assert files(folder) == ["2", "4"]
    assert_read(again(folder).read(EXPECTED), 9)


def test_files_reach_the_disk_before_the_checkpoint_counts_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed = []
    fsync = os.fsync

    def record_and_flush(handle: int) -> None:
        flushed.append(os.fstat(handle).st_ino)
        fsync(handle)

    (folder / METRICS).write_text("{}\n")
    monkeypatch.setattr(os, "fsync", record_and_flush)
    write(again(folder), 4)
    order = [folder / METRICS, last_checkpoint(folder), folder / "checkpoint"]
    assert flushed == [path.stat().st_ino for path in order]


def test_a_checkpoint_is_due_after_the_interval_and_later_if_writing_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    checkpoints = Checkpoints(tmp_path, CONFIG, 10)

    def write_slowly(*_: object) -> None:
        nonlocal now
        now += 2.0

    monkeypatch.setattr(checkpoint, "write_whole", write_slowly)
    due = []
    for moment in (109.9, 110.0, 211.9, 212.1):
        now = moment
        due.append(checkpoints.due())
        if moment == 110.0:
            write(checkpoints, 1)  # takes 2 s, which are 2 % of 100 s
    assert due == [False, True, False, True]
