"""The loop evaluates when it is due, teaches, tells its callbacks, counts proofs in a row, and stops."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from selfplay.learner import State
from selfplay.learning import loop
from selfplay.learning.loop import Callback, Progress, Record, first_of_final_streak, train
from selfplay.tabular.players import AfterstatePlayer
from tictactoe import Rules


@dataclass
class Config:
    """Stand in for the settings of a run."""

    length: int = 10
    eval_every: int = 3
    stop: str = "unbeatable"
    unit: str = "games"
    seed: int = 0


class ScriptedLearner:
    """Count steps, and note what the loop asks for."""

    updates = None

    def __init__(
        self, config: Config, greedy_games: int = 0, takes_counterexamples: bool = False, divides: bool = True
    ) -> None:
        self.config, self.greedy_games, self.divides = config, greedy_games, divides
        self.takes_counterexamples = takes_counterexamples
        self.steps = 0
        self.events: list[Any] = []

    def advance(self, most: int) -> None:
        self.steps += min(most, 2) if self.divides else 2

    def finish(self) -> bool:
        self.steps += self.greedy_games
        return self.greedy_games > 0

    def check_finite(self) -> None:
        self.events.append("checked")

    def player(self) -> Any:
        return AfterstatePlayer(Rules(), np.zeros(3**9))  # the first empty cell, which is beaten

    def teach(self, mover: Any, opponent: Any) -> None:
        self.events.append(("teach", self.steps, len(mover) == len(opponent) > 0))

    def metrics(self) -> dict[str, float]:
        return {"loss": 1.0}

    def state(self) -> State:
        return State({}, {"steps": self.steps})


class Listener(Callback):
    """Note each evaluation."""

    def __init__(self, learner: ScriptedLearner) -> None:
        self.learner = learner

    def evaluated(self, record: Record) -> None:
        self.learner.events.append(("evaluated", record.number, record.steps, record.proofs))


class ScriptedCheckpoints:
    """Be due every time, or never."""

    stopping = False

    def __init__(self, learner: ScriptedLearner, always: bool) -> None:
        self.learner, self.always = learner, always

    def due(self) -> bool:
        return self.always

    def write(self, state: State, progress: Progress) -> None:
        self.learner.events.append(("checkpoint", state.counters["steps"], progress.due, progress.proofs))


def events(learner: Any, progress: Progress | None = None, always: bool = False) -> Sequence[Any]:
    checkpoints: Any = ScriptedCheckpoints(learner, always)
    steps = [record.steps for record in train(learner, progress, [Listener(learner)], checkpoints)]
    assert steps == [event[2] for event in learner.events if event[0] == "evaluated"]
    return [event for event in learner.events if event != "checked"]


def test_evaluations_come_when_due_and_at_the_end_which_does_not_count() -> None:
    learner = ScriptedLearner(Config(), greedy_games=5)
    assert events(learner) == [
        ("evaluated", 1, 3, 0),
        ("evaluated", 2, 6, 0),
        ("evaluated", 3, 9, 0),
        ("evaluated", 4, 10, 0),
        ("checkpoint", 10, 12, 0),
        ("evaluated", 5, 15, 0),
    ]
    assert learner.events.count("checked") == 5 + 6  # at each evaluation, and at each snapshot between them
    assert learner.events[0] == "checked"  # before the first evaluation


def test_an_evaluation_that_comes_late_delays_the_next() -> None:
    learner = ScriptedLearner(Config(length=11), divides=False)
    assert [event[2] for event in events(learner) if event[0] == "evaluated"] == [4, 8, 12]


def test_checkpoints_come_between_evaluations_and_after_them() -> None:
    found = events(ScriptedLearner(Config(length=3)), always=True)
    early = [("checkpoint", 1, 3, 0), ("checkpoint", 2, 3, 0)]
    assert found == [*early, ("evaluated", 1, 3, 0), ("checkpoint", 3, 6, 0)]


@pytest.mark.parametrize(
    ("proofs", "counted"),
    [([1, 1, 1], [1, 2, 3]), ([1, 0, 1, 1], [1, 0, 1, 2]), ([1, 1, 0, 1], [1, 2, 0, 1])],
)
def test_three_proofs_in_a_row_stop_a_run(
    proofs: list[int], counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = iter(proofs)
    monkeypatch.setattr(loop, "proves", lambda *_: bool(next(script)))
    found = events(ScriptedLearner(Config()))
    assert [event[3] for event in found if event[0] == "evaluated"] == counted


def test_an_early_proof_at_the_end_is_shown_and_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "proves", lambda *_: True)
    found = events(ScriptedLearner(Config(length=7)))
    assert found[-2:] == [("evaluated", 3, 7, 3), ("checkpoint", 7, 9, 2)]


def test_a_resumed_run_goes_on_counting() -> None:
    learner = ScriptedLearner(Config())
    learner.steps = 6
    progress = Progress(due=9, seconds=100.0, proofs=1, evaluations=2)
    assert events(learner, progress)[0] == ("evaluated", 3, 9, 0)
    assert progress.seconds > 100


def test_counterexamples_are_taught_but_for_an_early_evaluation() -> None:
    learner = ScriptedLearner(Config(length=4), takes_counterexamples=True)
    assert [event for event in events(learner) if event[0] == "teach"] == [("teach", 3, True)]


@pytest.mark.parametrize(
    ("proofs", "first"), [([], None), ([True], 0), ([False, True, True], 1), ([True, False], None)]
)
def test_the_final_streak_begins_behind_the_last_failure(proofs: list[bool], first: int | None) -> None:
    assert first_of_final_streak(proofs) == first
