"""The parts that every benchmark shares: a description of the machine, seeds in turns, and tables of the results.

A script says what it measures, by row and seed, as a mapping from columns to values. The harness measures all rows with
one seed after the other, so that what slows the machine for a while slows every row, and summarizes the seeds.
"""

import math
import os
import platform
import runpy
import statistics
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import data
from benchmarks.data import Result, Row

ROOT = Path(__file__).parents[1]


@cache
def recipe(name: str) -> Mapping[str, Any]:
    """Run the file of a recipe, and return what it defines, by name."""
    return runpy.run_path(str(ROOT / "docs" / "recipes" / f"{name}.py"))


# The machine


def start(title: str, libraries: Iterable[str] = (), seeds: Sequence[int] = ()) -> dict[str, str]:
    """Limit torch to one thread, print what the measurement depends on, and return it."""
    torch.set_num_threads(1)  # on networks this small more threads only wait for each other
    measured_on = machine(libraries)
    print(title)
    for name, value in measured_on.items():
        print(f"{name:>18}  {value}")
    if seeds:
        print(f"{'seeds':>18}  {', '.join(map(str, seeds))}")
    return measured_on


def machine(libraries: Iterable[str] = ()) -> dict[str, str]:
    """Return what a measurement depends on: the machine, how busy it is, versions and the commit."""
    found = {"CPU": f"{cpu_model()}, {cores()} core{'s' if cores() > 1 else ''}"}
    if torch.cuda.is_available():
        found["GPU"] = torch.cuda.get_device_name()
    found["load"] = f"{load()} over the last minute, before this measurement"
    found["OS"] = platform.platform()
    found["Python"] = platform.python_version()
    for name in ("torch", "numpy", "gymnasium", *libraries):
        found[name] = version(name)
    found["torch threads"] = str(torch.get_num_threads())
    found["commit"] = commit()
    return found


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> str:
    """Return the mean number of busy processes over the last minute, near 0 on a quiet machine."""
    return f"{os.getloadavg()[0]:.2f}"


def cpu_model() -> str:
    """Return the name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def version(distribution: str) -> str:
    """Return the installed version of a package."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def commit() -> str:
    """Return the commit that is checked out, and whether programs differ from it.

    Data may differ: measurements write it.
    """
    described = git("describe", "--always", "--exclude=*").stdout.strip() or "unknown"
    changed = git("diff", "--quiet", "HEAD", "--", "*.py").returncode == 1
    return f"{described}, with uncommitted changes" if changed else described


def git(*words: str) -> "subprocess.CompletedProcess[str]":
    """Return what a command of git in the repository has printed, and how it ended."""
    return subprocess.run(["git", *words], cwd=ROOT, check=False, capture_output=True, text=True)


# Measuring


def run(
    title: str,
    rows: Iterable[Row],
    seeds: Sequence[int],
    measure: Callable[[Row, int], Result],
    note: str,
    docs: Path | None = None,
) -> dict[Row, list[Result]]:
    """Measure all rows with all seeds, print the summary, and return the results; with `docs` save them there."""
    measured_on = start(title, seeds=seeds)
    results = in_turns(rows, seeds, measure)
    present(results, note)
    if docs is not None:
        data.save(docs, title, results, measured_on)
    return results


def in_turns(
    rows: Iterable[Row], seeds: Iterable[int], measure: Callable[[Row, int], Result]
) -> dict[Row, list[Result]]:
    """Measure all rows with one seed after the other, and print each result as it comes; empty ones are left out."""
    results: dict[Row, list[Result]] = {row: [] for row in rows}
    for seed in seeds:
        for row, of_row in results.items():
            result = measure(row, seed)
            if result:
                of_row.append(result)
                found = ", ".join(f"{name} {cell([value])}" for name, value in result.items())
                print(f"{row}, seed {seed}: {found}", flush=True)
    return results


# Tables


def present(results: Mapping[Row, Sequence[Result]], note: str) -> None:
    """Print the summary of the results as a table, with a note."""
    print(markdown(summary(results)))
    print(f"median (quartiles); {note}; load {load()} at the end")


def summary(results: Mapping[Row, Sequence[Result]]) -> list[list[str]]:
    """Return a table of what each column shows over the seeds, its header first."""
    columns = list(dict.fromkeys(name for of_row in results.values() for result in of_row for name in result))
    lines = [["what", *columns]]
    for row, of_row in results.items():
        found = ([result[name] for result in of_row if name in result] for name in columns)
        lines.append([str(row), *map(cell, found)])
    return lines


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; the first line is the header."""
    return "".join(f"| {' | '.join(line)} |\n" for line in (lines[0], ["---"] * len(lines[0]), *lines[1:]))


def cell(values: Sequence[Any]) -> str:
    """Return what a table shows of a column's values over the seeds.

    It is "3 of 5" of verdicts, the distinct texts, or the spread of numbers.
    """
    if not values:
        return "-"
    if isinstance(values[0], bool):
        return f"{sum(values)} of {len(values)}"
    if isinstance(values[0], str):
        return "; ".join(dict.fromkeys(values))
    counted = all(float(value).is_integer() for value in values if math.isfinite(value))
    return spread(values, 0 if counted else None)


def middle(values: Sequence[float]) -> str:
    """Return the median alone."""
    return number(statistics.median(values))


def spread(values: Iterable[float], digits: int | None = None) -> str:
    """Return "median (lower quartile to upper quartile)", or one number if they agree; infinity is what never happened.

    The quartiles are values that were measured: the second and the fourth of five.
    """
    values = list(values)
    middle = statistics.median(values)
    quartiles = np.quantile(values, (0.25, 0.75), method="inverted_cdf")
    least, most = (number(float(quartile), digits) for quartile in quartiles)
    if digits == 0 and math.isfinite(middle) and not float(middle).is_integer():
        median = number(middle, 1)  # half a game, of an even number of counts
    else:
        median = number(middle, digits)
    if math.isinf(middle) and math.isfinite(min(values)):
        return f"{median} (least {number(min(values), digits)})"
    return median if median == least == most else f"{median} ({least} to {most})"


def number(value: float, digits: int | None = None) -> str:
    """Return a number with some digits after the point, by default three digits in all; infinity is "never"."""
    if math.isinf(value):
        return "never"
    if digits is None and value >= 1e9:
        return f"{value / 1e9:.2f} G"
    if digits is None and value >= 1e7:
        return f"{value / 1e6:.1f} M"
    if digits is None and value >= 1e6:
        return f"{value / 1e6:.2f} M"
    if digits is None:
        digits = sum(abs(value) < size for size in (100, 10, 1))
    return f"{value:,.{digits}f}"
