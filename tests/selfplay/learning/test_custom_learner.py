"""A learner of the user: trained, resumed, loaded and proved as ours are."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import selfplay
from selfplay.cli import prove
from selfplay.players import resolve
from tests.runs import metrics, read_checkpoint, refused
from tests.selfplay.own.drift import Drift
from tictactoe import Rules

SHORT: dict[str, Any] = {"total_steps": 400, "eval_every": 100, "stop": "never"}
NAME = "tests.selfplay.own.drift:Drift"


def test_it_is_trained_without_a_folder_and_each_record_has_its_player() -> None:
    learner = Drift(seed=3)
    records = list(selfplay.training(learner=learner, **SHORT))
    assert [record.steps for record in records] == [100, 200, 300, 400]
    assert len({record.evaluation for record in records}) == 4
    assert [selfplay.evaluate(each.player, Rules()) for each in records] == [each.evaluation for each in records]
    assert learner.taught > 0
    assert records[-1].metrics["weights/mean"] == learner.weights.mean()


@pytest.mark.usefixtures("stopper")
def test_its_run_is_complete_and_a_resumed_one_has_the_same_bits(tmp_path: Path) -> None:
    whole = selfplay.train(learner=Drift(seed=3), **SHORT, run_dir=tmp_path / "whole")
    calls = itertools.count()
    half = selfplay.train(
        learner=Drift(seed=3), **SHORT, run_dir=tmp_path / "half", stop_when=lambda: next(calls) == 25
    )
    assert half.interrupted
    resumed = selfplay.train(learner=Drift, resume=half.folder)  # made again with its settings
    for run in (whole, resumed):
        names = {path.name for path in run.folder.iterdir()}
        assert names >= {"config.json", "metrics.jsonl", "model.safetensors", "evaluation.json", "progress.png"}
        assert [name for name in names if name.startswith("events.out")]
        assert {*run.snapshots} == {*whole.snapshots} >= {100, 200, 400}
    assert (whole.folder / "model.safetensors").read_bytes() == (resumed.folder / "model.safetensors").read_bytes()
    tensors, others = (read_checkpoint(run.folder)[0] for run in (whole, resumed))
    assert all(torch.equal(tensor, others[name]) for name, tensor in tensors.items())
    same = [[line["eval/games_lost"] for line in metrics(run.folder)] for run in (whole, resumed)]
    assert same[0] == same[1]
    config = json.loads((whole.folder / "config.json").read_text())
    assert config["config"]["options"] == {"scale": 0.5, "seed": 3}
    assert config["config"]["learner"] == NAME
    assert config["config"]["seed"] == 3  # the learner's, unless another is given


@pytest.mark.usefixtures("stopper")
def test_its_player_is_loaded_by_a_name_that_a_person_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = selfplay.train(learner=Drift(seed=3), **SHORT, run_dir=tmp_path / "it")
    player: Any = selfplay.load(run.folder, learner=Drift)
    assert np.array_equal(player.weights, run.player.weights)  # type: ignore[attr-defined]
    given = Drift()
    selfplay.load(run.folder, learner=given)
    assert given.steps == 0  # a learner that is given stays as it was
    again = selfplay.open(run.folder, learner=Drift)
    assert [each.evaluation for each in again.records] == [each.evaluation for each in run.records]
    for one in (run, again):
        assert selfplay.evaluate(one.records[1].player, Rules()) == one.records[1].evaluation
        assert selfplay.evaluate(one.player, Rules()) == one.proof
    prove.main([f"{NAME}@{run.folder}"])
    assert f"optimal in {run.proof.optimal_states:,} of 4,520 decision states" in capsys.readouterr().out
    assert resolve(f"{NAME}@{run.folder}").rules == Rules()
    wanted = f"its learner is your own, {NAME}; name it {NAME}@{run.folder} where"
    for refusal in (refused(selfplay.load, run.folder), refused(resolve, str(run.folder))):
        assert wanted in refusal
    assert wanted in refused(selfplay.train, resume=run.folder)
    assert "leave out learner=" in refused(selfplay.load, "shipped", learner=Drift)


class Idle(Drift):
    """Never learn."""

    def advance(self, most: int) -> None:
        del most


class Odd(Drift):
    """Have a state that no file can hold."""

    def state(self) -> dict[str, Any]:
        return {"rules": self.rules}


@pytest.mark.parametrize(
    ("learner", "gist"),
    [
        (Idle(), "Idle: advance(25) must increase steps, but left them at 0"),
        (object(), "a object is not a learner: it has no rules, steps, advance, player, state, restore"),
    ],
)
def test_a_learner_that_does_not_fit_is_refused(learner: Any, gist: str) -> None:
    assert gist in refused(next, selfplay.training(learner=learner, **SHORT))


def test_a_state_that_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    assert "state() of a learner must hold arrays" in refused(selfplay.train, learner=Odd(), run_dir=tmp_path / "it")


def test_a_state_is_given_back_as_it_was() -> None:
    from selfplay.own.learner import packed, unpacked  # noqa: PLC0415

    state: dict[str, Any] = {
        "array": np.arange(6, dtype=np.int16).reshape(2, 3)[::-1],
        "tensor": torch.ones(2),
        "number": np.int64(3),
    }
    back = unpacked(packed({**state, "deep": {"name": [1, None]}}))
    assert np.array_equal(back["array"], state["array"])
    assert back["array"].dtype == np.int16
    assert torch.equal(back["tensor"], torch.ones(2))
    assert (back["number"], back["deep"]) == (3, {"name": [1, None]})
