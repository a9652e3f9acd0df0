"""Runs in processes of their own, which kill themselves on the way; `tests.fork_server` forks them."""

import contextlib
import io
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import selfplay
from selfplay.runs import run
from selfplay.tabular import learners as tabular
from tests.runs import without_plots

PATIENCE = 120
"""Seconds after which a run counts as hanging."""
FILE_CALLS = ("fsync", "fstat", "replace", "unlink", "mkdir")
"""Functions of the operating system through which a run changes its folder, and `fstat`, which replaces `fsync`."""


class Ended(NamedTuple):
    """How a run ended."""

    status: int
    """The exit status, or a signal with a minus sign."""
    complaint: str
    calls: int
    """Operations on files."""


class Killer:
    """Count the operations on files, and kill the process before the operation `number`; 0 never does."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, called: Any) -> None:
        """Handle a call, as `sys.setprofile` wants it."""
        del frame
        if event != "c_call":
            return
        of_system = called.__name__ in FILE_CALLS and called.__module__ == os.fsync.__module__
        written = called.__name__ == "write" and isinstance(getattr(called, "__self__", None), io.BufferedWriter)
        if of_system or written:
            self.calls += 1
            if self.calls == self.number:
                os.kill(os.getpid(), signal.SIGKILL)


def often_and_quickly() -> None:
    """Write a checkpoint after every step or few games, and do not wait for the disk: kills lose nothing written.

    The call that replaces `fsync` comes at the same place, and the process can be killed there.
    """
    run.LARGEST_SHARE = float("inf")
    tabular.SLICE = 20
    os.fsync = os.fstat  # type: ignore[assignment]
    without_plots(setattr)


def train(algorithm: str | None, settings: Mapping[str, Any], dies_at: int) -> Ended:
    """Train in a process that kills itself before the operation `dies_at` on a file; 0: it only counts them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fork_server"])
    ours, theirs = context.Pipe(duplex=False)
    with ours, theirs:
        process = context.Process(target=_train, args=(algorithm, dict(settings), dies_at, theirs))
        process.start()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
            raise AssertionError(f"a run of {algorithm} with {settings} hangs")
        complaint, calls = ours.recv() if ours.poll() else ("", 0)
    assert process.exitcode is not None
    return Ended(process.exitcode, complaint, calls)


def _train(algorithm: str | None, settings: dict[str, Any], dies_at: int, result: Connection) -> None:
    often_and_quickly()
    killer, complaint = Killer(dies_at), ""
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):
        sys.setprofile(killer)
        try:
            selfplay.train(algorithm, **settings, checkpoint_interval=1e-9, progress=False)
        except Exception:
            complaint = traceback.format_exc()
        sys.setprofile(None)
    result.send((complaint, killer.calls))
    sys.exit(2 if complaint else 0)
