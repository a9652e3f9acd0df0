"""The loop evaluates when it is due, teaches, records, counts proofs in a row, and stops."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.judge.teach import TrainingPositions
from selfplay.runs import loop
from selfplay.runs.loop import Counters, Record, Recorder, next_snapshot, train
from selfplay.settings import CustomConfig
from tests.runs import refused
from tictactoe import Rules

OPTIMAL = selfplay.evaluate("optimal")
VERDICTS = {
    "o": OPTIMAL,
    "u": dataclasses.replace(OPTIMAL, optimal_states=4_000),  # unbeatable
    "r": selfplay.evaluate("random"),
    "w": selfplay.evaluate("optimal", Rules(2, 2, 2)),  # where one seat wins with best play
}


class ScriptedLearner(Recorder):
    """A learner that counts steps, and notes what the loop asks for and records."""

    rules = Rules()

    def __init__(self, last_games: int = 0, most: int = 2, least: int = 0, often: bool = False) -> None:
        self._last_games, self._most, self._least, self.often = last_games, most, least, often
        self.steps = 0
        self.events: list[Any] = []

    def advance(self, most: int) -> None:
        self.steps += max(min(most, self._most), self._least)

    def finish(self) -> bool:
        self.steps += self._last_games
        return self._last_games > 0

    def player(self) -> Any:
        return first_empty_cell

    def state(self) -> dict[str, int]:
        return {"steps": self.steps}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.steps = state["steps"]

    # What the loop records

    def record(self, record: Record) -> None:
        self.events.append(("evaluated", record.number, record.steps, record.proofs))

    def snapshot(self, player: Any) -> None:
        assert player is first_empty_cell
        self.events.append(("snapshot", self.steps))

    def checkpoint(self, progress: Counters, now: bool) -> None:
        if now or self.often:
            self.events.append(("checkpoint", self.steps, progress.due, progress.proofs))


class Taught(ScriptedLearner):
    """A learner that takes counterexamples."""

    def teach(self, mover: Any, opponent: Any, move: Any) -> None:
        self.events.append(("teach", self.steps, len(mover) == len(opponent) == len(move) > 0))


def first_empty_cell(observation: Any) -> int:
    """Return what beats nobody."""
    return int(observation.reshape(-1, 3)[:, 0].argmax())


def config(length: int = 10, stop: str = "unbeatable") -> CustomConfig:
    return CustomConfig(total_steps=length, eval_every=3, stop=stop)  # type: ignore[arg-type]


def events(learner: ScriptedLearner, settings: CustomConfig, progress: Counters | None = None) -> Sequence[Any]:
    steps = [record.steps for record in train(learner, settings, progress, learner)]
    assert steps == [event[2] for event in learner.events if event[0] == "evaluated"]
    return [event for event in learner.events if event[0] != "snapshot"]


def numbers(found: Iterable[Any], kind: str, place: int) -> list[Any]:
    return [event[place] for event in found if event[0] == kind]


def test_evaluations_come_when_due_and_at_the_end_which_does_not_count() -> None:
    assert events(ScriptedLearner(last_games=5), config()) == [
        ("evaluated", 1, 3, 0),
        ("evaluated", 2, 6, 0),
        ("evaluated", 3, 9, 0),
        ("evaluated", 4, 10, 0),
        ("checkpoint", 10, 12, 0),
        ("evaluated", 5, 15, 0),
    ]


def test_an_evaluation_that_comes_late_delays_the_next() -> None:
    assert numbers(events(ScriptedLearner(least=2), config(11)), "evaluated", 2) == [4, 8, 12]


def test_checkpoints_come_between_evaluations_and_after_them() -> None:
    early = [("checkpoint", 1, 3, 0), ("checkpoint", 2, 3, 0)]
    assert events(ScriptedLearner(often=True), config(3)) == [*early, ("evaluated", 1, 3, 0), ("checkpoint", 3, 6, 0)]


def test_snapshots_are_even_in_the_logarithm_of_the_steps_ten_while_they_double() -> None:
    steps = [20]
    while steps[-1] < 640:
        steps.append(next_snapshot(80, steps[-1]))
    assert steps[:12] == [20, 22, 23, 25, 27, 29, 31, 33, 35, 38, 40, 43]
    assert [each for each in steps if each in (40, 80, 160, 320, 640)] == [40, 80, 160, 320, 640]
    assert len(steps) == 51
    learner = ScriptedLearner()
    events(learner, config(7))
    assert numbers(learner.events, "snapshot", 1) == [1, 2, 4, 5]  # and at 3 and 6 those of the evaluations


def test_a_run_that_is_asked_to_stop_ends_after_a_checkpoint() -> None:
    learner, asked = ScriptedLearner(), iter([False, False, False, True])
    records = list(train(learner, config(), recorder=learner, should_stop=lambda: next(asked)))
    assert [record.steps for record in records] == [3]
    assert learner.events[-1] == ("checkpoint", 4, 6, 0)


@pytest.mark.parametrize(
    ("stop", "script", "proofs", "lapses"),
    [
        ("unbeatable", "ooo", [1, 2, 3], [0, 0, 0]),  # three proofs in a row end the run
        ("unbeatable", "orooo", [1, 0, 1, 2, 3], [0, 1, 1, 1, 1]),
        ("unbeatable", "roror", [0, 1, 0, 1, 0], [None, 0, 1, 1, 2]),
        ("unbeatable", "www", [1, 2, 3], [0, 0, 0]),  # beaten in one seat, as everybody is
        ("optimal", "uuooo", [0, 0, 1, 2, 3], [0, 0, 0, 0, 0]),
        ("never", "rrooo", [0, 0, 0, 0, 0], [None, None, 0, 0, 0]),
    ],
)
def test_proofs_in_a_row_are_of_what_stop_asks_for_and_lapses_count_from_the_first(
    stop: str, script: str, proofs: list[int], lapses: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = iter(VERDICTS[letter] for letter in script)
    monkeypatch.setattr(loop, "evaluate_policy", lambda *_: SimpleNamespace(verdict=next(verdicts)))
    records = list(train(ScriptedLearner(), config(15, stop)))
    assert [record.proofs for record in records] == proofs
    assert [record.lapses for record in records] == lapses
    assert [record.metrics.get("eval/lapses") for record in records] == lapses
    first = lapses.index(0)
    to_proof = [record.metrics.get("eval/steps_to_proof") for record in records]
    assert to_proof == [records[first].steps if number == first else None for number in range(len(records))]


def test_an_early_proof_at_the_end_is_shown_and_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "proves", lambda *_: True)
    assert events(ScriptedLearner(), config(7))[-2:] == [("evaluated", 3, 7, 3), ("checkpoint", 7, 9, 2)]


def test_a_resumed_run_continues_its_counters() -> None:
    learner, progress = ScriptedLearner(), Counters(due=9, seconds=100.0, proofs=1, evaluations=2)
    learner.steps = 6
    assert events(learner, config(), progress)[0] == ("evaluated", 3, 9, 0)
    assert progress.seconds > 100


def test_a_run_without_steps_evaluates_what_it_begins_with() -> None:
    learner = ScriptedLearner()
    learner.steps = 10
    assert events(learner, config(10), Counters(due=12)) == [("evaluated", 1, 10, 0), ("checkpoint", 10, 12, 0)]


def test_counterexamples_are_taught_but_for_an_early_evaluation() -> None:
    found = events(Taught(), config(4))
    assert [event for event in found if event[0] == "teach"] == [("teach", 3, True)]


def test_an_evaluation_that_takes_longer_comes_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = np.zeros(0, np.int64)
    asked = []

    def evaluate(_policy: Any, _every_state: bool, _generator: Any, enlargements: int) -> TrainingPositions:
        asked.append(enlargements)
        verdict, wait = [("r", 1), ("r", 2.5), ("o", 1)][enlargements]
        return TrainingPositions(VERDICTS[verdict], nothing, nothing, nothing, 0, min(enlargements + 1, 2), wait)

    monkeypatch.setattr(loop, "evaluate_for_training", evaluate)
    found = [event[2] for event in events(Taught(), config(1_000)) if event[0] == "evaluated"]
    assert asked == [0, 1, 2, 2, 2]
    assert found == [3, 6, 13, 16, 19]


def test_a_learner_that_stands_still_is_refused() -> None:
    assert "ScriptedLearner" in refused(list, train(ScriptedLearner(most=0), config()))
