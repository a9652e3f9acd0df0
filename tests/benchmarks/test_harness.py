"""What decides a published verdict: from when a proof holds, what a table shows of seeds, and corrected p-values."""

import math

import numpy as np
import pytest

from benchmarks import harness
from benchmarks.sweeps import evidence_tables
from selfplay.runs.metrics import first_of_final_streak


@pytest.mark.parametrize(("proofs", "first"), [("01011", 3), ("11", 0), ("10", None), ("", None)])
def test_a_proof_counts_if_it_holds_to_the_end(proofs: str, first: int | None) -> None:
    assert first_of_final_streak([proof == "1" for proof in proofs]) == first


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([3, 4], "3.5 (3 to 4)"),
        ([0.123, 0.5], "0.311 (0.123 to 0.500)"),
        ([50, 1, 2, 3, 4], "3 (2 to 4)"),
        ([1e7, 1.2345e6, 5.5], "1.23 M (5.50 to 10.0 M)"),
        ([1.5, 2.5, math.inf, math.inf, math.inf], "never (least 1.50)"),
        ([True, False, True], "2 of 3"),
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
    assert evidence_tables.holm(p_values) == pytest.approx(corrected)


@pytest.mark.parametrize(
    ("differences", "as_far_out"),
    [
        ((1, 2, 3, 4, 5, 6), 2),  # of 64 choices of signs: all alike
        ((1, 1, 1, 1, 1, -1), 14),  # at most one sign of the other kind: 2 * (1 + 6)
        ((1, 1, 2, -3), 12),  # ranks 1.5, 1.5, 3 and 4, of which six sums are at most 4
        ((0, 0), 1),
    ],
)
def test_a_p_value_is_exact_with_ties_and_without(differences: tuple[int, ...], as_far_out: int) -> None:
    first = dict.fromkeys(range(len(differences)), 10.0)
    other = {seed: 10.0 + difference for seed, difference in enumerate(differences)}
    assert evidence_tables.p_value(first, other) == as_far_out / 2 ** np.count_nonzero(differences)
