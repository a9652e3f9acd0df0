"""A full disk: a limit on the size of files lets the operating system refuse the bytes, wherever a run is writing."""

import os
import re
import resource
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from selfplay.learning.loop import Record
from selfplay.learning.screen import Screen
from tests.children import Ended, run
from tests.runs import (
    DQN,
    OFTEN,
    assert_same,
    content_of,
    often,
)

SHORT = [*DQN, "--total-steps", "320", "--eval-every", "160"]


def full_from(name: str) -> None:
    """Let the operating system refuse every byte once a file whose path has this part is opened to be written."""

    def watch(event: str, args: tuple[object, ...]) -> None:
        path, flags = str(args[0]) if args else "", args[2] if len(args) > 2 else 0
        if event == "open" and name in path and isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))  # Python ignores its signal

    often()
    sys.addaudithook(watch)


def start(args: Sequence[str], folder: Path, before: Callable[[], object] = often) -> Ended:
    """Begin a run that writes a checkpoint as often as possible."""
    return run("train", [*args, *OFTEN, "--run-dir", str(folder)], before)


def resume(folder: Path) -> Ended:
    return run("train", ["--resume", str(folder)], often)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run whose disk is never full."""
    folder = tmp_path_factory.mktemp("whole") / "it"
    assert start(SHORT, folder).status == 0
    return folder


def advised(ended: Ended) -> Ended:
    """Type what a run that has stopped gives as the way out, now that there is room."""
    way_out = r"once it can, (.*) (?:continues it from the last checkpoint|begins it again)$"
    [words] = re.findall(way_out, ended.complaint, re.MULTILINE)
    _, _, args = words.partition(" train ")
    return run("train", shlex.split(args), often)


def assert_stopped_in_a_line(ended: Ended, folder: Path) -> None:
    """Assert that a run has ended because of the disk, and has said so without a traceback."""
    assert ended.status == 2
    *notices, last = ended.complaint.splitlines()
    assert last.startswith(f"selfplay train: {folder}/")
    assert ": cannot be written (File too large); once it can, " in last
    said = r": no checkpoint could be written \(File too large\); (the last one stays|the run goes on without)$"
    assert all(re.search(said, notice) for notice in notices)


@pytest.mark.parametrize(
    "name",
    [
        "metrics.jsonl",
        "events.out.tfevents",
        "checkpoint/1-",
        "checkpoint/7-",
        "model.safetensors",
        "snapshots/",
        "latest.json",
        "evaluation.json",
        "progress.png",
    ],
)
def test_a_run_whose_disk_is_full_stops_in_a_line_and_loses_nothing(name: str, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it"
    ended = start(SHORT, folder, partial(full_from, f"{folder}/{name}"))
    assert_stopped_in_a_line(ended, folder)
    again = advised(ended)
    assert again.status == 0
    assert again.complaint in ("", f"{folder}: holds no checkpoint yet; the run begins again\n")
    assert_same(whole, folder)
    assert not list(folder.rglob("*.partial"))


def test_a_run_that_cannot_begin_says_so(tmp_path: Path) -> None:
    ended = start(SHORT, tmp_path / "it", partial(full_from, "config.json"))
    assert_stopped_in_a_line(ended, tmp_path / "it")
    assert ended.complaint.endswith(" start the run again, or choose another --run-dir now\n")
    assert not content_of(tmp_path / "it")
    again = start(SHORT, tmp_path / "it")
    assert (again.status, again.complaint) == (0, "")


def large_files_fail() -> None:
    """Let the disk take everything but checkpoints."""
    often()
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))


def large_files_fail_and_the_disk_is_full_from(name: str) -> None:
    large_files_fail()
    full_from(name)


def test_a_run_without_room_for_a_checkpoint_begins_again(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it"
    full = partial(large_files_fail_and_the_disk_is_full_from, f"{folder}/evaluation.json")
    ended = start(SHORT, folder, full)
    assert_stopped_in_a_line(ended, folder)
    again = advised(ended)
    assert (again.status, again.complaint) == (0, f"{folder}: holds no checkpoint yet; the run begins again\n")
    assert_same(whole, folder)


def test_a_run_goes_on_where_there_is_room_for_all_but_its_checkpoints(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it"
    ended = start(SHORT, folder, large_files_fail)
    gist = "no checkpoint could be written (File too large); the run goes on without"
    assert ended.status == 0
    assert set(ended.complaint.splitlines()) == {f"{folder}/checkpoint: {gist}"}
    assert not list((folder / "checkpoint").iterdir())
    assert (folder / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def output_is_full() -> None:
    """Let standard output, as a log file may be, be on a disk that is full from the first evaluation on."""
    often()
    show = Screen.evaluated

    def fill_and_show(screen: Screen, record: Record) -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
        show(screen, record)

    patch.object(Screen, "evaluated", fill_and_show).start()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device of a full disk")
def test_a_run_whose_output_cannot_be_written_loses_nothing(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it"
    ended = start(SHORT, folder, output_is_full)
    assert ended.status == 2
    assert ended.complaint.count("\n") == 1
    assert "the output: " in ended.complaint
    assert "No space left on device" in ended.complaint
    again = resume(folder)
    assert "is finished" in again.complaint or not again.status
    assert_same(whole, folder)
