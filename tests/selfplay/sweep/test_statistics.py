"""Shares, curves, means and differences, against what is known of them."""

import math

import numpy as np
import pytest

from selfplay.sweep.statistics import compare, interquartile_mean, proportion, proved_curve


def test_wilsons_interval_is_the_published_one() -> None:
    assert proportion(10, 10) == pytest.approx((1.0, 0.7225, 1.0), abs=1e-4)


def test_a_curve_takes_runs_without_a_proof_as_far_as_they_went() -> None:
    curve = proved_curve([10, 20, 30, 40], [True, False, True, False])
    assert curve.amounts.tolist() == [10, 20, 30, 40]
    assert curve.share == pytest.approx([0.25, 0.25, 0.625, 0.625])  # 1 - 3/4 * 1/2, by hand
    assert curve.median() == (30, 10, math.inf)


def test_where_nothing_or_everything_is_proved_the_curve_has_ends() -> None:
    nothing = proved_curve([5, 5, 7], [False] * 3)
    assert (nothing.share.tolist(), nothing.median().value) == ([0, 0], math.inf)
    everything = proved_curve([1, 2, 3, 4], [True] * 4)
    assert (everything.share[-1], everything.high[-1], everything.median().value) == (1, 1, 2)  # at exactly one half
    assert np.all(np.diff(everything.low) >= 0)  # and none is not a number
    # Of 24 that are proved half are 12, for which the computed share is a little less than one half.
    assert proved_curve(range(25), [False] + [True] * 24).median().value == 12


def test_an_interquartile_mean_cuts_off_runs_that_were_never_proved_until_they_are_too_many() -> None:
    assert interquartile_mean([1, 2, 3, 4, 5, 6, 7, math.inf]).value == 4.5
    assert interquartile_mean([1, 2, math.inf, math.inf]).value == math.inf
    assert interquartile_mean([3.0, 3.0]) == (3, 3, 3)
    assert math.isnan(interquartile_mean([]).value)


def test_a_bootstrap_interval_leaves_out_a_fortieth_at_each_end() -> None:
    # All three of a resample are the 1 in one of 27, which is between a fortieth and a twentieth; none is in eight.
    assert interquartile_mean([0, 0, 1]) == pytest.approx((1 / 3, 0, 1))


def test_settings_are_compared_on_equal_seeds_only() -> None:
    first = {0: 10.0, 1: 20.0, 2: math.inf, 3: 5.0, 5: 7.0}
    other = {0: 8.0, 1: 26.0, 2: 9.0, 4: 1.0, 5: math.inf}
    numbers, difference = compare(first, other)
    assert (numbers, difference.value) == ([4, 2, 2, 2], 2.0)
