"""A run that is killed before any change of a file, and resumed, ends with the same bits as one that was left alone.

At random moments they are killed by `python -m tests.crash_and_resume`.
"""

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.children import Setting, run
from tests.runs import OFTEN, SMALL, assert_same, checkpoint_number, often

BEGINNING = "{folder}/checkpoint: holds no checkpoint yet; the run begins again\n"


def often_and_quickly() -> None:
    """Write checkpoints often, and do not wait for the disk: files outlive a process without that."""
    often()
    os.fsync = os.fstat  # type: ignore[assignment]


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
    done = run("train", [*args, *OFTEN, "--run-dir", str(whole)], tmp_path, Setting(often_and_quickly, 0))
    assert (done.status, done.complaint) == (0, "")
    assert checkpoint_number(whole) == 4
    resumed = 0
    for number in range(1, done.calls + 1):
        folder = tmp_path / str(number)
        setting = Setting(often_and_quickly, number)
        died = run("train", [*args, *OFTEN, "--run-dir", str(folder)], tmp_path, setting)
        assert died.status == -signal.SIGKILL
        begun, kept = (folder / "config.json").exists(), checkpoint_number(folder) > 0
        start = ["--resume", str(folder)] if begun else [*args, "--run-dir", str(folder)]
        again = run("train", start, tmp_path, Setting(often_and_quickly))
        if "is finished" not in again.complaint:
            assert (again.status, again.complaint) == (0, BEGINNING.format(folder=folder) if begun and not kept else "")
            resumed += 1
        assert_same(whole, folder)
        assert len(list((folder / "checkpoint").iterdir())) == 4, "two checkpoints, and no part of another"
        assert not list(folder.rglob("*.partial"))
        shutil.rmtree(folder)
    assert resumed > 30
