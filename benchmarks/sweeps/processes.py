"""A sweep in a process of its own, and the processes that it starts; on Linux."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MEGABYTE = 1_024
"""Kilobytes."""


def start(*args: str) -> subprocess.Popen[str]:
    """Start `selfplay sweep` with these arguments; what it prints is kept."""
    command = [sys.executable, "-m", "selfplay", "sweep", *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and these have."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])

    def below(pid: int) -> Iterator[int]:
        for child, parent in parents.items():
            if parent == pid:
                yield child
                yield from below(child)

    return list(below(process))


def session(leader: int) -> list[int]:
    """Return the processes that `start` and what it started have left at work, also once the first has ended itself."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, number = path.read_text().rpartition(")")[2].split()[:4]
            if int(number) == leader and state != "Z":  # a zombie, which has ended
                found.append(int(path.parent.name))
    return found


def workers(process: int) -> list[int]:
    """Return the workers that a process, or those it has started, has at work."""
    return [pid for pid in descendants(process) if title(pid).startswith(b"ray::train_run")]


def kill(pid: int) -> bool:
    """Kill a process, and tell whether there was one."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def megabytes(pid: int) -> float:
    """Return the memory of a process, of what it shares with others its part; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / MEGABYTE for line in lines if line.startswith("Pss:")), 0.0)


def title(pid: int) -> bytes:
    """Return the command line of a process, or what it calls itself; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
