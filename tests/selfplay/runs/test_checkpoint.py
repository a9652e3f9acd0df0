"""A checkpoint gives back what was written, and a bad one is refused or passed over, in one line each."""

import hashlib
import json
import os
import pickle
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from selfplay.checks import check_changes
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.files import locked
from selfplay.learner import State
from selfplay.runs import checkpoint_file
from selfplay.runs.checkpoints import Checkpoints
from selfplay.runs.flags import RunFlags
from selfplay.runs.folder import METRICS

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


def again(folder: Path, config: DQNConfig = CONFIG, force: bool = False) -> Checkpoints:
    return Checkpoints(folder, config, RunFlags(resume=folder, force=force))


def assert_read(found: State | None, number: int) -> None:
    assert found is not None
    assert found.counters == numbered(number).counters
    assert all(torch.equal(found.tensors[name], tensor) for name, tensor in numbered(number).tensors.items())


def refusal(folder: Path, expected: State = EXPECTED) -> str:
    with pytest.raises(UserError) as caught:
        again(folder).read(expected)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def change(path: Path, **changes: Any) -> None:
    """Change a checkpoint's JSON as another program would write it, with the right checksum."""
    content = json.loads(path.read_text()) | changes
    del content["sha256"]
    checksum = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content | {"sha256": checksum}))


def replace_tensors(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    path = folder / "checkpoint" / "3.safetensors"
    save_file(tensors, path)
    change(path.with_suffix(".json"), tensors_sha256=hashlib.sha256(path.read_bytes()).hexdigest())


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


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 4
    path.write_bytes(content)


def pickled(path: Path) -> None:
    path.write_bytes(pickle.dumps({"table": [1, 2]}))


def listed(path: Path) -> None:
    path.write_text("[]")


@pytest.mark.parametrize("damage", [truncate, flip, pickled, listed, Path.unlink], ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", ["3.json", "3.safetensors"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(
    folder: Path, name: str, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    damage(folder / "checkpoint" / name)
    kept = again(folder)
    assert_read(kept.read(EXPECTED), 2)
    line = capsys.readouterr().err
    if (folder / "checkpoint" / "3.json").exists():
        assert line.startswith(str(folder / "checkpoint" / name))
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
        truncate(folder / "checkpoint" / f"{number}.json")
    assert refusal(folder) == f"{folder / 'checkpoint'}: no checkpoint is whole; start a new run"


@pytest.mark.parametrize(
    ("changes", "gist"),
    [
        ({"format": 7, "version": "9.1"}, "is a checkpoint in format 7 of version '9.1', this program reads format 1"),
        ({"format": "1"}, "is not a checkpoint of this program"),
        ({"counters": 3}, "is not a checkpoint of this program"),
        ({"counters": {}}, "its counters are not those of such a run"),
        ({"counters": dict(numbered(3).counters) | {"evaluations": -1}}, "its counters are not those of such a run"),
        ({"counters": dict(numbered(3).counters) | {"seconds": 1e999}}, "its counters are not those of such a run"),
        (
            {"counters": dict(numbered(3).counters) | {"generator": {"state": 1}}},
            "its counters are not those of such a run",
        ),
        ({"algorithm": "minimax-q"}, "is of a run of 'minimax-q', not of dqn"),
        ({"config": {}}, "--seed was None and now is 0"),
    ],
    ids=str,
)
def test_a_foreign_checkpoint_is_refused(folder: Path, changes: dict[str, Any], gist: str) -> None:
    change(folder / "checkpoint" / "3.json", **changes)
    assert gist in refusal(folder)


@pytest.mark.parametrize(
    ("tensors", "gist"),
    [
        ({"table": torch.zeros(3, 3)}, "table must be (3, 2), but is (3, 3)"),
        ({"table": torch.zeros(3, 2, dtype=torch.float64)}, "table must be torch.float32, but is torch.float64"),
        ({"other": torch.zeros(1)}, "other must be None, but is (1,)"),
    ],
    ids=str,
)
def test_tensors_of_another_run_are_refused(folder: Path, tensors: dict[str, torch.Tensor], gist: str) -> None:
    replace_tensors(folder, load_file(folder / "checkpoint" / "3.safetensors") | tensors)
    assert gist in refusal(folder)


def test_a_header_that_promises_more_than_memory_holds_is_refused(folder: Path) -> None:
    path = folder / "checkpoint" / "3.safetensors"
    huge = {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}
    header = json.dumps({"table": huge}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    change(path.with_suffix(".json"), tensors_sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    assert_read(again(folder).read(EXPECTED), 2)


def test_a_full_disk_leaves_what_was_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = again(folder)
    kept.read(EXPECTED)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("os.fsync", full)
        kept.write(numbered(4))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    gist = "no checkpoint could be written (No space left on device); the last one stays"
    assert capsys.readouterr().err == f"{folder / 'checkpoint'}: {gist}\n"
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


def test_settings_may_only_grow() -> None:
    check_changes(
        {"total_steps": 5, "hidden": (1, 2)}, {"total_steps": 6, "hidden": [1, 2]}, "total_steps", False, "run"
    )
    with pytest.raises(UserError) as caught:
        check_changes({"total_steps": 5, "seed": 1}, {"total_steps": 4, "seed": 2}, "total_steps", False, "run")
    gist = "--seed was 1 and now is 2; --total-steps was 5 and now is 4 (--force takes them)"
    assert str(caught.value) == f"run: other settings than the run has: {gist}"
    check_changes({"total_steps": 5, "seed": 1}, {"total_steps": 4, "seed": 2}, "total_steps", True, "run")


def test_a_folder_is_locked_for_one(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(UserError, match="another process is training in it"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass
    with pytest.raises(UserError, match="cannot be opened"), locked(tmp_path / "nowhere"):
        pass
