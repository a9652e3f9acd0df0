"""Schedules are exact at their edges."""

import pytest

from selfplay.dqn.schedules import linear


@pytest.mark.parametrize(
    ("plies", "expected"),
    [(0, 1.0), (1, 0.991), (50, 0.55), (99, 0.109), (100, 0.1), (101, 0.1), (10**12, 0.1)],
)
def test_linear_goes_from_start_to_end_and_stays(plies: int, expected: float) -> None:
    assert linear(1.0, 0.1, 100, plies) == pytest.approx(expected, abs=1e-12)


def test_a_schedule_without_duration_is_constant_at_its_end() -> None:
    assert [linear(0.9, 0.2, 0, plies) for plies in (0, 1, 1000)] == [0.2, 0.2, 0.2]


def test_a_schedule_may_rise() -> None:
    assert linear(0.0, 1.0, 4, 3) == 0.75
