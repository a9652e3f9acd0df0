"""Killed runs continue to the same bits, and the harness that says so finds planted faults."""

import random
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from selfplay.dqn.learner import DQNLearner
from tests.crash_and_resume import SETTINGS, Crashes
from tests.killed import often_and_quickly


@pytest.mark.parametrize("name", SETTINGS)
def test_a_run_killed_twice_ends_with_the_same_bits(name: str, tmp_path: Path) -> None:
    crashes, chance = Crashes(SETTINGS[name], tmp_path), random.Random(f"0 {name}")
    assert crashes.faults(*(chance.randint(1, crashes.calls) for _ in range(2))) == []


def forget_the_generator() -> None:
    restore = DQNLearner.restore

    def restore_the_rest(learner: DQNLearner, state: Mapping[str, Any]) -> None:
        generator = learner.self_play.generator.get_state()
        restore(learner, state)
        learner.self_play.generator.set_state(generator)

    often_and_quickly()
    setattr(DQNLearner, "restore", restore_the_rest)  # noqa: B010


def write_in_place_in(module: str) -> None:
    often_and_quickly()
    setattr(sys.modules[module], "write_whole", write_in_place)  # noqa: B010


def write_in_place(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content[:50])
        file.flush()
        file.write(content[50:])


@pytest.mark.parametrize(
    ("fault", "gist"),
    [
        (forget_the_generator, "model.safetensors"),
        (partial(write_in_place_in, "selfplay.learning.folder"), "config.json"),
        (partial(write_in_place_in, "selfplay.tensor_file"), "checkpoint.safetensors"),
    ],
)
def test_planted_faults_are_found(fault: Callable[[], None], gist: str, tmp_path: Path) -> None:
    crashes = Crashes(SETTINGS["default"], tmp_path, fault)
    moments = [2, 6, *range(15, crashes.calls, 9)]
    assert any(gist in each for moment in moments for each in crashes.faults(moment))
