"""Run commands in forked processes in which everything is loaded, to kill them or to limit and measure them."""

import contextlib
import io
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

PIPES = ("output", "complaint", "measured")
PATIENCE = 120
"""Seconds after which a process counts as hanging."""
MIB = 1 << 20
FILE_CALLS = ("fsync", "fstat", "replace", "unlink", "mkdir")
"""Functions of the operating system through which a run changes its folder, and `fstat`, which may replace `fsync`."""


class Ended(NamedTuple):
    """Describe how a command ended."""

    status: int
    """The exit status, or a signal with a minus sign."""
    output: str
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


def run(
    command: str,
    args: Sequence[str],
    place: Path,
    before: Callable[[], object] | None = None,
    dies_at: int | None = None,
) -> Ended:
    """Run `train`, `prove`, `play` or `arena`; it prints into pipes in the folder `place`.

    `before` is called first in the process; it must be a function of a module, so that it can be sent there. The
    process kills itself before the operation `dies_at` on a file; with 0 operations are only counted.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fork_server"])
    with contextlib.ExitStack() as pipes:
        ends = [pipes.enter_context(_pipe(place / name)) for name in PIPES]
        process = context.Process(target=_command, args=(command, [*args], place, before, dies_at))
        process.start()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
            raise AssertionError(f"{command} {args} hangs")
        output, complaint, measured = (os.read(end, MIB).decode() for end in ends)
    assert process.exitcode is not None
    mebibytes, calls = measured.split() or ("0", "0")
    return Ended(process.exitcode, output, complaint, int(mebibytes), int(calls))


@contextlib.contextmanager
def _pipe(path: Path) -> Iterator[int]:
    """Make a pipe and open its end for reading; neither a full disk nor a limit on files affects it."""
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield end
    finally:
        os.close(end)
        path.unlink()


def _command(
    command: str, args: list[str], place: Path, before: Callable[[], object] | None, dies_at: int | None
) -> None:
    from selfplay.command_line import run_command  # noqa: PLC0415 (loaded already where this runs)
    from tests.fork_server import COMMANDS  # noqa: PLC0415

    output, complaint, measured = (os.open(place / name, os.O_WRONLY) for name in PIPES)
    for number, end in enumerate((os.open(os.devnull, os.O_RDONLY), output, complaint)):
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
        os.write(measured, f"{mebibytes} {killer.calls if killer else 0}".encode())
