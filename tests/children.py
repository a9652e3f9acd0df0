"""Commands in processes of their own, forked from one in which everything is loaded, to be killed or kept short."""

import contextlib
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
"""Seconds after which a process hangs."""
MIB = 1 << 20

FILE_CALLS = ("fsync", "fstat", "replace", "unlink", "mkdir")
"""Functions of the operating system through which a run changes its folder, and the one that replaces `fsync`."""


class Ended(NamedTuple):
    """Say how a command has ended."""

    status: int
    """The exit status, or a signal with a minus sign."""
    output: str
    complaint: str
    mebibytes: int
    """What the command took beyond what the process had."""
    seconds: float
    """Of the processor, not of the clock, which others hold up."""
    calls: int
    """Functions that it called, if they were to be counted."""


class Dying:
    """Count the calls of FILE_CALLS, and kill the process before the nth; 0 never does."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, called: Any) -> None:
        """Be told of a call, as `sys.setprofile` does."""
        del frame
        if event == "c_call" and called.__name__ in FILE_CALLS and called.__module__ == os.fsync.__module__:
            self.calls += 1
            if self.calls == self.number:
                os.kill(os.getpid(), signal.SIGKILL)


class Setting(NamedTuple):
    """Say in which circumstances a command runs."""

    before: Callable[[], None] | None = None
    """Called first in the process; a function of a module, so that it can be sent there."""
    dies_at: int | None = None
    """Call before which it kills itself; 0 counts calls only."""


def run(command: str, args: Sequence[str], place: Path, setting: Setting | None = None) -> Ended:
    """Run `train`, `prove`, `play` or `arena` with these arguments; it prints into pipes in the folder `place`."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fork_server"])
    with contextlib.ExitStack() as pipes:
        ends = [pipes.enter_context(_pipe(place / name)) for name in PIPES]
        process = context.Process(target=_command, args=(command, [*args], place, setting or Setting()))
        process.start()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
            raise AssertionError(f"{command} {args} hangs")
        output, complaint, measured = (os.read(end, MIB).decode() for end in ends)
    assert process.exitcode is not None
    mebibytes, seconds, calls = measured.split() or ("0", "0", "0")
    return Ended(process.exitcode, output, complaint, int(mebibytes), float(seconds), int(calls))


@contextlib.contextmanager
def _pipe(path: Path) -> Iterator[int]:
    """Make a pipe and open its end to read from; a full disk and a limit on files leave it as it is."""
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield end
    finally:
        os.close(end)
        path.unlink()


def _command(command: str, args: list[str], place: Path, setting: Setting) -> None:
    from selfplay.command_line import run_command  # noqa: PLC0415 (loaded already where this runs)
    from tests.fork_server import COMMANDS  # noqa: PLC0415

    output, complaint, measured = (os.open(place / name, os.O_WRONLY) for name in PIPES)
    for number, end in enumerate((os.open(os.devnull, os.O_RDONLY), output, complaint)):
        os.dup2(end, number)
    sys.stdout = os.fdopen(1, "w", closefd=False)  # the inherited ones remember what they were
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    sys.argv = [f"selfplay {command}", *args]
    dying = None if setting.dies_at is None else Dying(setting.dies_at)
    if setting.before is not None:
        setting.before()
    before = resource.getrusage(resource.RUSAGE_SELF)
    sys.setprofile(dying)
    try:
        run_command(COMMANDS[command].main, f"selfplay {command}")
    finally:
        sys.setprofile(None)
        after = resource.getrusage(resource.RUSAGE_SELF)
        mebibytes = (after.ru_maxrss - before.ru_maxrss) * 1024 // MIB
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        os.write(measured, f"{mebibytes} {seconds} {dying.calls if dying else 0}".encode())
