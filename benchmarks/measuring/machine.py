"""Describe the machine and the versions that a measurement was made with."""

import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

import torch
from rich.console import Console

WIDTH = 140
"""Columns of the output, the same in a terminal and in a file."""
LIBRARIES = ("torch", "numpy", "gymnasium")


def describe(peers: Iterable[str] = ()) -> dict[str, str]:
    """Return what a measurement depends on by name; `peers` are the distributions it is compared with."""
    return {
        "CPU": f"{cpu_model()}, {cores()} cores",
        **({"GPU": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}),
        "load": f"{load()} over the last minute, before this measurement",
        "OS": platform.platform(),
        "Python": platform.python_version(),
        **{name: version(name) for name in (*LIBRARIES, *peers)},
        "torch threads": str(torch.get_num_threads()),
        "commit": commit(),
    }


def cpu_model() -> str:
    """Return the name of the processor as the system gives it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or platform.machine() or "unknown")


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> str:
    """Return the mean number of busy processes: near 0 on a quiet machine."""
    return f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"


def version(distribution: str) -> str:
    """Return the installed version of a distribution."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def commit() -> str:
    """Return the short name of the current commit, and whether files differ from it."""
    try:
        name = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name}, with uncommitted changes" if changed else name


def _git(*arguments: str) -> str:
    root = Path(__file__).parent
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def make_console() -> Console:
    """Return where to print: tables come out alike in a terminal and in a file, and brackets as they are."""
    return Console(width=WIDTH, highlight=False, markup=False)


def start(title: str, peers: Iterable[str] = (), seeds: Sequence[int] = ()) -> Console:
    """Limit torch to one thread, print the description and the seeds, and return where to print the rest."""
    torch.set_num_threads(1)  # on networks this small more threads only wait for each other
    console = make_console()
    console.rule(title)
    for name, value in describe(peers).items():
        console.print(f"{name:>18}  {value}")
    if seeds:
        console.print(f"{'seeds':>18}  {', '.join(map(str, seeds))}")
    console.rule()
    return console
