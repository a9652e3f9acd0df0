"""Sweeps in processes of their own, small ones, and what is done to them on their way."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import terminal
from benchmarks.sweeps.processes import start
from selfplay.sweep import record, report, results

SMALL = ("hidden=16", "num_envs=16", "batch_size=32", "memory_size=700", "warmup=64", "eval_every=4800", "device=cpu")
LENGTH = 24_000
"""Plies of a run: two seconds or so."""
PATIENCE = 180
"""Seconds after which a sweep hangs."""


def flags(*more: str, length: int = LENGTH) -> list[str]:
    """Return the flags of a sweep of small runs with a checkpoint whenever one may be written."""
    sets = [word for value in (*SMALL, f"total_steps={length}") for word in ("--set", value)]
    return [*sets, "--checkpoint-interval", "0.01", *more]


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


def refused(*args: str) -> str:
    """Run `selfplay sweep`, which must refuse these arguments, and return all that it complains of."""
    process = start(*args)
    try:
        output, complaint = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, output) == (2, "")
    return complaint


def interrupt(process: subprocess.Popen[str]) -> None:
    """Press Ctrl-C, of which a terminal tells all that the sweep has started too."""
    os.killpg(process.pid, signal.SIGINT)


def run_on_terminal(*args: str) -> str:
    """Run `selfplay sweep` to its end on a terminal, and return all that it drew there."""
    drawn = bytearray()
    status = terminal.run_on_terminal([sys.executable, "-m", "selfplay", "sweep", *args], drawn.extend)
    assert status == 0, drawn.decode()
    return drawn.decode()


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)


def reported(place: Path) -> dict[str, bytes]:
    """Make the report of a sweep and return its files but for those of times and hosts."""
    sweep = record.read(place)
    report.write(sweep, results.gather(sweep), place / "report")
    return {path.name: path.read_bytes() for path in (place / "report").iterdir() if path.is_file()}
