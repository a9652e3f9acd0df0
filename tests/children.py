"""Run commands: in forked processes in which everything is loaded, to kill or measure them, or at a terminal."""

import io
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, NamedTuple

import pexpect

PATIENCE = 120
"""Seconds after which a process counts as hanging."""
MIB = 1 << 20
FILE_CALLS = ("fsync", "fstat", "replace", "unlink", "mkdir")
"""Functions of the operating system through which a run changes its folder, and `fstat`, which may replace `fsync`."""


class Ended(NamedTuple):
    """Describe how a command ended."""

    status: int
    """The exit status, or a signal with a minus sign."""
    complaint: str
    mebibytes: int
    """Memory that the command took beyond that of the process."""
    calls: int
    """Operations on files, if they were counted."""


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


def at_terminal(*args: str) -> pexpect.spawn:
    """Start the program on a pseudo-terminal of its own."""
    return pexpect.spawn(
        sys.executable,
        ["-m", "selfplay", *args],
        timeout=PATIENCE,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )


def run(
    command: str, args: Sequence[str], before: Callable[[], object] | None = None, dies_at: int | None = None
) -> Ended:
    """Run `train`, `prove`, `play` or `arena`, and read what it complains of from a pipe, which no full disk affects.

    `before` is called first in the process; it must be a function of a module, so that it can be sent there. The
    process kills itself before the operation `dies_at` on a file; with 0 operations are only counted.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fork_server"])
    complaint, errors = context.Pipe(duplex=False)
    measured, measures = context.Pipe(duplex=False)
    with complaint, errors, measured, measures:
        process = context.Process(target=_command, args=(command, [*args], errors, measures, before, dies_at))
        process.start()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
            raise AssertionError(f"{command} {args} hangs")
        text = os.read(complaint.fileno(), MIB).decode() if complaint.poll() else ""
        mebibytes, calls = measured.recv() if measured.poll() else (0, 0)
    assert process.exitcode is not None
    return Ended(process.exitcode, text, mebibytes, calls)


def _command(
    command: str,
    args: list[str],
    errors: Connection,
    measures: Connection,
    before: Callable[[], object] | None,
    dies_at: int | None,
) -> None:
    from selfplay.cli.flags import run_command  # noqa: PLC0415 (loaded already where this runs)
    from tests.fork_server import COMMANDS  # noqa: PLC0415

    nowhere = os.open(os.devnull, os.O_RDWR)
    for number, end in enumerate((nowhere, nowhere, errors.fileno())):
        os.dup2(end, number)
    sys.stdout = os.fdopen(1, "w", closefd=False)  # the inherited ones write to the old place
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    sys.argv = [f"selfplay {command}", *args]
    killer = None if dies_at is None else Killer(dies_at)
    if before is not None:
        before()
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.setprofile(killer)
    try:
        run_command(COMMANDS[command].main, f"selfplay {command}")
    finally:
        sys.setprofile(None)
        mebibytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size) * 1024 // MIB
        measures.send((mebibytes, killer.calls if killer else 0))
