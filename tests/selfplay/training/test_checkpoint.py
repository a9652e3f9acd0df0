"""A checkpoint gives back what was written, and a bad one is refused or passed over, in one line each."""

import hashlib
import os
import pickle
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from selfplay.training.checkpoints import Checkpoints
from selfplay.training.flags import RunFlags

from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.files import locked
from selfplay.learner import State
from selfplay.training import checkpoint_file
from selfplay.training.folder import METRICS
from tests.malicious_files import MALICIOUS_FILES
from tests.runs import content_of, forge, refused

CONFIG = DQNConfig()
EXPECTED = State(
    {"table": torch.zeros(3, 2), "seat": torch.zeros(4, dtype=torch.int64)},
    {"evaluations": 0, "seconds": 0.0, "generator": {"state": 0, "name": "PCG64"}},
)


def numbered(number: int) -> State:
    return State(
        {"table": torch.full((3, 2), number / 7), "seat": torch.arange(4) + number},
        {"evaluations": number, "seconds": number / 3, "generator": {"state": 2**127 + number, "name": "PCG64"}},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a run folder with the checkpoints 2 and 3 of three."""
    (tmp_path / "run").mkdir()
    kept = Checkpoints(tmp_path / "run", CONFIG, RunFlags())
    for number in (1, 2, 3):
        kept.write(numbered(number))
    return tmp_path / "run"


def again(folder: Path) -> Checkpoints:
    return Checkpoints(folder, CONFIG, RunFlags(resume=folder))


def assert_read(found: State | None, number: int) -> None:
    assert found is not None
    assert found.counters == numbered(number).counters
    assert all(torch.equal(found.tensors[name], tensor) for name, tensor in numbered(number).tensors.items())


def test_the_last_checkpoint_is_read_and_the_one_before_it_kept(folder: Path) -> None:
    names = sorted(path.name for path in (folder / "checkpoint").iterdir())
    assert names == ["2.json", "2.safetensors", "3.json", "3.safetensors"]
    kept = again(folder)
    assert_read(kept.read(EXPECTED), 3)
    assert kept.evaluations == 3
    kept.write(numbered(4))
    assert_read(again(folder).read(EXPECTED), 4)
    assert not (folder / "checkpoint" / "2.json").exists()


def test_a_run_without_a_checkpoint_begins_again(tmp_path: Path) -> None:
    Checkpoints(tmp_path, CONFIG, RunFlags())
    assert again(tmp_path).read(EXPECTED) is None


@pytest.mark.parametrize("damaged", [b"", b"[]", pickle.dumps({"table": [1, 2]}), None], ids=str)
@pytest.mark.parametrize("name", ["3.json", "3.safetensors"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(
    folder: Path, name: str, damaged: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "checkpoint" / name
    path.unlink() if damaged is None else path.write_bytes(damaged or path.read_bytes()[:-3])
    kept = again(folder)
    assert_read(kept.read(EXPECTED), 2)
    line = capsys.readouterr().err
    if (folder / "checkpoint" / "3.json").exists():
        assert line.startswith(str(path))
        assert line.endswith("; trying the checkpoint before it\n")
        assert line.count("\n") == 1
    kept.write(numbered(9))  # in place of the damaged one, so that the whole one stays
    assert sorted(path.name for path in (folder / "checkpoint").glob("*.json")) == ["2.json", "3.json"]
    assert_read(again(folder).read(EXPECTED), 9)


@pytest.mark.parametrize("name", ["3.json", "3.safetensors"])
def test_every_bit_counts(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path, chance = folder / "checkpoint" / name, random.Random(1000)
    whole = path.read_bytes()
    harmless = []
    for place in range(len(whole)):
        flipped = bytes([whole[place] ^ 1 << chance.randrange(8)])
        path.write_bytes(whole[:place] + flipped + whole[place + 1 :])
        found = again(folder).read(EXPECTED)
        if "trying the checkpoint before it" in capsys.readouterr().err:
            assert_read(found, 2)
        else:
            assert_read(found, 3)
            harmless.append(whole[place : place + 1])
    assert set(harmless) <= {b" ", b"\n"}  # blanks between the words of JSON


def test_no_whole_checkpoint(folder: Path) -> None:
    for number in (2, 3):
        (folder / "checkpoint" / f"{number}.json").write_text("{")
    line = refused(again(folder).read, EXPECTED)
    assert line == f"{folder / 'checkpoint'}: no checkpoint is whole; start a new run"


OTHER_COUNTERS = "its counters are not those of such a run"


@pytest.mark.parametrize(
    ("changes", "gist"),
    [
        ({"format": 7, "version": "9.1"}, "is a checkpoint in format 7 of version '9.1', this program reads format 1"),
        ({"format": "1"}, "is not a checkpoint of this program"),
        ({"config": None}, "is not a checkpoint of this program"),
        ({"counters": 3}, "is not a checkpoint of this program"),
        ({"counters": {}}, OTHER_COUNTERS),
        ({"counters": {"evaluations": -1}}, OTHER_COUNTERS),
        ({"counters": {"seconds": 1e999}}, OTHER_COUNTERS),
        ({"counters": {"generator": {"state": 1}}}, OTHER_COUNTERS),
        ({"algorithm": "minimax-q"}, "is of a run of 'minimax-q', not of dqn"),
        ({"config": {}}, "--seed was None and now is 0"),
        ({"tensors": {"table": torch.zeros(3, 3)}}, "table must be (3, 2), but is (3, 3)"),
        (
            {"tensors": {"table": torch.zeros(3, 2, dtype=torch.float64)}},
            "table must be torch.float32, but is torch.float64",
        ),
        ({"tensors": {"other": torch.zeros(1)}}, "other must be None, but is (1,)"),
    ],
    ids=str,
)
def test_a_checkpoint_of_another_run_is_refused(folder: Path, changes: dict[str, Any], gist: str) -> None:
    forge(folder, **changes)
    assert gist in refused(again(folder).read, EXPECTED)


def test_a_header_that_promises_more_than_memory_holds_is_refused(folder: Path) -> None:
    path = folder / "checkpoint" / "3.safetensors"
    MALICIOUS_FILES["terabytes"](path)
    forge(folder, tensors_sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    assert_read(again(folder).read(EXPECTED), 2)


def test_a_full_disk_leaves_what_was_there_and_may_have_room_again(folder: Path) -> None:
    kept, before = again(folder), content_of(folder)
    kept.read(EXPECTED)
    with patch("os.fsync", side_effect=OSError(28, "No space left on device")):
        kept.write(numbered(4))
    assert content_of(folder) == before
    kept.write(numbered(4))
    assert_read(again(folder).read(EXPECTED), 4)


def test_files_reach_the_disk_before_the_checkpoint_counts_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = []
    fsync = os.fsync

    def recorded(handle: int) -> None:
        events.append(os.fstat(handle).st_ino)
        fsync(handle)

    (folder / METRICS).write_text("{}\n")
    kept = again(folder)
    kept.read(EXPECTED)
    monkeypatch.setattr(os, "fsync", recorded)
    kept.write(numbered(4))
    order = [METRICS, "checkpoint/4.safetensors", "checkpoint/4.json", "checkpoint"]
    assert events == [(folder / name).stat().st_ino for name in order]


def test_a_checkpoint_is_due_after_the_interval_and_later_if_writing_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    kept = Checkpoints(tmp_path, CONFIG, RunFlags(checkpoint_interval=10))

    def write_whole(*_: object) -> None:
        nonlocal now
        now += 1.0  # twice: the tensors and the JSON

    monkeypatch.setattr(checkpoint_file, "write_whole", write_whole)
    monkeypatch.setattr(checkpoint_file, "sync", lambda _: None)
    now = 109.9
    assert not kept.due(1)
    now = 110.0
    assert kept.due(1)
    kept.write(numbered(1))  # takes 2 s, of which 2 % are 100 s
    now = 211.9
    assert not kept.due(1)
    now = 212.1
    assert kept.due(1)


def test_a_folder_that_is_none_cannot_be_locked(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be opened"), locked(tmp_path / "nowhere"):
        pass
