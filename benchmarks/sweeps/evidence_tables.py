"""The tables of the sweeps: how each setting did, and how it differs from the first, the control, on equal seeds.

The runs are the lines of docs/evidence/NAME.csv, and data/evidence.json holds the settings of the control. An amount
is the plies to a run's proof, or infinity.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from scipy import stats

from benchmarks.harness import cell
from selfplay.sweep.statistics import TRIMMED, Estimate, compare, proportion, proved_curve

LEVEL = 0.05
"""A difference is clear below this corrected p-value."""
MARGIN = 0.25
"""A difference that is not clear is small if its interval ends within this part of what the control took."""
Line: TypeAlias = dict[str, str]
"""A line of a table by its columns."""
SavedRun: TypeAlias = Mapping[str, str]
"""A line of a CSV file."""
Amounts: TypeAlias = Mapping[int, float]
"""An amount by seed."""


def time_to_proof(runs: Sequence[SavedRun], control: Mapping[str, str]) -> list[Line]:
    """Return for each setting how many runs were proved, and after how many plies."""
    settings = by_setting(runs)
    amounts = [plies(of_setting) for of_setting in settings.values()]
    lines = []
    for (setting, of_setting), by_seed, difference in zip(
        settings.items(), amounts, from_the_first(amounts), strict=True
    ):
        every = [*by_seed.values()]
        proved = [math.isfinite(amount) for amount in every]
        ended = [float(run["steps"]) for run in of_setting]
        share = proportion(sum(proved), len(proved))
        found = {
            "changed": flags(setting, control),
            "proved": cell(proved),
            f"proved of {len(proved)}": str(sum(proved)),
            "true share, %": f"{100 * share.low:.0f} to {100 * share.high:.0f}",
            "plies, median": proved_curve(ended, proved).median().text(0),
        }
        lines.append(found | difference)
    return lines


def by_setting(runs: Sequence[SavedRun]) -> dict[str, list[SavedRun]]:
    """Return the runs of each setting, that of the control first."""
    found: dict[str, list[SavedRun]] = {}
    for run in runs:
        found.setdefault(run["setting"], []).append(run)
    return found


def plies(runs: Sequence[SavedRun]) -> dict[int, float]:
    """Return the plies to the proof of each seed."""
    return {int(run["seed"]): float(run["steps"]) if run["end"] == "proved" else math.inf for run in runs}


def from_the_first(settings: Sequence[Amounts]) -> list[Line]:
    """Return for each setting the difference from the first on equal seeds, its p-value, and what can be said of it."""
    first, *others = settings
    of_control = float(stats.trim_mean([*first.values()], TRIMMED))
    lines = [dict.fromkeys(("difference", "difference, plies", "p", "clear?"), "-")]
    for other, p in zip(others, holm([p_value(first, other) for other in others]), strict=True):
        _, apart = compare(first, other)
        found = conclusion(p, apart, MARGIN * of_control)
        difference = apart.text(0, "+")
        alone, *_ = difference.split()
        line = {"difference": difference, "difference, plies": alone, "p": p_text(p), "clear?": found}
        lines.append(line)
    return lines


def p_value(first: Amounts, other: Amounts) -> float:
    """Return the p-value of Wilcoxon's signed-rank test on equal seeds; a run without a proof counts as the longest.

    It is exact, also where differences are equal: of all ways to give the ranks signs it counts those with a sum as far
    out. SciPy's is exact only without ties.
    """
    seeds = sorted(first.keys() & other.keys())
    before, after = (np.nan_to_num([of_seed[seed] for seed in seeds]) for of_seed in (first, other))
    differences = (after - before)[after != before]
    ranks = (2 * stats.rankdata(np.abs(differences))).astype(int)  # doubled, as ties have half ranks
    chances = np.ones(1)  # of each sum of the ranks above 0
    for rank in ranks:
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    found = ranks[differences > 0].sum()
    return float(min(1.0, 2 * chances[: found + 1].sum(), 2 * chances[found:].sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979), in the same order; SciPy has no function for it."""
    corrected = list(p_values)
    least = 0.0
    for done, place in enumerate(np.argsort(p_values)):
        least = max(least, min(1.0, (len(p_values) - done) * p_values[place]))
        corrected[place] = least
    return corrected


def p_text(p: float) -> str:
    """Return a p-value as a table shows it."""
    return f"{p:.2g}" if p >= 0.001 else "< 0.001"


def conclusion(p: float, apart: Estimate, margin: float) -> str:
    """Return whether a difference is clear, and if not, whether it is small or open."""
    if p < LEVEL:
        return "clear"
    return "small" if max(-apart.low, apart.high) <= margin else "open"


def flags(setting: str, control: Mapping[str, str]) -> str:
    """Return a setting as flags, without those that the control has."""
    if setting == "default":
        return "nothing"
    words = []
    for name, value in (word.split("=") for word in setting.split(",")):
        if value != control.get(name):
            words.append(f"--{name.replace('_', '-')} {value.removesuffix('.0')}".removesuffix(" true"))
    return f"`{' '.join(words)}`" if words else "nothing"
