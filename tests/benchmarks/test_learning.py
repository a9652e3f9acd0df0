"""The figures of the page on learning."""

import pytest

from benchmarks.learning import published
from benchmarks.pages.learning import match_ups


def test_the_shares_of_a_match_up_are_means_and_standard_deviations_of_the_seeds() -> None:
    row = "learner against random, draw reward 0.2"
    of_seeds = [published.shares(*ends) for ends in ((0.90, 0.06, 0.04), (0.92, 0.04, 0.04), (0.94, 0.02, 0.04))]
    exact = "random against random, exact"
    assert match_ups({exact: of_seeds[:1], row: of_seeds})[1:] == [
        [exact, "57 / 29 / 12", "90.0 / 6.0 / 4.0"],
        [row, "91 / 3 / 5", "92.0 ± 2.0 / 4.0 ± 2.0 / 4.0 ± 0.0"],
    ]
    assert of_seeds[0]["draws, %"] == pytest.approx(4)
