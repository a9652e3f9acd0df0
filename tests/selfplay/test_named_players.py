"""Names of players: agents by `module:name`, run folders, built-in opponents; every mistake is named."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from selfplay.cli import play, prove, train
from selfplay.named_players import resolve, run_folder
from selfplay.runs.load import SHIPPED, SHIPPED_FOLDERS
from tests.runs import refused, saved
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS

AGENTS = """
import numpy
from tictactoe import Rules, solve

def optimal(observation):
    board = observation.reshape(9, 3)
    first, second = (sum(1 << int(cell) for cell in numpy.flatnonzero(board[:, plane])) for plane in (1, 2))
    marks = (first, second) if (first | second).bit_count() % 2 == 0 else (second, first)
    return solve(Rules()).lookup(*marks)[1][0]

class Uniform:
    def probabilities(self, observation, action_mask=None):
        empty = observation[..., 0].reshape(len(observation), -1).astype(float)
        return empty / empty.sum(axis=1, keepdims=True)

class Wide(Uniform):
    rules = Rules(3, 4, 3)

class Samples:
    def act(self, observation, action_mask=None):
        return numpy.random.default_rng().integers(9, size=len(observation))

class Fails:
    def act(self, observation, action_mask=None):
        return {}["the key"]

uniform, wide, samples, fails, number = Uniform(), Wide(), Samples(), Fails(), 3
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a module of agents."""
    (tmp_path / "my_agents.py").write_text(AGENTS)
    (tmp_path / "my_broken.py").write_text("import nothing_of_that_name\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    monkeypatch.delitem(sys.modules, "my_agents", raising=False)
    return tmp_path


def test_every_kind_of_name_is_resolved(here: Path) -> None:
    saved(here / "rule", rows=3, cols=4)  # a folder has no say over the name of a built-in opponent
    saved(here / "it", rows=3, cols=4)
    saved(here / "my_agents:big")  # a folder called like a module is a run, and no code is imported
    wide, shipped = Rules(3, 4, 3), SHIPPED_FOLDERS[SHIPPED]
    for name, rules, folder in (("rule", Rules(2, 2, 2), None), ("it", wide, "it"), ("shipped", Rules(), shipped)):
        named = resolve(name, rules=rules)
        assert (named.rules, named.folder) == (rules, folder and Path(folder))
        if folder is not None:
            assert resolve(name).rules == rules
            assert play.choose_opponent(play.PlayConfig(opponent=name)).rules == rules
            assert "2,2,2" in refused(resolve, name, rules=Rules(2, 2, 2))
        assert (named.player is None) == (folder is None)
    assert resolve("my_agents:big").player is not None
    assert "my_agents" not in sys.modules
    start = np.zeros(1, np.int64)
    for name, rules in (("my_agents:wide", wide), ("my_agents:uniform", Rules(2, 2, 2))):
        own = resolve(name, rules=rules)
        assert (own.player, own.folder, own.rules) == (None, None, rules)
        assert own.policy.probabilities(start, start) == pytest.approx(1 / rules.cells)
    assert run_folder("random") is run_folder("nowhere") is run_folder("my_agents:wide") is None


def test_a_custom_agent_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    prove.main(["my_agents:optimal"])
    assert "PROVED UNBEATABLE AND OPTIMAL" in capsys.readouterr().out
    prove.main(["my_agents:uniform", "--perspective", "mover", "--rows", "3", "--cols", "2"])
    output = capsys.readouterr().out
    assert "NOT unbeatable" in output
    assert " mover" in output


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("my_agents:nobody", "nobody"),
        ("my_broken:x", "No module named 'nothing_of_that_name' (my_broken.py"),
        ("my_agents:number", "int"),
        ("my_agents:samples", "my_agents:samples"),
        ("my_agents:Fails", "class"),
        ("model.zip", "DQN.load('model.zip')"),
        ("net.pth", "load_state_dict(torch.load('net.pth'))"),
        ("net.onnx", "InferenceSession('net.onnx')"),
        ("table.json", "open('table.json')"),
        ("heuristc", "did you mean heuristic?"),
        ("my_agents", ", ".join((*SHIPPED_FOLDERS, *OPPONENTS))),
        (".", "."),
    ],
)
def test_a_mistake_is_named(name: str, named: str) -> None:
    assert named in refused(prove.main, [name])


def test_a_folder_of_runs_lists_the_newest_of_them(here: Path) -> None:
    for number in range(11):
        saved(here / "runs" / f"run-{number}")
        os.utime(here / "runs" / f"run-{number}", (0, number))
    newest = ", ".join(f"runs/run-{number}" for number in range(10, 0, -1))
    for command, words in ((prove.main, ["runs"]), (train.main, ["--resume", "runs"])):
        assert newest in refused(command, words)


def test_modules_are_found_in_the_current_folder_by_the_installed_program_too(here: Path) -> None:
    program: list[str | Path] = [Path(sys.executable).parent / "selfplay", "prove", "my_agents:fails"]
    done = subprocess.run(program, cwd=here, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "KeyError: 'the key' (my_agents.py, line 25)" in done.stderr
