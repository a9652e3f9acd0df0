"""A run folder whose files are whole, but not what this program writes, or of another machine, is refused in a line."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from selfplay.algorithms import read_settings
from selfplay.commands import train
from tests.runs import DQN, TABULAR, Stopper, forge, in_parts, left_behind, newest, refused, stopped
from tests.selfplay.runs.test_full_disk import mounted


def test_a_run_goes_on_where_it_began_whatever_auto_is_there(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    folder = stopped(tmp_path / "it", stopper, [*DQN, "--device", "auto"])
    assert getattr(read_settings(folder)[0], "device", "") == "cpu"
    train.main(["--resume", str(folder)])


def test_a_run_of_another_device_goes_on_by_force(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    folder = stopped(tmp_path / "it", stopper)
    config = json.loads((folder / "config.json").read_text())
    config["config"]["device"] = "cuda"
    (folder / "config.json").write_text(json.dumps(config))
    forge(folder, {"generator": torch.zeros(8_192, dtype=torch.uint8)}, config={"device": "cuda"})  # as if it were
    assert refused(["--resume", str(folder)]).endswith("has no CUDA; use --device cpu")
    message = refused(["--resume", str(folder), "--device", "cpu"])
    assert "--device was 'cuda' and now is 'cpu' (--force takes them)" in message
    train.main(["--resume", str(folder), "--device", "cpu", "--force"])
    assert getattr(read_settings(folder)[0], "device", "") == "cpu"
    assert left_behind(folder)["metrics"][-1]["plies"] == 2_400


@pytest.mark.parametrize(
    ("args", "stop"), [(["--total-steps", "960"], 70), (["--total-steps", "1120"], 70), (["--total-steps", "96"], 20)]
)
def test_a_run_is_not_made_shorter_than_it_is(args: list[str], stop: int, tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper, stop=stop)
    played = {70: "1,120", 20: "320"}[stop]
    message = refused(["--resume", str(folder), *args, "--force"])
    assert message == f"--total-steps must be above what has been played, {played}, got {args[1]}"


@pytest.mark.parametrize("algorithm", ["minimax-q", "td-backup"])
def test_a_tabular_run_is_not_made_shorter_but_may_be_evaluated_more_often(
    algorithm: str, tmp_path: Path, stopper: Stopper
) -> None:
    folder = stopped(tmp_path / "it", stopper, [algorithm, *TABULAR], stop=4)
    message = refused(["--resume", str(folder), "--games", "200", "--force"])
    assert message == "--games must be above what has been played, 280, got 200"
    train.main(["--resume", str(folder), "--eval-every", "100", "--force"])
    assert [line["games"] for line in left_behind(folder)["metrics"]][:3] == [400, 500, 600]


@pytest.mark.parametrize(
    ("tensors", "changes"),
    [
        ({"agent_0.updates": torch.tensor(-1)}, {}),
        ({"agent_0.memory_added": torch.tensor(-5)}, {}),
        ({"boards.mover": torch.full((16,), -1)}, {}),
        ({"boards.mover": torch.full((16,), 1 << 40)}, {}),
        ({"boards.mover": torch.zeros(16, dtype=torch.int64), "boards.opponent": torch.full((16,), 7)}, {}),
        ({"boards.ply": torch.full((16,), 9)}, {}),
        ({}, {"counters": {"proofs": 7}}),
        ({}, {"counters": {"updates": 10**30}}),
        ({}, {"counters": {"due": 10**30}}),
        ({"generator": torch.zeros(8_192, dtype=torch.uint8)}, {}),
        ({}, {"counters": {"seconds": 1e300}}),
        ({}, {"counters": {"plies": 10**12}}),
        ({}, {"counters": {"evaluations": 10**15}}),
    ],
    ids=str,
)
def test_a_forged_checkpoint_is_refused(
    tensors: Mapping[str, torch.Tensor], changes: dict[str, Any], tmp_path: Path, stopper: Stopper
) -> None:
    folder = stopped(tmp_path / "it", stopper)
    forge(folder, tensors, **changes)
    message = refused(["--resume", str(folder)])
    assert re.search("not one of such a run|no state of a generator|its counters|must", message)


@pytest.mark.parametrize(
    "counters",
    [
        {"games_played": 0},
        {"games_played": 10**13},
        {"games_played": 1_000, "evaluations": 0},
        {"counts": {"draws": 10**9, "first_wins": 0, "second_wins": 0, "first_illegal": 0, "second_illegal": 0}},
        {
            "generator": {
                "bit_generator": "PCG64",
                "state": {"state": 1 << 200, "inc": 1},
                "has_uint32": 0,
                "uinteger": 0,
            }
        },
    ],
    ids=str,
)
def test_forged_counters_of_a_table_are_refused(counters: dict[str, Any], tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper, ["minimax-q", *TABULAR], stop=4)
    forge(folder, counters=counters)
    message = refused(["--resume", str(folder)])
    assert re.search("not one of such a run|no state of a generator|--games must be above", message)


def test_a_checkpoint_of_no_settings_is_resumed_by_force(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    forge(folder, counters={"proofs": 0}, version="0.0.1")
    path = folder / "checkpoint" / f"{newest(folder)}.json"
    content = json.loads(path.read_text())
    forge(folder, config=None)
    assert "is not a checkpoint of this program" in refused(["--resume", str(folder)])
    path.write_text(json.dumps(content))
    train.main(["--resume", str(folder)])


@pytest.mark.parametrize(
    "changes",
    [
        {"plies": "960"},
        {"plies": -1},
        {"plies": 10**30},
        {"plies": True},
        {"plies": None},
        {"loss/td": float("nan")},
        {"loss/td": 10**400},
        {"loss/td": None},
        {"\ud800": 1},
        {"eval/first/best_response": 3},
        {"eval/second/losses": "many"},
        {"padding" * 10_000: 1},
    ],
    ids=lambda changes: str(changes)[-60:].encode("ascii", "replace").decode(),
)
def test_a_record_that_no_run_writes_is_refused(changes: dict[str, Any], tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    path = folder / "metrics.jsonl"
    line = json.loads(path.read_text())
    path.write_text(json.dumps(line | changes) + "\n")
    gist = "metrics.jsonl: must have 1 whole lines, as its checkpoint counts, but line 1 is none; restore it"
    assert gist in refused(["--resume", str(folder)])
    for name in ("plies", "time/training_s", "eval/first/losses", "eval/second/best_response"):
        path.write_text(json.dumps({key: value for key, value in line.items() if key != name}) + "\n")
        assert gist in refused(["--resume", str(folder)])
    path.write_text(json.dumps(line) + "\n")
    train.main(["--resume", str(folder)])


def test_a_disk_that_is_read_only_is_named(tmp_path: Path, stopper: Stopper) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mounted("size=9m", disk):
        pytest.skip("a disk can be mounted by root alone")
    try:
        folder = stopped(disk / "it", stopper)
        assert mounted("remount,ro", disk)
        gist = "is not writable; copy the run elsewhere and resume it there"
        assert refused(["--resume", str(folder)]) == f"{folder}: {gist}"
        assert "cannot be made (Read-only file system)" in refused(["--run-dir", str(disk / "other")])
        assert mounted("remount,rw", disk)
        in_parts(DQN, disk / "other", stopper, [])
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_what_even_root_may_not_change_is_named(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    for path, gist in (
        (folder, "it: is not writable; copy the run elsewhere and resume it there"),
        (folder / "metrics.jsonl", "metrics.jsonl: cannot be written (Operation not permitted); once it can, "),
    ):
        if subprocess.run(["chattr", "+i", str(path)], check=False, capture_output=True).returncode:
            pytest.skip("only root may make a file immutable, and not on every disk")
        try:
            assert gist in refused(["--resume", str(folder)])
        finally:
            subprocess.run(["chattr", "-i", str(path)], check=True)
    train.main(["--resume", str(folder)])
