"""Sweeps in processes of their own, small ones, and what is done to them on their way."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from selfplay.commands.sweep import record, report, results

SMALL = ("hidden=16", "num_envs=16", "batch_size=32", "memory_size=700", "warmup=64", "eval_every=4800", "device=cpu")
LENGTH = 24_000
"""Plies of a run: two seconds or so."""
PATIENCE = 180
"""Seconds after which a sweep hangs."""


def flags(*more: str, length: int = LENGTH) -> list[str]:
    """Return the flags of a sweep of small runs with a checkpoint whenever one may be written."""
    sets = [word for value in (*SMALL, f"total_steps={length}") for word in ("--set", value)]
    return [*sets, "--checkpoint-interval", "0.01", *more]


def start(*args: str) -> subprocess.Popen[str]:
    """Start `selfplay sweep`."""
    command = [sys.executable, "-m", "selfplay", "sweep", *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def finish(process: subprocess.Popen[str], status: int = 0) -> str:
    """Wait for a sweep, which must complain of nothing, and return what it printed."""
    try:
        output, complaint = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == status, complaint
    assert [line for line in complaint.splitlines() if not line.startswith("selfplay sweep: interrupted")] == []
    return output


def run(*args: str) -> str:
    """Run `selfplay sweep` to its end."""
    return finish(start(*args))


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)


def workers(process: int) -> list[int]:
    """Return the workers of a sweep's process that are at work."""
    return [pid for pid in descendants(process) if b"ray::" in command_line(pid) and b"Worker" in command_line(pid)]


def command_line(pid: int) -> bytes:
    """Return how a process calls itself; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and these have, on Linux."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue

    def below(pid: int) -> Iterator[int]:
        for child, parent in parents.items():
            if parent == pid:
                yield child
                yield from below(child)

    return list(below(process))


def kill(pids: Sequence[int]) -> None:
    """Kill these processes."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def reported(place: Path) -> dict[str, bytes]:
    """Make the report of a sweep and return its files but for those of times and hosts."""
    sweep = record.read(place)
    report.write(sweep, results.gather(sweep), place / "report")
    return {path.name: path.read_bytes() for path in (place / "report").iterdir() if path.is_file()}
