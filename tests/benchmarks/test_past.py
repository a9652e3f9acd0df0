"""What is counted past a run's first proof, by hand."""

import math

from benchmarks.sweeps.past import Past, past_proof, rows


def lines(proved: str, optimal: str) -> list[dict[str, float]]:
    """Return the record of a run; a 1 is an evaluation at which it was so."""
    return [
        {"plies": 100.0 * number, "eval/unbeatable": float(one), "eval/optimal_fraction": 1.0 if all_ == "1" else 0.999}
        for number, (one, all_) in enumerate(zip(proved, optimal, strict=True), start=1)
    ]


def test_evaluations_count_from_the_first_proof_on() -> None:
    found = past_proof(lines("0011011101", "1000001100"), "plies")
    assert found == Past(300.0, 8, 2, 2)
    assert found.shares == (25.0, 25.0)
    assert past_proof(lines("1", "1"), "plies").shares == (0.0, 100.0)


def test_a_run_without_a_proof_has_no_share() -> None:
    never = past_proof(lines("000", "000"), "plies")
    assert never == Past(math.inf, 0, 0, 0)
    assert all(math.isnan(share) for share in never.shares)


def test_settings_are_compared_on_equal_seeds() -> None:
    never = Past(math.inf, 0, 0, 0)
    first = {0: Past(1, 100, 10, 50), 1: Past(1, 100, 20, 50), 2: never}
    other = {0: Past(1, 100, 30, 40), 1: never, 2: Past(1, 100, 90, 40)}
    default, changed = rows({"default": first, "double=true": other})
    assert default[:2] == ["`default`", "3"]
    assert default[2].startswith("15.00 (")
    assert default[3] == default[5] == "-"
    assert changed[2].startswith("60.00")
    assert changed[3] == "+20.00"  # only with seed 0 are both proved
    assert changed[5] == "-10.00"
