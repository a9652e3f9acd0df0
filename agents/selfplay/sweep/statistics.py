"""What may be said of a few runs: shares, times to a proof, differences; each with its 95 % interval.

A run without a proof is never left out. In curves it is censored where it ended, in means it counts as never.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 0.95
RESAMPLES = 9_999
"""Of a bootstrap, the same every time."""
TRIMMED = 0.25
"""Part that is cut off at each end of an interquartile mean."""

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """Hold an estimate and the ends of its 95 % interval; infinity stands for never."""

    estimate: float
    low: float
    high: float


class Curve(NamedTuple):
    """Hold the share of runs that are proved after so much, and its interval; steps, each [N]."""

    at: Floats
    share: Floats
    low: Floats
    high: Floats


def share(successes: int, number: int) -> Interval:
    """Return the share of successes with Wilson's interval."""
    if not number:
        return Interval(math.nan, 0.0, 1.0)
    found = stats.binomtest(successes, number).proportion_ci(LEVEL, method="wilson")
    return Interval(successes / number, float(found.low), float(found.high))


def proved_curve(amounts: Sequence[float], proved: Sequence[bool]) -> Curve:
    """Return the share proved by Kaplan and Meier, with log-log intervals; those not proved are censored."""
    times, held = np.asarray(amounts, float), np.asarray(proved, bool)
    if not held.any():  # of which SciPy makes no curve
        at = np.unique(times)
        return Curve(at, np.zeros(len(at)), np.zeros(len(at)), np.zeros(len(at)))
    found = stats.ecdf(stats.CensoredData(uncensored=times[held], right=times[~held])).cdf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the share is 0 or 1 the formula has no value
        interval = found.confidence_interval(LEVEL, method="log-log")
    shares = np.asarray(found.probabilities, float)
    # Where nobody is proved yet the ends are 0; where everybody is, the lower end stays what it was.
    low = np.maximum.accumulate(np.nan_to_num(interval.low.probabilities, nan=0.0))
    high = np.where(np.isnan(interval.high.probabilities), (shares > 0).astype(float), interval.high.probabilities)
    return Curve(np.asarray(found.quantiles, float), shares, low, np.maximum.accumulate(high))


def median_of(curve: Curve) -> Interval:
    """Return when half are proved, as the curve says it and as the ends of its interval do."""
    return Interval(*(_first_at_half(curve.at, shares) for shares in (curve.share, curve.high, curve.low)))


def _first_at_half(at: Floats, shares: Floats) -> float:
    reached = at[shares >= 0.5 - 1e-12]
    return float(reached[0]) if len(reached) else math.inf


def interquartile_mean(values: Sequence[float]) -> Interval:
    """Return the mean without the lowest and highest quarter, and its interval by bootstrap.

    Values of infinity, which are runs that were never proved, are cut off like any; where more are left it is infinite.
    """

    def mean(sample: Floats, axis: int = -1) -> Any:
        return stats.trim_mean(sample, TRIMMED, axis=axis)

    return _bootstrapped(np.asarray(values, float), mean)


def _bootstrapped(values: Floats, statistic: Callable[..., Any]) -> Interval:
    if not len(values):
        return Interval(math.nan, math.nan, math.nan)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # infinity less infinity, in what is not looked at
        estimate = float(statistic(values))
        if len(values) == 1 or np.all(values == values[0]):
            return Interval(estimate, estimate, estimate)
        found = stats.bootstrap(
            (values,),
            statistic,
            n_resamples=RESAMPLES,
            vectorized=True,
            confidence_level=LEVEL,
            method="percentile",
            rng=np.random.default_rng(0),
        ).bootstrap_distribution
    # Without interpolation, which infinity has none of.
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    return Interval(estimate, float(low), float(high))


class Paired(NamedTuple):
    """Compare two settings on equal seeds."""

    seeds: int
    """That both have."""
    sooner: int
    """Seeds with which the other was proved sooner, or at all."""
    later: int
    difference: Interval
    """Interquartile mean of other less first over the seeds with which both are proved."""
    both: int
    """Of these there are so many."""


def paired(first: dict[int, float], other: dict[int, float]) -> Paired:
    """Compare the amounts to a proof by seed; infinity is a run without one."""
    pairs = [(first[seed], other[seed]) for seed in sorted(first.keys() & other.keys())]
    differences = [after - before for before, after in pairs if math.isfinite(before) and math.isfinite(after)]
    sooner, later = sum(after < before for before, after in pairs), sum(after > before for before, after in pairs)
    return Paired(len(pairs), sooner, later, interquartile_mean(differences), len(differences))
