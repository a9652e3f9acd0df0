"""What `selfplay prove` says of built-in opponents, and of boards that are too large, to people and to programs."""

import csv
import hashlib
import json
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest

import selfplay
from selfplay.cli import prove
from selfplay.judge.example_games import self_play_game
from selfplay.runs.load import SHIPPED, SHIPPED_FOLDERS
from tests.selfplay.judge.hand_made_players import policy_of
from tictactoe import Rules

NARROW = SimpleNamespace(
    rules=Rules(1, 2, 2), act=lambda observation: observation[..., 0].reshape(-1, 2).argmax(axis=1)
)
"""An agent that brings a board on which nobody loses."""


def test_the_board_that_an_agent_brings_is_named_and_a_game_of_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    prove.main([f"{__name__}:NARROW"])
    output = capsys.readouterr().out
    assert "1,2,2" in output
    assert self_play_game(policy_of(NARROW, NARROW.rules)) in output


def talkative(observation: Any) -> int:
    print("thinking")
    return int(observation[..., 0].argmax())


def printed(capsys: pytest.CaptureFixture[str], line: str) -> dict[str, Any]:
    """Return the JSON object that is all that a command prints."""
    prove.main([*line.split(), "--json"])
    described: dict[str, Any] = json.loads(capsys.readouterr().out)
    return described


def test_a_verdict_for_programs_says_whose_it_is_and_what_python_says(capsys: pytest.CaptureFixture[str]) -> None:
    described = printed(capsys, "shipped")
    checksum = hashlib.sha256((SHIPPED_FOLDERS[SHIPPED] / "model.safetensors").read_bytes()).hexdigest()
    assert (described["player"], described["model_sha256"]) == ("shipped", checksum)
    assert described["versions"]["tictactoe-selfplay"] == selfplay.__version__
    verdict = selfplay.evaluate("shipped").to_dict()
    assert verdict == {name: described[name] for name in verdict}
    assert (verdict["optimal"], verdict["lower_bounds"]) == (True, [])


def test_what_an_agent_prints_is_not_part_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    described = printed(capsys, f"{__name__}:talkative --no-every-state")
    assert (described["losses"], described["illegal"], described["ways_to_beat"]) == (487, 0, 487)
    assert (described["optimal"], described["optimal_states"], described["model_sha256"]) == (False, None, None)


def test_lower_bounds_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    described = printed(capsys, "random --rows 4 --cols 5 --k 2 --positions 5000")
    assert described["board"] == asdict(Rules(4, 5, 2))
    assert not described["complete"]
    assert "second.losses" in described["lower_bounds"]
    for name in described["lower_bounds"]:
        seat, _, count = name.rpartition(".")
        assert isinstance((described[seat] if seat else described)[count], int), name
    assert described["ways_to_beat"] == sum(described[seat]["ways_to_beat"] for seat in ("first", "second")) > 0
    assert (described["exploitability"], described["first"]["loss"]) == (None, None)


def test_players_are_compared_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    prove.main(["shipped", "heuristic", f"{__name__}:NARROW", "--csv"])
    shipped, heuristic, narrow = csv.DictReader(capsys.readouterr().out.splitlines())
    assert [row["player"] for row in (shipped, heuristic, narrow)] == ["shipped", "heuristic", f"{__name__}:NARROW"]
    assert float(heuristic["second.loss"]) == selfplay.evaluate("heuristic").second.loss
    assert (shipped["ways_to_beat"], heuristic["ways_to_beat"]) == ("0", "8320")
    assert (shipped["unbeatable"], heuristic["unbeatable"], narrow["board.rows"]) == ("True", "False", "1")
    assert (heuristic["model_sha256"], shipped["lower_bounds"]) == ("", "")
