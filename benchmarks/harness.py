"""What every benchmark shares: flags, the machine, turns, spreads, tables, and fresh processes.

A script says what it measures, by row and seed, as a mapping from columns to values. The harness measures all rows with
one seed after the other, so that what slows the machine for a while slows every row, and summarizes the seeds.
"""

import dataclasses
import functools
import math
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from rich.console import Console

from benchmarks import data
from benchmarks.data import Result, Row, Seats
from selfplay.cli.flags import parse
from selfplay.errors import UserError
from selfplay.learning.folder import check_writable
from selfplay.settings import require

ROOT = Path(__file__).parents[1]
WIDTH = 140
"""Columns of the output, the same in a terminal and in a file."""
INSTALL = "pip install -c constraints-bench.txt -e '.[bench]'"
"""Command that installs all libraries that are measured beside ours."""
Flags = TypeVar("Flags")
Made = TypeVar("Made")


def read_flags(kind: type[Flags], args: Sequence[str], prog: str) -> Flags:
    """Return the flags that a script's dataclass declares, each checked by its type.

    Integers are counts, floats are times, tuples name something to measure, and paths are written to: `--docs` is a
    folder that exists, `--dir` may be made in another.

    Raises:
        UserError: There is no such flag, or its value is of no use.
    """
    flags = parse(kind, args, prog)
    for field in dataclasses.fields(flags):  # type: ignore[arg-type]
        name, value = field.name, getattr(flags, field.name)
        if isinstance(value, float):
            require(0 < value < math.inf, name, "above 0 and finite", value)
        elif isinstance(value, int) and not isinstance(value, bool):
            require(value >= 1, name, "at least 1", value)
        elif isinstance(value, tuple):
            require(len(value) > 0, name, "at least one", value)
        elif isinstance(value, Path):
            folder = value if name == "docs" or (name == "dir" and value.exists()) else value.parent
            if not folder.is_dir():
                raise UserError(f"{folder}: is not a folder; make it first, or name another")
            check_writable(folder, f"name another --{name}")
    return flags


