"""The search space of a sweep: ranges and lists of values that Optuna samples from."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from selfplay.errors import UserError

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
DIGITS = 3
"""Significant digits of a number sampled from a range, few enough for the name of a run to hold all of its settings."""


class Range(NamedTuple):
    """Hold the ends of a range, both included; a range that begins above 0 is searched on a logarithmic scale."""

    low: float
    high: float
    integers: bool = False

    def round(self, value: float) -> float:
        """Return a sampled number with few digits, within the range."""
        if self.integers:
            return round(value)
        return min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high)

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


def parse_range(word: str, integers: bool) -> Range | None:
    """Return the range that a word like 0.001..0.1 means, None if it means another thing.

    Raises:
        UserError: its end is not above its beginning, or an end of a range of integers is none.
    """
    if not (match := re.fullmatch(rf"\s*({NUMBER})\.\.({NUMBER})\s*", word)):
        return None
    low, high = float(match[1]), float(match[2])
    if low >= high:
        raise UserError(f"{word}: the end of a range must be above its beginning")
    if not integers:
        return Range(low, high)
    if not (low.is_integer() and high.is_integer()):
        raise UserError(f"{word}: the ends of a range of whole numbers must be whole")
    return Range(int(low), int(high), integers)


def distribution(values: Range | Sequence[str]) -> Any:
    """Return the Optuna distribution of a range, or of a list of words."""
    from optuna import distributions

    if not isinstance(values, Range):
        return distributions.CategoricalDistribution(values)
    kind = distributions.IntDistribution if values.integers else distributions.FloatDistribution
    return kind(values.low, values.high, log=values.low > 0)
