"""Ranges that a search draws from."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from selfplay.errors import UserError

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
DIGITS = 3
"""Of what is drawn from a range, so that the name of a run holds all of its settings."""


class Range(NamedTuple):
    """Hold the ends of a range, both included."""

    low: float
    high: float
    integers: bool = False

    @property
    def logarithmic(self) -> bool:
        """Tell whether it is searched by factors: where it begins above 0."""
        return self.low > 0

    def of_integers(self) -> "Range":
        """Return the range of the integers in it.

        Raises:
            UserError: its ends are none.
        """
        if self.low != int(self.low) or self.high != int(self.high):
            raise UserError(f"{self}: the ends of a range of whole numbers must be whole")
        return Range(int(self.low), int(self.high), integers=True)

    def rounded(self, value: float) -> float:
        """Return what was drawn with few digits, and inside."""
        if self.integers:
            return round(value)
        return min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high)

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


def distribution(among: Range | Sequence[str]) -> Any:
    """Return what Optuna draws from: a range, or some words."""
    import optuna

    if not isinstance(among, Range):
        return optuna.distributions.CategoricalDistribution(among)
    if among.integers:
        return optuna.distributions.IntDistribution(int(among.low), int(among.high), log=among.logarithmic)
    return optuna.distributions.FloatDistribution(among.low, among.high, log=among.logarithmic)


def as_range(given: object) -> Range | None:
    """Return the range that a word like 0.001..0.1 means, None if it means another thing.

    Raises:
        UserError: its end is not above its beginning.
    """
    if isinstance(given, Range):
        return given
    [word] = given if isinstance(given, list | tuple) and len(given) == 1 else [given]
    if not isinstance(word, str) or not (match := re.fullmatch(rf"\s*({NUMBER})\.\.({NUMBER})\s*", word)):
        return None
    found = Range(float(match[1]), float(match[2]))
    if not found.low < found.high:
        raise UserError(f"{word}: a range ends above its beginning")
    return found
