"""Killed runs continue to the same bits."""

import random
from pathlib import Path

import pytest

from tests.crash_and_resume import SETTINGS, Crashes


@pytest.mark.parametrize("name", SETTINGS)
def test_a_run_killed_twice_ends_with_the_same_bits(name: str, tmp_path: Path) -> None:
    crashes, chance = Crashes(SETTINGS[name], tmp_path), random.Random(f"0 {name}")
    assert crashes.faults(*(chance.randint(1, crashes.calls) for _ in range(2))) == []
