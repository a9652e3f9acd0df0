"""What `selfplay prove` says of built-in opponents, and of boards that are too large."""

from types import SimpleNamespace

import pytest

from selfplay.cli import prove
from selfplay.judging.games import self_play_game
from tests.runs import refused
from tests.selfplay.judging.players import policy_of
from tictactoe import Rules

NARROW = SimpleNamespace(
    rules=Rules(1, 2, 2), act=lambda observation: observation[..., 0].reshape(-1, 2).argmax(axis=1)
)
"""An agent that brings a board on which nobody loses."""


@pytest.mark.parametrize(
    ("args", "named"),
    [("optimal --rows 5 --cols 5 --k 4", "5,5,4"), ("rule --rows 15 --cols 15 --k 5", "15,15,5")],
)
def test_a_board_that_is_too_large_is_named(args: str, named: str) -> None:
    assert named in refused(prove.main, args.split())


def test_the_board_that_an_agent_brings_is_named_and_a_game_of_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    prove.main([f"{__name__}:NARROW"])
    output = capsys.readouterr().out
    assert "1,2,2" in output
    assert self_play_game(policy_of(NARROW, NARROW.rules)) in output