def check_known(name: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse unknown names.

    Raises:
        UserError: There is one.
    """
    if unknown := sorted(set(given) - set(known)):
        raise UserError(f"{name} must be some of {', '.join(known)}, got {unknown}")


def start(title: str, libraries: Iterable[str] = (), seeds: Sequence[int] = ()) -> Console:
    """Limit torch to one thread, print machine, versions and seeds, and return the console for everything else."""
    torch.set_num_threads(1)  # on networks this small more threads only wait for each other
    console = Console(width=WIDTH, highlight=False, markup=False)
    console.rule(title)
    described = machine(libraries) | ({"seeds": ", ".join(map(str, seeds))} if seeds else {})
    for name, value in described.items():
        console.print(f"{name:>18}  {value}")
    console.rule()
    return console


def machine(libraries: Iterable[str] = ()) -> dict[str, str]:
    """Return what a measurement depends on: the machine, how busy it is, versions and the commit."""
    return {
        "CPU": f"{_cpu_model()}, {cores()} core{'s' * (cores() > 1)}",
        **({"GPU": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}),
        "load": f"{load()} over the last minute, before this measurement",
        "OS": platform.platform(),
        "Python": platform.python_version(),
        **{name: _version(name) for name in ("torch", "numpy", "gymnasium", *libraries)},
        "torch threads": str(torch.get_num_threads()),
        "commit": _commit(),
    }


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> str:
    """Return the mean number of busy processes over the last minute, near 0 on a quiet machine."""
    return f"{os.getloadavg()[0]:.2f}"


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


@functools.cache  # what the process runs, whatever it writes into docs/data
def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty=, with uncommitted changes"]
    try:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def prepare(console: Console, name: str, make: Callable[[], Made]) -> Made | None:
    """Return what is made, or print what to install for `name` and return None."""
    try:
        return make()
    except ModuleNotFoundError as error:
        console.print(f"{name} is left out: no {error.name} here; {INSTALL}", soft_wrap=True)
        return None


def pin_to_one_core(console: Console) -> None:
    """Keep the process, and the threads that JAX will start, on one core where the system can."""
    if hasattr(os, "sched_setaffinity"):
        core = max(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {core})
        console.print(f"pinned to core {core}")
    else:
        console.print("this system pins no process to a core, so pgx may use several")


class Spread(NamedTuple):
    """Hold the median, the least and the most of repeated measurements."""

    median: float
    least: float
    most: float

    def text(self, digits: int | None = None) -> str:
        """Return "median (least to most)", or one number if all show the same."""
        least, most = number(self.least, digits), number(self.most, digits)
        between = digits == 0 and math.isfinite(self.median) and not float(self.median).is_integer()
        median = number(self.median, 1 if between else digits)  # half a game, of an even number of counts
        if math.isinf(self.median) and math.isfinite(self.least):
            return f"{median} (least {least})"
        return median if median == least == most else f"{median} ({least} to {most})"


def spread(values: Iterable[float]) -> Spread:
    """Return the spread of measurements; infinity, for what never happened, counts as such."""
    values = list(values)
    return Spread(statistics.median(values), min(values), max(values))


def number(value: float, digits: int | None = None) -> str:
    """Return a number with some digits after the point, by default three digits in all; infinity is "never"."""
    if math.isinf(value):
        return "never"
    if digits is None and value >= 1e6:
        return f"{value / 1e6:.{1 if value >= 1e7 else 2}f} M"
    digits = sum(abs(value) < size for size in (100, 10, 1)) if digits is None else digits
    return f"{value:,.{digits}f}"


def cell(values: Sequence[Any]) -> str:
    """Return what a table shows of a column's values over the seeds.

    It is "3 of 5" of verdicts, the distinct texts, the median percents of shares, or the spread of numbers.
    """
    if not values:
        return "-"
    if isinstance(values[0], Seats):
        return "; ".join(map(cell, zip(*values, strict=True)))
    if isinstance(values[0], bool):
        return f"{sum(values)} of {len(values)}"
    if isinstance(values[0], str):
        return "; ".join(dict.fromkeys(values))
    if isinstance(values[0], tuple):
        return "/".join(percent(statistics.median(shares)) for shares in zip(*values, strict=True))
    counted = all(float(value).is_integer() for value in values if math.isfinite(value))
    return spread(values).text(0 if counted else None)


def percent(share: float) -> str:
    """Return a share as a whole percent; 0 and 100 mean never and always."""
    return f"{100 * share:.0f}" if share in {0, 1} else f"{min(max(100 * share, 1), 99):.0f}"


def in_turns(
    console: Console, rows: Iterable[Row], seeds: Iterable[int], measure: Callable[[Row, int], Result]
) -> dict[Row, list[Result]]:
    """Measure all rows with one seed after the other, and print each result as it comes; empty ones are left out."""
    results: dict[Row, list[Result]] = {row: [] for row in rows}
    for seed in seeds:
        for row, of_row in results.items():
            if result := measure(row, seed):
                of_row.append(result)
                found = ", ".join(f"{name} {cell([value])}" for name, value in result.items())
                console.print(f"{row}, seed {seed}: {found}", soft_wrap=True)
    return results


def summary(results: Mapping[Row, Sequence[Result]]) -> list[list[str]]:
    """Return a table of what each column shows over the seeds, its header first."""
    columns = list(dict.fromkeys(name for of_row in results.values() for result in of_row for name in result))
    lines = [["what", *columns]]
    for row, of_row in results.items():
        found = ([result[name] for result in of_row if name in result] for name in columns)
        lines.append([str(row), *map(cell, found)])
    return lines


def present(console: Console, lines: Sequence[Sequence[str]], note: str) -> None:
    """Print a table in Markdown, as the documents have it, with a note."""
    console.print(markdown(lines), soft_wrap=True)
    console.print(f"median (least to most); {note}; load {load()} at the end", soft_wrap=True)


def run(
    title: str,
    rows: Iterable[Row],
    seeds: Sequence[int],
    measure: Callable[[Row, int], Result],
    note: str,
    libraries: Iterable[str] = (),
    docs: Path | None = None,
) -> dict[Row, list[Result]]:
    """Measure all rows with all seeds, present the summary, and return the results; with `docs` save them there."""
    console = start(title, libraries, seeds)
    measured_on = machine(libraries)
    results = in_turns(console, rows, seeds, measure)
    present(console, summary(results), note)
    if docs is not None:
        data.save(docs, title, results, measured_on)
    return results


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; the first line is the header."""
    return "".join(f"| {' | '.join(line)} |\n" for line in (lines[0], ["---"] * len(lines[0]), *lines[1:]))


def held_from(verdicts: Sequence[bool]) -> int | None:
    """Return the number of the first of the verdicts at the end that all hold; None if the last does not."""
    number = len(verdicts)
    while number and verdicts[number - 1]:
        number -= 1
    return number if number < len(verdicts) else None


def run_fresh(statements: str) -> str:
    """Run statements in a fresh interpreter, in the root of the repository, and return the last line they print.

    Raises:
        RuntimeError: They failed; the message is what they wrote to stderr.
    """
    command = [sys.executable, "-c", statements]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(ended.stderr.strip() or f"the process ended with exit status {ended.returncode}")
    return ended.stdout.rstrip().rpartition("\n")[2]
