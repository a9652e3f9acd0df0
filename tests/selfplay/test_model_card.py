"""The files of the shipped players have the form that a run writes today, and the cards name the files of weights."""

import hashlib
import json

import numpy as np
import pytest

import selfplay
from selfplay.judge.ask import agent_policy
from selfplay.judge.counterexamples import find_counterexamples
from selfplay.runs.load import SHIPPED_FOLDERS


@pytest.mark.parametrize("name", SHIPPED_FOLDERS)
def test_a_shipped_folder_holds_a_run_of_today(name: str) -> None:
    run, folder = selfplay.open(name), SHIPPED_FOLDERS[name]
    assert run.verdict.unbeatable
    assert json.loads((folder / "evaluation.json").read_text()) == run.verdict.to_dict()
    assert {*run.snapshots} < {record.steps for record in run.records}
    content = (folder / "model.safetensors").read_bytes()
    assert hashlib.sha256(content).hexdigest() in (folder / "README.md").read_text()


def test_the_shipped_verdict_is_that_of_today() -> None:
    verdict = selfplay.evaluate("shipped")
    assert verdict.optimal
    assert selfplay.open("shipped").verdict == verdict


def test_nothing_beats_the_shipped_player_of_the_larger_board_in_a_sample_of_its_play() -> None:
    policy = agent_policy(selfplay.load("shipped-5x5x4"))  # all of it takes minutes
    assert find_counterexamples(policy, 200, np.random.default_rng(0)).verdict.ways_to_beat == 0
