"""The mistakes made on purpose: each does what it says and nothing else, and the data file holds what was measured."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import symptoms
from benchmarks.learning.learners import ties_with_itself
from benchmarks.symptoms import EXPERIMENTS, OWN_TURN, RIGHT, Choices, Training
from docs.recipes import self_play_dqn
from docs.recipes.self_play_dqn import BOARDS

DOCS = Path(__file__).parents[2] / "docs"


def trained(choices: Choices, seed: int = 0, steps: int = 20) -> Training:
    """Return a training after some steps."""
    training = Training(choices, seed)
    for _ in range(steps):
        training.step()
    return training


def played(choices: Choices, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what is remembered of random play."""
    monkeypatch.setattr(symptoms, "EPSILON", 1.0)
    monkeypatch.setattr(Training, "update", lambda _: None)
    training = trained(choices, steps=40)
    return {name: part[: training.added] for name, part in training.memory.items()}


def marks(observations: Any) -> Any:
    """Return how many cells are empty, the mover's and the opponent's, [B, 3]."""
    return observations.reshape(len(observations), 9, 3).astype(int).sum(axis=1)


def test_without_a_mistake_it_is_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    plies = self_play_dqn.EVALUATE_EVERY
    monkeypatch.setattr(self_play_dqn, "TOTAL_PLIES", plies)
    assert trained(RIGHT, seed=3, steps=plies // BOARDS).evaluate() == self_play_dqn.main(seed=3)


def test_the_opponents_turn_follows_every_move(monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(RIGHT, monkeypatch)
    assert len(found["action"]) == 40 * BOARDS
    on = ~found["done"]
    before, after = marks(found["observation"][on]), marks(found["next_observation"][on])
    assert (after == before[:, [0, 2, 1]] + np.array([-1, 0, 1])).all()  # whose marks were mine are now the opponent's
    assert (found["next_legal"][on].sum(axis=1) == after[:, 0]).all()
    assert set(found["reward"].tolist()) == {0, 1}
    assert (found["reward"][on] == 0).all()


def test_my_own_next_turn_follows_a_move_and_the_loser_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(OWN_TURN, monkeypatch)
    on = ~found["done"]
    before, after = marks(found["observation"][on]), marks(found["next_observation"][on])
    assert (after == before + np.array([-2, 1, 1])).all()
    assert (found["next_legal"][on].sum(axis=1) == after[:, 0]).all()
    won, lost = (found["reward"] == 1).sum(), (found["reward"] == -1).sum()
    assert abs(won - lost) <= BOARDS  # of the last plies one may still wait
    assert lost > 50
    assert found["done"][found["reward"] != 0].all()
    untold = played(replace(OWN_TURN, loser_told=False), monkeypatch)
    assert not (untold["reward"] < 0).any()
    assert (untold["reward"] == 1).sum() == won


def test_a_stale_mask_is_that_of_the_position_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for stale in (True, False):
        found = played(replace(RIGHT, stale_mask=stale), monkeypatch)
        empty = found["observation"].reshape(-1, 9, 3)[..., 0] == 1
        assert (found["next_legal"] == empty).all(axis=1).tolist() == [stale] * len(empty)
    assert played(replace(RIGHT, masked="moves"), monkeypatch)["next_legal"].all()


def test_a_line_on_the_last_cell_can_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    for last_cell_wins in (True, False):
        found = played(replace(RIGHT, last_cell_wins=last_cell_wins), monkeypatch)
        last = marks(found["observation"])[:, 0] == 1
        assert (found["reward"][last] == 1).any() == last_cell_wins
        assert (found["reward"][~last] == 1).any()


def plays(*cells: int) -> Any:
    """Return an agent that plays these cells in order."""
    return SimpleNamespace(act=lambda observation: np.array([cells[9 - int(observation[..., 0].sum())]]))


def test_only_a_draw_is_a_tie() -> None:
    assert ties_with_itself(plays(0, 1, 2, 4, 3, 5, 7, 6, 8))
    assert not ties_with_itself(plays(0, 3, 1, 4, 2, 5, 6, 7, 8))
    assert not ties_with_itself(plays(0, 1, 2, 4, 3, 5, 7, 6, 7))


def test_the_size_of_the_target_is_that_of_the_newest_2_000_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    training = Training(RIGHT, seed=0)
    number = np.arange(4_000)
    training.remember(
        {
            "observation": np.zeros((4_000, 3, 3, 3)),
            "action": number,
            "reward": number,
            "next_observation": np.zeros((4_000, 3, 3, 3)),
            "next_legal": np.arange(9) < np.full((4_000, 1), 8),
            "done": number % 2 == 1,
        }
    )
    newest = torch.arange(3_998, 1_998, -2)  # in the order in which they are looked at
    values = -newest[:, None] - torch.ones(9)
    values[:, 8] = 10_000  # the highest, of a cell that the target leaves out
    monkeypatch.setattr(symptoms, "action_values", lambda *_: values)
    assert symptoms.target_size(training) == number[2_000::2].mean() + 1


def test_the_data_file_holds_five_seeds_of_every_row() -> None:
    measured = symptoms.read(DOCS)
    assert {symptom: rows.keys() for symptom, rows in measured.items()} == {
        symptom: rows.keys() for symptom, rows in EXPERIMENTS.items()
    }
    assert {len(results) for rows in measured.values() for results in rows.values()} == {5}
