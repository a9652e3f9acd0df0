"""Measure rows in rounds: a round is one turn of every row, and a ratio is one of the same round.

So each row's values are spread over the whole run: what slows the machine for a while slows one value of every row
instead of every value of one.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich.console import Console

from benchmarks.measuring.turns import installed
from benchmarks.overview.results import Result

Turn: TypeAlias = Callable[[int], float]
"""Measures once, with a seed."""


@dataclass(frozen=True)
class Row:
    """Name something to measure, and say how it is made ready and what it is compared with."""

    name: str
    unit: str
    make: Callable[[], Turn]
    """Prepares what is not to be measured, and returns what measures."""
    peers: tuple[str, ...] = ()
    """Rows of the same group."""
    ours: bool = True
    needs: str | None = None
    """The module without which the row is skipped."""


def measure(groups: Mapping[str, Sequence[Row]], seeds: Sequence[int], console: Console) -> list[Result]:
    """Measure the rows of all groups, a round with each seed; rows whose peer is not installed are left out."""
    rows = [(group, row) for group in groups for row in groups[group] if installed(row.needs)]
    turns = [row.make() for _, row in rows]
    values: list[list[float]] = [[] for _ in rows]
    for number, seed in enumerate(seeds, 1):
        started = time.perf_counter()
        for turn, of_row in zip(turns, values, strict=True):
            of_row.append(turn(seed))
        console.print(f"round {number} of {len(seeds)}: {time.perf_counter() - started:.0f} s")
    there = {(group, row.name) for group, row in rows}
    return [
        Result(group, row.name, row.unit, row.ours, of_row, tuple(peer for peer in row.peers if (group, peer) in there))
        for (group, row), of_row in zip(rows, values, strict=True)
    ]


def skipped(groups: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
    """Return the modules that are not installed, each with the names of the rows that need it."""
    missing: dict[str, list[str]] = {}
    for rows in groups.values():
        for row in rows:
            if row.needs is not None and not installed(row.needs):
                missing.setdefault(row.needs, []).append(row.name)
    return missing
