"""Summarize repeated measurements by their median and their extremes."""

import math
import statistics
from collections.abc import Iterable
from typing import NamedTuple


class Spread(NamedTuple):
    """Hold the median of some measurements, the least and the most of them."""

    median: float
    least: float
    most: float

    def over(self, unit: float) -> "Spread":
        """Return the same measurements as multiples of `unit`."""
        return Spread(*(value / unit for value in self))

    def time(self, work: float) -> "Spread":
        """Return how long so much work takes at these rates."""
        return Spread(work / self.median, work / self.most, work / self.least)

    def text(self, digits: int = 0) -> str:
        """Return "median (least to most)" with so many digits after the point, or one number if all show the same."""
        return _span(*(number(value, digits) for value in self))

    def brief_text(self) -> str:
        """Return the same with three digits or so each, whatever the size."""
        return _span(*map(brief_number, self))


def _span(median: str, least: str, most: str) -> str:
    return median if median == least == most else f"{median} ({least} to {most})"


def spread(values: Iterable[float]) -> Spread:
    """Return the spread of measurements; infinity stands for what never happened and counts as such."""
    values = list(values)
    return Spread(statistics.median(values), min(values), max(values))


def number(value: float, digits: int = 0) -> str:
    """Return a measurement as text, "never" for infinity."""
    return "never" if math.isinf(value) else f"{value:,.{digits}f}"


def brief_number(value: float) -> str:
    """Return a measurement with three digits or so, whatever its size."""
    if value >= 1e6 and not math.isinf(value):
        return f"{value / 1e6:.{1 if value >= 1e7 else 2}f} M"
    return number(value, sum(abs(value) < size for size in (100, 10, 1)))
