"""The data of the players in a page: of runs, of built-in opponents and of your own agents."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from selfplay.judge.verdict import SeatVerdict, Verdict
from selfplay.runs.folder import METRICS, MODEL, SNAPSHOTS, write_config
from selfplay.runs.metrics import evaluation_metrics
from selfplay.tensor_file import write_tensors
from selfplay.web import player_data
from selfplay.web.player_data import history, players_data, worth
from tests.runs import refused, save, saved
from tests.selfplay.dqn.scripted import config_with, make
from tests.variants import InventedRules
from tictactoe import Rewards, Rules

VERDICT = Verdict(
    SeatVerdict(losses=3, illegal=0, best_response=-1), SeatVerdict(losses=4, illegal=2, best_response=-1)
)
UNFINISHED = Verdict(VERDICT.first, SeatVerdict(losses=10, illegal=1, plies=5, positions=100))
AGENTS = """
class Uniform:
    def probabilities(self, observation, action_mask=None):
        empty = observation[..., 0].reshape(len(observation), -1).astype(float)
        return empty / empty.sum(axis=1, keepdims=True)

class Fails:
    def act(self, observation, action_mask=None):
        return {}["the key"]

uniform, fails = Uniform(), Fails()
"""


def found(names: Sequence[str], rules: Rules | None = None) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in players_data(names, rules=rules)}


def test_named_players_come_first_once_and_a_small_board_has_rivals(here: Path) -> None:
    saved(here / "one", mask=True)
    saved(here / "larger", rows=3, cols=4, k=3)
    assert [*found(["one", "heuristic", "one"])] == ["one", "heuristic", "random"]
    assert [*found(["larger", "one"])] == ["larger", "one"]
    assert found(["rule"], Rules(2, 3, 3))["random"]["rules"] == {"rows": 2, "cols": 3, "k": 3}


def test_what_is_no_player_or_cannot_be_computed_by_a_page_is_named(here: Path) -> None:
    (here / "web_agents.py").write_text(AGENTS)
    (here / "empty").mkdir()
    saved(here / "damaged")
    (here / "damaged" / MODEL).write_bytes(b"[")
    own = config_with()
    save(here / "own", own, make(own).player())
    write_config(here / "own", own, {"network": "nets:wide"})
    for name, rules, named in (
        ("empty", None, "config.json"),
        ("damaged", None, MODEL),
        ("own", None, "nets:wide"),
        ("shipped", Rules(4, 4, 4), "4,4,4"),
        ("optimal", Rules(5, 5, 4), "5,5,4"),
        ("rule", InventedRules(invented=True), "invented=True"),
        ("web_agents:fails", None, "the key"),
    ):
        assert named in refused(players_data, [name], rules=rules)


def test_your_own_agent_has_a_table_of_answers_and_a_verdict(here: Path) -> None:
    (here / "web_own.py").write_text(AGENTS)
    uniform = found(["web_own:uniform"])["web_own:uniform"]
    assert (uniform["kind"], uniform["samples"], uniform["evaluation"]["complete"]) == ("own", True, True)
    assert "weights" not in uniform


def test_no_module_is_imported_for_the_name_of_a_folder(here: Path) -> None:
    (here / "web_program.py").write_text("agent = open('executed', 'w')\n")
    saved(here / "web_program:agent")
    assert found(["web_program:agent"])["web_program:agent"]["kind"] == "dqn"
    assert not (here / "executed").exists()


def test_a_loss_costs_what_the_target_makes_of_the_rewards() -> None:
    rewards = Rewards(win=2, loss=-3, draw=0.5)
    shaped = {"loss": -2, "draw": 0.5, "win": 2, "allow": -1, "illegal": -10}
    assert shaped.items() <= worth(config_with(rewards=rewards)).items()
    assert worth(config_with(rewards=rewards, target="independent"))["loss"] == -4
    assert worth(config_with(rewards=rewards, mask=True))["illegal"] == 0


def line(steps: int, verdict: Verdict = VERDICT) -> str:
    return json.dumps({"plies": steps, "time/training_s": 0.5, **evaluation_metrics(verdict)}) + "\n"


def test_a_point_of_the_curve_has_the_ways_to_beat_in_both_seats_or_those_found_so_far(tmp_path: Path) -> None:
    saved(tmp_path / "run")
    assert history(tmp_path / "run") == []
    (tmp_path / "run" / METRICS).write_text(line(70) + line(71, UNFINISHED))
    points = [{"steps": 70, "ways": 9, "exact": True}, {"steps": 71, "ways": 14, "exact": False}]
    assert history(tmp_path / "run") == points


@pytest.mark.parametrize("count", [1, 400, 401, 803])
def test_of_many_points_some_are_kept_evenly_with_the_last(count: int, tmp_path: Path) -> None:
    saved(tmp_path / "run")
    (tmp_path / "run" / METRICS).write_text("".join(line(steps) for steps in range(count)))
    steps = [point["steps"] for point in history(tmp_path / "run")]
    assert min(count, 200) <= len(steps) <= 400
    assert steps[-1] == count - 1
    assert len({after - before for before, after in pairwise(steps)}) <= 1


def test_if_there_is_no_room_for_all_snapshots_some_are_kept_evenly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, snapshots = tmp_path / "run", tmp_path / "run" / SNAPSHOTS
    config = saved(run)
    snapshots.mkdir()
    for number in range(1, 10):
        write_tensors(snapshots / f"{number}00.safetensors", make(replace(config, seed=number)).player().tensors())
    whole = player_data.snapshots_data(run)
    assert whole["steps"] == [100 * number for number in range(1, 10)]
    monkeypatch.setattr(player_data, "ROOM_FOR_SNAPSHOTS", len(whole["parts"]) // 2)
    some = player_data.snapshots_data(run)["steps"]
    assert (some[0], some[-1]) == (100, 900)
    assert 2 < len(some) < 6
