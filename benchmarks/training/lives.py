"""The life of a run that is killed at some moments and goes on each time, until it ends.

Each of its processes is forked from this one, in which everything is imported, compiled and drawn once. A run that is
killed while Python imports its modules, which takes seconds, has changed nothing on the disk yet.
"""

import contextlib
import io
import json
import multiprocessing
import os
import shutil
import signal
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.training.left_behind import differences, halves, left_behind, newest
from selfplay.cli import train
from selfplay.command_line import USER_ERROR, run_command
from selfplay.errors import UserError
from selfplay.program import command
from selfplay.tabular import learners
from selfplay.training import checkpoints
from selfplay.training.folder import CHECKPOINTS, CONFIG

PATIENCE = 300.0
"""Seconds after which a process hangs that nobody kills."""
SLICE = 150
"""Games in one call of a compiled loop, after which a checkpoint may be due."""
RUN = "run"
"""The name of every folder, because `progress.png` shows it."""
COMPLAINT = "complaint"
"""The file beside it into which a process prints what it complains of."""


class Whole(NamedTuple):
    """Hold what a run has come to that nobody killed."""

    args: Sequence[str]
    """The settings that it was started with."""
    flags: Sequence[str]
    """How each of its processes goes about it."""
    left: dict[str, object]
    seconds: float
    """Median of those that were timed."""


class Ended(NamedTuple):
    """Say how a process has ended."""

    status: int
    """The exit status, or a signal with a minus sign."""
    lines: list[str]
    """What it complained of."""
    seconds: float


class Kill(NamedTuple):
    """Say what a killed process has left."""

    begun: bool
    """Whether the settings were written, so that the run is resumed and not started again."""
    kept: bool
    """Whether there was a checkpoint."""
    writing: bool
    """Whether it was about to write or to remove one, of which a part was left."""
    ended: bool
    """Whether the run had written all that it comes to."""


class Life(NamedTuple):
    """Hold the kills of a run that has ended, and what is wrong with it."""

    kills: list[Kill]
    different: list[str]
    """What it has left that is not that of a run that nobody killed."""
    stuck: str
    """What the process said that could not go on in the folder; empty if all could."""
    complaints: list[str]
    """Lines that no process should print that goes on after a kill: of damaged checkpoints, above all."""
    seconds: float
    """Of its last process; without a kill, of all of it."""


def unkilled(args: Sequence[str], flags: Sequence[str], place: Path, times: int) -> Whole:
    """Train in this process, so that everything is loaded in it, and then so often in one that is forked from it.

    Raises:
        UserError: it fails, or not all come to the same bits.
    """
    start = [*args, *flags, "--run-dir", str(place / RUN)]
    with contextlib.redirect_stdout(io.StringIO()):
        train.main(start)
    left, seconds = left_behind(place / RUN), []
    shutil.rmtree(place / RUN)
    for _ in range(times):
        ended = process(start, place)
        if ended.status != 0 or ended.lines:
            raise UserError(f"{command('train', *args)} fails without being killed: {' '.join(ended.lines[-1:])}")
        if different := differences(left, left_behind(place / RUN)):
            raise UserError(f"{command('train', *args)} differs without being killed: {', '.join(different)}")
        seconds.append(ended.seconds)
        shutil.rmtree(place / RUN)
    return Whole(args, flags, left, statistics.median(seconds))


def live(whole: Whole, place: Path, moments: Iterator[float], most: int) -> Life:
    """Start a run, kill its processes at these moments, so many at most, and let it go on until it ends.

    A moment is in seconds from the start of a process; a process that has ended by then is not killed. The folder is
    gone afterwards.
    """
    folder = place / RUN
    beginning = f"{folder / CHECKPOINTS}: holds no checkpoint yet; the run begins again"
    kills: list[Kill] = []
    complaints: list[str] = []
    while True:
        begun, kept, had_ended, before = (folder / CONFIG).exists(), newest(folder), _ended(folder), halves(folder)
        start = ["--resume", str(folder)] if begun else [*whole.args, "--run-dir", str(folder)]
        moment = next(moments) if len(kills) < most else None
        status, lines, seconds = process([*start, *whole.flags], place, moment)
        if begun and not kept and lines[:1] == [beginning]:
            del lines[0]
        if status != -signal.SIGKILL or moment is None:
            break
        complaints += lines
        writing = bool(halves(folder) - before)
        kills.append(Kill((folder / CONFIG).exists(), newest(folder) > 0, writing, _ended(folder)))
    finished = status == 0 or (status == USER_ERROR and had_ended and any("is finished" in line for line in lines))
    stuck = "" if finished else f"exit status {status}: {' '.join(lines[-1:])}"
    different = differences(whole.left, left_behind(folder)) if finished else []
    life = Life(kills, different, stuck, complaints + (lines if status == 0 else []), seconds)
    shutil.rmtree(folder, ignore_errors=True)
    return life


def process(args: Sequence[str], place: Path, moment: float | None = None) -> Ended:
    """Run `selfplay train` in a process of its own, which is killed if it lasts longer than so many seconds."""
    complaint = place / COMPLAINT
    complaint.write_bytes(b"")
    forked = multiprocessing.get_context("fork").Process(target=_train, args=(args, complaint))
    forked.start()
    started = time.perf_counter()
    try:
        forked.join(PATIENCE if moment is None else moment)
        seconds = time.perf_counter() - started
    finally:
        forked.kill()
        forked.join()
    assert forked.exitcode is not None
    return Ended(forked.exitcode, complaint.read_text().splitlines(), seconds)


def _train(args: Sequence[str], complaint: Path) -> None:
    """Train with a checkpoint whenever one is due, however slow they are, and also after a few games."""
    checkpoints.LARGEST_SHARE = float("inf")
    learners.SLICE = SLICE
    for number, path in ((1, Path(os.devnull)), (2, complaint)):
        os.dup2(os.open(path, os.O_WRONLY), number)
    run_command(train.main, "selfplay train", args)


def _ended(folder: Path) -> bool:
    """Tell whether a run's newest checkpoint is marked as that of a finished run."""
    with contextlib.suppress(OSError, ValueError):
        content = json.loads((folder / CHECKPOINTS / f"{newest(folder)}.json").read_text())
        return bool(content["finished"])
    return False
