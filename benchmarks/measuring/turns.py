"""Measure in turns, so that what slows the machine for a while slows all that is compared."""

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from rich.console import Console


class Run(Protocol):
    """What one measurement has come to."""

    def text(self) -> str:
        """Return it as a line."""


INSTALL = "pip install -c constraints-bench.txt -e '.[bench]'"
"""Installs all that is measured beside ours."""

AnyRun = TypeVar("AnyRun", bound=Run)
Row = TypeVar("Row")


def in_turns(
    console: Console, seeds: Iterable[int], rows: Sequence[Row], measure: Callable[[Row, int], AnyRun]
) -> list[AnyRun]:
    """Measure every row with one seed after the other, and print each run as it ends."""
    runs = []
    for seed in seeds:
        for row in rows:
            runs.append(measure(row, seed))
            console.print(runs[-1].text(), soft_wrap=True)
    return runs


def round_by_round(ours: Iterable[float], theirs: Iterable[float]) -> list[float]:
    """Return ours over theirs of the same round."""
    return [mine / other for mine, other in zip(ours, theirs, strict=True)]


def installed(module: str | None) -> bool:
    """Tell whether a module is there, or none is needed."""
    return module is None or importlib.util.find_spec(module) is not None
