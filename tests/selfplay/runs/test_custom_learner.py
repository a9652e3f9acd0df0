"""A custom learner is trained, resumed, loaded and opened as ours are; its player may be a plain function."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import selfplay
from tests.runs import assert_same, metrics, refused
from tests.selfplay.runs.drift import Drift, DriftAsFunction
from tictactoe import Rules

SHORT: dict[str, Any] = {"total_steps": 400, "eval_every": 100, "stop": "never"}
LEARNERS = [Drift, DriftAsFunction]
pytestmark = pytest.mark.usefixtures("stopper")


@pytest.mark.parametrize("kind", LEARNERS)
def test_it_is_trained_without_a_folder_and_each_record_has_its_player(kind: type[Drift]) -> None:
    learner = kind(seed=3)
    records = list(selfplay.training(learner=learner, **SHORT))
    assert [record.steps for record in records] == [100, 200, 300, 400]
    assert len({record.verdict for record in records}) == 4
    assert [selfplay.evaluate(each.player, Rules()) for each in records] == [each.verdict for each in records]
    assert (learner.taught > 0) == (kind is Drift)
    if kind is Drift:
        assert records[-1].metrics["weights/mean"] == learner.weights.mean()


@pytest.mark.parametrize("kind", LEARNERS)
def test_its_run_is_resumed_to_the_same_bits_and_loaded(kind: type[Drift], tmp_path: Path) -> None:
    whole = selfplay.train(learner=kind(seed=3), **SHORT, run_dir=tmp_path / "whole" / "it")
    calls = itertools.count()
    half = selfplay.train(
        learner=kind(seed=3), **SHORT, run_dir=tmp_path / "half" / "it", stop_when=lambda: next(calls) == 25
    )
    assert half.interrupted
    resumed = selfplay.train(learner=kind, resume=half.folder)  # made again with its settings
    assert_same(whole.folder, resumed.folder)
    assert [line["steps"] for line in metrics(whole.folder)] == [100, 200, 300, 400]
    config = json.loads((whole.folder / "config.json").read_text())["config"]
    assert (config["options"], config["seed"]) == ({"scale": 0.5, "seed": 3}, 3)
    assert config["learner"].endswith(f":{kind.__name__}")
    opened = selfplay.open(whole.folder, learner=kind)
    assert opened.records == whole.records
    for run in (whole, resumed, opened):
        assert {*run.snapshots} >= {100, 200, 400}
        assert selfplay.evaluate(run.snapshots[200], Rules()) == run.records[1].verdict
        assert selfplay.evaluate(run.player, Rules()) == run.verdict
    given = kind()
    selfplay.load(whole.folder, learner=given)
    assert given.steps == 0  # a learner that is given stays as it was


def test_a_run_of_a_custom_learner_needs_it_and_names_it(tmp_path: Path) -> None:
    run = selfplay.train(learner=Drift(seed=3), **SHORT, run_dir=tmp_path / "it")
    for message in (refused(selfplay.load, run.folder), refused(selfplay.train, resume=run.folder)):
        assert str(run.folder) in message
        assert f"{Drift.__module__}:Drift" in message
    assert "learner" in refused(selfplay.load, "shipped", learner=Drift)
    assert "scale" in refused(selfplay.train, learner=Drift(scale=2.0, seed=3), resume=run.folder, total_steps=500)


def test_a_state_that_an_older_learner_wrote_is_refused_with_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = itertools.count()
    half = selfplay.train(learner=Drift, **SHORT, run_dir=tmp_path / "it", stop_when=lambda: next(calls) == 25)
    state = Drift.state
    monkeypatch.setattr(Drift, "state", lambda drift: {**state(drift), "momentum": np.zeros(3)})
    for read in (lambda: selfplay.train(learner=Drift, resume=half.folder), lambda: selfplay.load(half, learner=Drift)):
        assert "momentum" in refused(read)


def test_what_a_learner_takes_for_its_metrics_is_no_time_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    class Measuring(Drift):
        now, advances = 0, 0

        def advance(self, most: int) -> None:
            super().advance(most)
            Measuring.now += 1
            Measuring.advances += 1

        def metrics(self) -> dict[str, float]:
            Measuring.now += 1_000
            return {}

    monkeypatch.setattr("time.perf_counter", lambda: Measuring.now)
    *_, record = selfplay.training(learner=Measuring, **SHORT)
    assert record.metrics["time/training_s"] == Measuring.advances > 0


class Odd(Drift):
    """A learner with a state that no file can hold."""

    def state(self) -> dict[str, Any]:
        return {"rules": self.rules}


class Unsettled(Drift):
    """A learner with settings that no JSON holds."""

    def __init__(self) -> None:
        super().__init__()
        self.settings = {"scale": np.zeros(2)}  # type: ignore[dict-item]


class Elsewhere(Drift):
    """A learner that does not say on which board it plays."""

    rules = (3, 3, 3)  # type: ignore[assignment]


class Lacking:
    """A learner that only advances."""

    rules, steps = Rules(), 0

    def advance(self, most: int) -> None:
        """Learn nothing."""


class Waiting:
    """A learner that does not advance."""

    rules, steps = Rules(), 0


@pytest.mark.parametrize(
    ("learner", "named"),
    [
        (Lacking, ["player", "state", "restore"]),
        (Lacking(), ["player", "state", "restore"]),
        (Waiting, ["advance", "player"]),
        (Waiting(), ["advance", "player"]),
        ("Drift", ["str", "advance"]),
        (Odd, ["state"]),
        (Unsettled, ["settings"]),
        (Elsewhere, ["rules"]),
    ],
)
def test_a_learner_that_does_not_fit_is_refused_with_what_it_lacks(
    learner: Any, named: list[str], tmp_path: Path
) -> None:
    message = refused(selfplay.train, learner=learner, run_dir=tmp_path / "it")
    assert [name for name in named if name not in message] == []
    assert ("advance" in message) == ("advance" in named)
