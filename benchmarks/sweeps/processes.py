"""A sweep in a process of its own, and the processes that it starts; on Linux."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

WORKER = "ray::train_run"
"""Title of a process that trains a run."""


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


def programs(process: int, name: str) -> list[int]:
    """Return the processes of a program, as raylet, that a process, or those it has started, has at work."""
    return [pid for pid in descendants(process) if Path(title(pid).partition("\0")[0]).name.startswith(name)]


def workers(process: int) -> list[int]:
    """Return the workers that a process, or those it has started, has at work."""
    return programs(process, WORKER)


def kill(pid: int) -> bool:
    """Kill a process, and tell whether there was one."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def title(pid: int) -> str:
    """Return the command line of a process, or what it calls itself; nothing if it has ended."""
    try:
        return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return ""
