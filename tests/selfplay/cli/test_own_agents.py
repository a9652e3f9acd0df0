"""Agents of one's own by `module:name`, and `shipped`, wherever a run folder is taken; every mistake is one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from selfplay.arena import command as arena
from selfplay.cli import prove
from tests.runs import refused

AGENTS = """
import numpy
from tictactoe import Rules, solve

def first_empty(observation):
    return int(observation[..., 0].argmax())

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

class Draws:
    def act(self, observation, action_mask=None):
        return numpy.random.default_rng().integers(9, size=len(observation))

class Fails:
    def act(self, observation, action_mask=None):
        return {}["the key"]

stubborn = lambda observation: 0
uniform, wide, draws, fails, number = Uniform(), Wide(), Draws(), Fails(), 3
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with a module of agents."""
    (tmp_path / "my_agents.py").write_text(AGENTS)
    (tmp_path / "my_broken.py").write_text("import nothing_of_that_name\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    monkeypatch.delitem(sys.modules, "my_agents", raising=False)
    return tmp_path


def test_an_own_agent_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    prove.main(["my_agents:optimal"])
    output = capsys.readouterr().out
    assert "PROVED UNBEATABLE AND OPTIMAL" in output
    assert "9. X" in output  # its game against itself
    prove.main(["my_agents:first_empty", "--perspective", "mover", "--rows", "4", "--cols", "5", "--k", "4"])
    assert "NOT unbeatable" in capsys.readouterr().out


def test_an_agent_that_draws_is_proved_without_a_game(capsys: pytest.CaptureFixture[str]) -> None:
    prove.main(["my_agents:uniform"])
    output = capsys.readouterr().out
    assert "58.49%" in output
    assert "on average" in output
    assert "9. X" not in output
    prove.main(["my_agents:wide"])
    assert "decision states" in capsys.readouterr().out


def test_the_shipped_player_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    prove.main(["shipped"])
    assert "PROVED UNBEATABLE AND OPTIMAL" in capsys.readouterr().out


def test_everybody_meets_in_an_arena(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arena.main(["my_agents:optimal", "shipped", "my_agents:uniform", "random", "--out", "it"])
    lines = (here / "it" / "results.csv").read_text().splitlines()
    shares = {tuple(line.split(",")[:2]): line.split(",")[2:5] for line in lines[1:]}
    assert shares["my_agents:optimal", "shipped"] == ["0.0", "1.0", "0.0"]
    uniform, random = shares["my_agents:uniform", "my_agents:uniform"], shares["random", "random"]
    assert [float(share) for share in uniform] == pytest.approx([float(share) for share in random], abs=1e-12)
    assert "my_agents:optimal" in capsys.readouterr().out


def test_an_agent_that_draws_is_sampled_on_a_board_too_large_to_follow(here: Path) -> None:
    (here / "big.py").write_text(
        "import my_agents\nclass Big(my_agents.Uniform):\n    rules = my_agents.Rules(4, 5, 4)\nbig = Big()"
    )
    arena.main(["big:big", "my_agents:uniform", "heuristic", "--games", "2000", "--out", "it"])
    lines = (here / "it" / "results.csv").read_text().splitlines()
    shares = {tuple(line.split(",")[:2]): [float(share) for share in line.split(",")[2:5]] for line in lines[1:]}
    assert shares["big:big", "my_agents:uniform"] == pytest.approx(shares["my_agents:uniform", "big:big"], abs=0.06)
    assert shares["heuristic", "big:big"][0] > 0.8
    assert all(line.split(",")[5:7] == ["0.0", "0.0"] for line in lines[1:])  # what has no probability is not drawn


@pytest.mark.parametrize(
    ("name", "gist"),
    [
        (
            "my_agents:nobody",
            "my_agents:nobody: cannot be imported: AttributeError: module 'my_agents' has no attribute",
        ),
        ("my_agent:optimal", "my_agent:optimal: cannot be imported: ModuleNotFoundError: No module named 'my_agent'"),
        (
            "my_broken:x",
            "cannot be imported: ModuleNotFoundError: No module named 'nothing_of_that_name' (my_broken.py",
        ),
        ("my_agents:number", "my_agents:number: a int is no agent: it has neither act(observation) nor"),
        ("my_agents:draws", "my_agents:draws: the agent answers the same positions differently when asked twice"),
        ("my_agents:fails", "my_agents:fails: KeyError: 'the key' (my_agents.py, line 28)"),
        ("my_agents:Fails", "my_agents:Fails: TypeError: "),
        (
            "nowhere",
            "nowhere: is neither a run folder, nor one of shipped, random, heuristic, rule, optimal, nor module:",
        ),
    ],
)
def test_a_mistake_is_one_line(name: str, gist: str) -> None:
    assert gist in refused(prove.main, [name])


def test_modules_are_found_where_one_stands_by_the_installed_program_too(here: Path) -> None:
    program = Path(sys.executable).parent / "selfplay"
    done = subprocess.run(
        [program, "prove", "my_agents:optimal"], cwd=here, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "PROVED UNBEATABLE AND OPTIMAL" in done.stdout
