"""Small sweeps in processes of their own."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.sweeps.processes import start

SMALL = ("hidden=16", "num_envs=16", "batch_size=32", "memory_size=700", "warmup=64", "eval_every=4800", "device=cpu")
PATIENCE = 600
"""Seconds after which a sweep hangs."""


def small(*more: str | Path) -> list[str]:
    """Return the arguments of a sweep of runs of two seconds or so, with a checkpoint whenever one may be written."""
    sets = [word for value in (*SMALL, "total_steps=24000") for word in ("--set", value)]
    return [*sets, "--checkpoint-interval", "0.01", *map(str, more)]


def finish(process: subprocess.Popen[str], status: int = 0) -> str:
    """Wait for a sweep, and return what it printed."""
    try:
        output, complaint = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, complaint.count("\n")) == (status, int(status > 0)), complaint
    return output + complaint


def run(*args: str | Path) -> str:
    """Run `selfplay sweep` to its end."""
    return finish(start(*map(str, args)))


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)
