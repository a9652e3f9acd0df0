"""Killed runs continue to the same bits, and the harness that says so finds planted faults."""

import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from selfplay.learner import State
from selfplay.tabular.learners import TabularLearner
from tests.crash_and_resume import SETTINGS, Crashes, often_and_quickly

SHORT = "td-backup --games 40 --eval-every 40 --greedy-games 10"


@pytest.mark.parametrize("name", SETTINGS)
def test_a_run_killed_twice_ends_with_the_same_bits(name: str, tmp_path: Path) -> None:
    crashes, chance = Crashes(SETTINGS[name], tmp_path), random.Random(f"0 {name}")
    assert crashes.faults(*(chance.randint(1, crashes.calls) for _ in range(2))) == []


def test_a_run_killed_before_every_fifth_operation_on_a_file_ends_with_the_same_bits(tmp_path: Path) -> None:
    crashes = Crashes(SHORT, tmp_path)
    assert crashes.calls > 50
    faults = {number: crashes.faults(number) for number in range(1, crashes.calls + 1, 5)}
    assert {number: each for number, each in faults.items() if each} == {}


def forget_the_generator() -> None:
    restore = TabularLearner.restore

    def restore_the_rest(learner: TabularLearner, state: State, settings: Any) -> None:
        generator = learner.rng.bit_generator.state
        restore(learner, state, settings)
        learner.rng.bit_generator.state = generator

    often_and_quickly()
    setattr(TabularLearner, "restore", restore_the_rest)  # noqa: B010


def write_in_place_in(module: str) -> None:
    often_and_quickly()
    setattr(sys.modules[module], "write_whole", write_in_place)  # noqa: B010


def write_in_place(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content[:50])
        file.flush()
        file.write(content[50:])


@pytest.mark.parametrize(
    ("fault", "gist", "first"),
    [
        (forget_the_generator, "model.safetensors", 40),
        (partial(write_in_place_in, "selfplay.learning.folder"), "config.json: is truncated or not JSON", 1),
        (partial(write_in_place_in, "selfplay.learning.checkpoint"), "no checkpoint is intact; start a new run", 1),
    ],
)
def test_planted_faults_are_found(fault: Callable[[], None], gist: str, first: int, tmp_path: Path) -> None:
    crashes = Crashes(SHORT, tmp_path, fault)
    assert any(gist in each for number in range(first, first + 15) for each in crashes.faults(number))
