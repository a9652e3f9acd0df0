"""Statistics of a few runs: shares, times to a proof, differences; each with its 95 % confidence interval.

A run without a proof is never left out: curves censor it where it ended, and in means its time is infinite.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 0.95
RESAMPLES = 9_999
TRIMMED = 0.25
"""Part that an interquartile mean leaves out at each end."""

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """An estimate and the ends of its 95 % confidence interval; infinity means never."""

    value: float
    low: float
    high: float

    def text(self, digits: int, sign: str = "") -> str:
        """Return "value [low, high]", or one number if all are the same."""
        value, low, high = ("never" if math.isinf(end) else f"{end:{sign},.{digits}f}" for end in self)
        return "-" if math.isnan(self.value) else value if low == value == high else f"{value} [{low}, {high}]"


class ProvedCurve(NamedTuple):
    """The share of runs that are proved after an amount of steps, updates or seconds, and its interval."""

    amounts: Floats  # [N]
    share: Floats
    low: Floats
    high: Floats

    def median(self) -> Estimate:
        """Return the amount after which half are proved, by the curve and by the ends of its interval."""
        reached = (self.amounts[shares >= 0.5 - 1e-12] for shares in (self.share, self.high, self.low))
        return Estimate(*(float(amounts.min(initial=math.inf)) for amounts in reached))


def proportion(successes: int, number: int) -> Estimate:
    """Return a share of successes with Wilson's interval."""
    return Estimate(successes / number, *stats.binomtest(successes, number).proportion_ci(LEVEL, method="wilson"))


def proved_curve(amounts: Sequence[float], proved: Sequence[bool]) -> ProvedCurve:
    """Return the Kaplan-Meier estimate of the share proved, with log-log intervals; runs not proved are censored."""
    times, observed = np.asarray(amounts, float), np.asarray(proved, bool)
    if not observed.any():  # for which SciPy has no curve
        at = np.unique(times)
        return ProvedCurve(at, *np.zeros((3, len(at))))
    cdf = stats.ecdf(stats.CensoredData(uncensored=times[observed], right=times[~observed])).cdf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the share is 0 or 1 the formula has no value
        interval = cdf.confidence_interval(LEVEL, method="log-log")
    shares = np.asarray(cdf.probabilities, float)
    # Where no run is proved yet both ends are 0; where all are, the lower end stays at its last value.
    low = np.maximum.accumulate(np.nan_to_num(interval.low.probabilities, nan=0.0))
    high = np.where(np.isnan(interval.high.probabilities), shares > 0, interval.high.probabilities)
    return ProvedCurve(np.asarray(cdf.quantiles, float), shares, low, np.maximum.accumulate(high))


def interquartile_mean(values: Sequence[float]) -> Estimate:
    """Return the mean without the lowest and highest quarter, and its bootstrap interval.

    Infinite values, of runs that were never proved, are left out like others; if more remain the mean is infinite.
    """
    sample = np.asarray(values, float)
    if not len(sample):
        return Estimate(*[math.nan] * 3)
    resampled = np.random.default_rng(0).choice(sample, (RESAMPLES, len(sample)))
    means = stats.trim_mean(resampled, TRIMMED, axis=1)
    # Without interpolation, which has no value beside infinity.
    ends = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    return Estimate(float(stats.trim_mean(sample, TRIMMED)), *ends.tolist())


def compare(first: Mapping[int, float], other: Mapping[int, float]) -> tuple[list[int], Estimate]:
    """Compare the amounts to a proof of two settings by seed; infinity is a run without one.

    Return the number of equal seeds, of those with which the other setting was proved sooner or later, and of those
    with which both are proved, and for these the interquartile mean of the differences from the first setting.
    """
    seeds = sorted(first.keys() & other.keys())
    before, after = (np.array([times[seed] for seed in seeds]) for times in (first, other))
    both = np.isfinite(before + after)
    numbers = [len(seeds), *(int(np.sum(which)) for which in (after < before, after > before, both))]
    return numbers, interquartile_mean(after[both] - before[both])
