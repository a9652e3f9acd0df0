"""A run that is killed, at whatever moment, and resumed ends with the same bits as one that was left alone."""

import os
import random
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.children import FILE_CALLS, Setting, run
from tests.runs import OFTEN, SMALL, newest, often, same

KILLS = 50
"""Random moments at which a run is killed."""
BEGINNING = "{folder}/checkpoint: holds no checkpoint yet; the run begins again\n"

DQN = [*SMALL, "--total-steps", "960", "--eval-every", "320", "--seed", "1000", "--stop", "never"]
TD_VALUE = ["td-value", "--games", "1200", "--eval-every", "400", "--seed", "1000"]


def often_and_quickly() -> None:
    """Do so without waiting for the disk, which a process need not have done for its files to outlive it."""
    often()
    os.fsync = os.fstat  # type: ignore[assignment]


@pytest.mark.parametrize("args", [DQN, TD_VALUE], ids=["dqn", "td-value"])
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(args: Sequence[str], tmp_path: Path) -> None:
    """Moments are calls of C functions, so that a process dies as likely in the middle of one thing as of another."""
    whole, chance = tmp_path / "whole", random.Random(1000)
    done = run("train", [*args, *OFTEN, "--run-dir", str(whole)], tmp_path, Setting(often_and_quickly, 0))
    assert (done.status, done.complaint) == (0, "")
    found: list[int] = []
    kills = 0
    folder = tmp_path / "it"
    beginning = BEGINNING.format(folder=folder)
    while kills < KILLS:
        finished = False
        while not finished:
            begun = (folder / "config.json").exists()
            start = ["--resume", str(folder)] if begun else [*args, "--run-dir", str(folder)]
            moment = chance.randrange(1, done.calls // 3)
            ended = run("train", [*start, *OFTEN], tmp_path, Setting(often_and_quickly, moment))
            kills += ended.status == -signal.SIGKILL
            found.append(newest(folder))
            finished = ended.status == 0 or "is finished" in ended.complaint
            assert finished or (ended.status, ended.complaint.replace(beginning, "")) == (-signal.SIGKILL, "")
        same(whole, folder)
        shutil.rmtree(folder)
    print("checkpoints", found)
    assert len(found) > kills
    assert len(set(found)) >= KILLS // 3, "most processes were killed before their next checkpoint"


@pytest.mark.parametrize(
    "args",
    [
        [*SMALL, "--warmup", "16", "--total-steps", "48", "--eval-every", "32", "--seed", "1000"],
        ["td-backup", "--games", "60", "--greedy-games", "10", "--eval-every", "40", "--seed", "1000"],
    ],
    ids=["dqn", "td-backup"],
)
def test_a_run_killed_before_any_change_of_a_file_ends_with_the_same_bits(args: Sequence[str], tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    done = run("train", [*args, *OFTEN, "--run-dir", str(whole)], tmp_path, Setting(often_and_quickly, 0, FILE_CALLS))
    assert (done.status, done.complaint) == (0, "")
    assert newest(whole) == 4
    resumed = 0
    for number in range(1, done.calls + 1):
        folder = tmp_path / str(number)
        setting = Setting(often_and_quickly, number, FILE_CALLS)
        died = run("train", [*args, *OFTEN, "--run-dir", str(folder)], tmp_path, setting)
        assert died.status == -signal.SIGKILL
        begun, kept = (folder / "config.json").exists(), newest(folder) > 0
        start = ["--resume", str(folder)] if begun else [*args, "--run-dir", str(folder)]
        again = run("train", start, tmp_path, Setting(often_and_quickly))
        if "is finished" not in again.complaint:
            assert (again.status, again.complaint) == (0, BEGINNING.format(folder=folder) if begun and not kept else "")
            resumed += 1
        same(whole, folder)
        assert len(list((folder / "checkpoint").iterdir())) == 4, "two checkpoints, and no part of another"
        assert not list(folder.rglob("*.partial"))
        shutil.rmtree(folder)
    assert resumed > 30
