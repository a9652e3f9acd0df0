"""The players that can be chosen: named ones, runs and built-ins; damaged runs say so, changed ones load again."""

import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from selfplay.runs.folder import CONFIG, MODEL
from selfplay.web import catalogue
from selfplay.web.catalogue import Catalogue
from tests.runs import refused, saved
from tests.selfplay.dqn.scripted import config_with
from tests.selfplay.web.serving import serving
from tests.variants import InventedRules
from tictactoe import Rewards, Rules
from tictactoe.opponents import OPPONENTS

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


def of(*named: str, runs: Path | None = None) -> Catalogue:
    return Catalogue(named, runs, "absolute", Rules())


def names(players: Catalogue) -> list[str]:
    return [entry["name"] for entry in players.entries()]


def test_named_players_come_first_once_and_keep_their_numbers(tmp_path: Path) -> None:
    saved(tmp_path / "one", mask=True)
    both = of(str(tmp_path / "one") + "/", "rule", "shipped", "rule", runs=tmp_path)
    assert names(both) == ["one", "rule", "shipped", *(name for name in OPPONENTS if name != "rule")]
    numbers = {entry["name"]: entry["index"] for entry in both.entries()}
    saved(tmp_path / "another", rows=3, cols=4, k=3, seed=7)
    entries = {entry["name"]: entry for entry in both.entries()}
    assert {name: entries[name]["index"] for name in numbers} == numbers
    assert entries["another"]["rules"] == asdict(Rules(3, 4, 3))
    assert entries["another"]["kind"] == "dqn"


def test_a_name_without_a_player_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "config.json" in refused(of, str(tmp_path / "empty"))
    assert "9,9,5" in refused(Catalogue, ["rule"], None, "absolute", Rules(9, 9, 5))
    assert names(Catalogue(["rule"], None, "absolute", Rules(8, 8, 5)))[0] == "rule"
    assert "4,4,4" in refused(Catalogue, ["shipped"], None, "absolute", Rules(4, 4, 4))
    assert "invented=True" in refused(Catalogue, ["rule"], None, "absolute", InventedRules(invented=True))


def test_your_own_agents_are_loaded_by_name_and_evaluated(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "web_agents.py").write_text(AGENTS)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    with serving("web_agents:uniform", "web_agents:fails") as served:
        uniform, fails = served.get("/api/players").json["players"][:2]
        assert (uniform["name"], uniform["kind"], uniform["run"]) == ("web_agents:uniform", "own", False)
        shown = served.get(f"/api/analysis?player={uniform['index']}&board=X........").json
        assert shown["moves"] == [1, 2, 3, 4, 5, 6, 7, 8]
        assert served.get(f"/api/evaluation?player={uniform['index']}").json["complete"]
        failed = served.get(f"/api/evaluation?player={fails['index']}")
        assert failed.status == 400
        assert "the key" in failed.json["error"]


def test_no_module_is_imported_for_the_name_of_a_folder(here: Path) -> None:
    (here / "web_program.py").write_text("agent = open('executed', 'w')\n")
    for name in ("web_program:agent", "optimal"):
        saved(here / name)
    players = of(runs=Path())
    numbers = {entry["name"]: entry["index"] for entry in players.entries() if entry["kind"] == "dqn"}
    assert numbers.keys() == {"shipped", "web_program:agent", "optimal"}
    (here / "web_program:agent").rename(here / "elsewhere")
    assert "web_program:agent" in refused(players.player, numbers["web_program:agent"])
    assert not (here / "executed").exists()


@pytest.mark.parametrize("file", [CONFIG, MODEL])
def test_a_damaged_run_is_an_entry_with_an_error(file: str, tmp_path: Path) -> None:
    saved(tmp_path / "damaged")
    (tmp_path / "damaged" / file).write_bytes(b"[")
    damaged = of(runs=tmp_path).entries()[1]
    assert (damaged["name"], damaged["rules"], damaged["waiting"]) == ("damaged", None, False)
    assert file in damaged["error"]


def test_a_run_that_has_only_begun_waits_for_its_player(tmp_path: Path) -> None:
    config = saved(tmp_path / "begun", rewards="sparse")
    (tmp_path / "begun" / MODEL).unlink()
    saved(tmp_path / "ended")
    entries = {entry["name"]: entry for entry in of(runs=tmp_path).entries()}
    assert [entries[name]["waiting"] for name in ("begun", "ended", "shipped")] == [True, False, False]
    assert entries["begun"]["worth"] == catalogue.worth(config)


def test_a_loss_costs_what_the_target_makes_of_the_rewards() -> None:
    rewards = Rewards(win=2, loss=-3, draw=0.5)
    shaped = {"loss": -2, "draw": 0.5, "win": 2, "allow": -1, "illegal": -10}
    assert shaped.items() <= catalogue.worth(config_with(rewards=rewards)).items()
    assert catalogue.worth(config_with(rewards=rewards, target="independent"))["loss"] == -4
    assert catalogue.worth(config_with(rewards=rewards, mask=True))["illegal"] == 0
