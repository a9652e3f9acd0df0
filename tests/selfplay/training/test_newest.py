"""What a run leaves for who watches it: the newest player's opening and game, at most once a second."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selfplay.training.newest import Newest

from selfplay.algorithms import load
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.games import self_play_cells
from selfplay.training import experiment
from tests.runs import DQN, TABULAR, Stopper, in_parts
from tictactoe import Rules, batch


class Stubborn:
    """Want the same cell always, taken or not."""

    rules = Rules()

    def __init__(self, values: list[float]) -> None:
        self.values = np.array(values)

    def q_values(self, observation: Any) -> Any:
        return np.tile(self.values, (len(observation), 1))

    def act(self, observation: Any, _mask: Any = None) -> Any:
        return np.full(len(observation), np.nanargmax(self.values))


def written(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / "newest.json").read_text())
    assert isinstance(content, dict)
    return content


@pytest.fixture
def player() -> Any:
    return Stubborn([0.5, math.nan, math.inf, -1.0, 0, 0, 0, 0, 0])


def test_it_says_what_the_player_thinks_and_plays(tmp_path: Path, player: Any) -> None:
    player.values[2] = -math.inf
    Newest(tmp_path).show(70, player, 2)
    opening = [0.5, None, None, -1.0, 0, 0, 0, 0, 0]
    assert written(tmp_path) == {"steps": 70, "opening": opening, "game": [0, 0], "proofs": 2}


def test_it_is_written_once_a_second_and_at_the_end(
    tmp_path: Path, player: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 5.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    newest = Newest(tmp_path)
    steps = []
    for number, moment in enumerate((5.0, 5.9, 6.0, 6.1, 6.9, 7.5)):
        now = moment
        newest.show(number, player, 0)
        steps.append(written(tmp_path)["steps"])
    assert steps == [0, 0, 2, 2, 2, 5]
    newest.show(9, player, 0, last=True)
    assert written(tmp_path)["steps"] == 9


@pytest.mark.parametrize(
    "args", [DQN, [*DQN, "--rows", "2", "--cols", "3", "--k", "2"], ["minimax-q", *TABULAR]], ids=" ".join
)
def test_at_the_end_of_a_run_it_is_that_of_its_player(
    args: list[str], tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "proves", lambda *_: True)
    in_parts(args, tmp_path / "it", stopper, [])
    player = load(tmp_path / "it")
    content, rules = written(tmp_path / "it"), player.rules
    opening = np.asarray(player.q_values(batch.observe(rules, batch.reset(rules, 1, np), "mover")))[0]
    assert content["opening"] == pytest.approx(opening.tolist(), abs=1e-6)
    assert content["game"] == self_play_cells(player_policy(player))
    assert len(content["opening"]) == rules.cells
    assert content["proofs"] == 3  # evaluations
    assert content["steps"] == (1_000 if "minimax-q" in args else 2_400)


@pytest.mark.parametrize(("proofs", "running"), [([], 0), ([1, 1], 2), ([1, 0], 0), ([0, 1, 0, 1, 1], 2)])
def test_proofs_count_as_long_as_they_run_on(proofs: list[int], running: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "proves", lambda proof, _: proof == 1)
    assert experiment._proofs_running([(7, proof, {}) for proof in proofs], "optimal") == running  # type: ignore[misc]
