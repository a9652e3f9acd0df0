"""A checkpoint gives back what was written, for every setting; a damaged one is refused."""

import copy
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from selfplay.dqn import dqn
from selfplay.dqn.dqn import BOOTSTRAPS
from selfplay.dqn.learner import DQNLearner
from selfplay.runs.checkpoint import Kept, read_checkpoint, write_checkpoint
from selfplay.runs.loop import Counters
from selfplay.settings import to_json
from selfplay.tensor_file import read_state, write_state
from tests.selfplay.dqn.scripted import config_with

PROGRESS = Counters(due=960, seconds=1 / 3, proofs=1, evaluations=7, enlargements=2)
STATE: Mapping[str, Any] = {
    "array": np.arange(6, dtype=np.int16).reshape(2, 3)[::-1],
    "tensor": torch.arange(6.0).view(2, 3).T,
    "empty": np.zeros((0, 3)),
    "number": np.int64(3),
    "generator": 2**127 + 1,
    "deep": {"name": [1, None, "ö"]},
    "table": {str(number): [0.1] * 9 for number in range(30_000)},  # a megabyte of JSON
}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor | np.ndarray):
        return type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)


def assert_same_state(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    assert one.keys() == other.keys()
    assert [name for name in one if not same(one[name], other[name])] == []


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_state(tmp_path / "it", STATE, {"note": 3})
    state, notes = read_state(tmp_path / "it")
    assert_same_state(state, STATE)
    assert notes == {"note": 3}


OTHERS: tuple[dict[str, Any], ...] = (
    {"mask": True, "double": True},
    {"hidden": ()},
    {"message_rounds": 1, "message_width": 2},
    {"hard_update": 3, "loss": "mse"},
    {"counterexamples": 0.0, "explore": "any", "opponents": "snapshots"},
    {"networks": "separate", "opponents": "snapshots", "mask": True},
    {"perspective": "absolute", "counterexamples_kept": 5_000},
    {"rewards": "sparse", "updates_per_step": 2},
    {"rows": 4, "cols": 5, "k": 4},
    {"preset": "article", "target": "article"},
)
COMBINED = [
    {"target": target, "networks": networks, "symmetry": symmetry}
    for target, networks, symmetry in itertools.product(
        BOOTSTRAPS, ("shared", "separate"), ("canonical", "augment", "none")
    )
]


@pytest.mark.parametrize("changes", [*COMBINED, *OTHERS], ids=str)
def test_the_state_of_every_setting_continues_to_the_same_bits(
    changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dqn, "EVERY", 2)
    config = config_with(warmup=32, **changes)
    learner, resumed = DQNLearner(config), DQNLearner(config)
    for _ in range(6):
        learner.advance(1)
    kept = Kept(960, copy.deepcopy(learner.player().tensors()))
    write_checkpoint(tmp_path, learner.state(), kept, PROGRESS, config)
    found = read_checkpoint(tmp_path)
    assert found is not None
    assert found.progress == PROGRESS
    assert found.kept is not None
    assert found.kept.steps == 960
    assert_same_state(found.kept.tensors, kept.tensors)
    assert found.settings == to_json(config)
    resumed.restore(found.state)
    assert_same_state(resumed.state(), learner.state())
    for _ in range(4):
        learner.advance(1)
        resumed.advance(1)
    assert_same_state(resumed.state(), learner.state())
    assert learner.updates > 4
