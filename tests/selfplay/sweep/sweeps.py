"""Small sweeps in processes of their own, and what tests do to them."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.sweeps.processes import start
from selfplay.sweep import report_pages, results, state

SMALL = ("hidden=16", "num_envs=16", "batch_size=32", "memory_size=700", "warmup=64", "eval_every=4800", "device=cpu")
LENGTH = 24_000
"""Plies of a run, about two seconds."""
PATIENCE = 180
"""Seconds after which a sweep hangs."""


def flags(*more: str | Path) -> list[str]:
    """Return the flags of a sweep of small runs with a checkpoint whenever one may be written."""
    sets = [word for value in (*SMALL, f"total_steps={LENGTH}") for word in ("--set", value)]
    return [*sets, "--checkpoint-interval", "0.01", *map(str, more)]


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


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)


def report(folder: Path) -> dict[str, bytes]:
    """Make the report of a sweep and return its files but for those of times and hosts."""
    sweep = state.read(folder)
    report_pages.write(sweep, results.read(sweep), folder / "report")
    return {path.name: path.read_bytes() for path in (folder / "report").iterdir() if path.is_file()}
