"""What decides a published verdict: from when a proof holds, what a table shows of seeds, and corrected p-values."""

import math

import pytest

from benchmarks import harness
from benchmarks.data import Seats
from benchmarks.sweeps import tables


@pytest.mark.parametrize(("proofs", "first"), [("01011", 3), ("11", 0), ("10", None), ("", None)])
def test_a_proof_counts_if_it_holds_to_the_end(proofs: str, first: int | None) -> None:
    assert harness.held_from([proof == "1" for proof in proofs]) == first


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([3, 4], "3.5 (3 to 4)"),
        ([0.123, 0.5], "0.311 (0.123 to 0.500)"),
        ([50, 1, 2, 3, 4], "3 (2 to 4)"),
        ([1e7, 1.2345e6, 5.5], "1.23 M (5.50 to 10.0 M)"),
        ([1.5, 2.5, math.inf, math.inf, math.inf], "never (least 1.50)"),
        ([True, False, True], "2 of 3"),
        ([Seats(1, 2), Seats(1, 4)], "1; 3 (2 to 4)"),
        ([], "-"),
    ],
)
def test_a_cell_shows_the_median_and_the_quartiles(values: list[object], shown: str) -> None:
    assert harness.cell(values) == shown


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Holm's: 4 * 0.005, 3 * 0.01, 2 * 0.03, and no less
        ([0.9, 0.6], [1.0, 1.0]),
    ],
)
def test_p_values_are_corrected_for_their_number(p_values: list[float], corrected: list[float]) -> None:
    assert tables.holm(p_values) == pytest.approx(corrected)
