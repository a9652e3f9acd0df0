"""`selfplay arena`: exact results against plain walks and known fractions, the table, and who may meet whom."""

from pathlib import Path

import pytest
from rich.console import Console

from selfplay.cli import arena
from selfplay.cli.arena import Match, result_of
from selfplay.judge.ask import AgentPolicy, agent_policy
from selfplay.named_players import resolve
from tests.runs import saved
from tests.selfplay.judge.hand_made_players import (
    Sampler,
    Sampling,
    ScriptedPlayer,
    certain,
    choices_of,
    first_empty,
    game_by_game,
    policy_of,
    stubborn,
)
from tictactoe import Rules


def opponent(name: str, rules: Rules | None = None) -> AgentPolicy:
    return resolve(name, rules=rules).policy


@pytest.mark.parametrize(
    ("rules", "sampling"),
    [
        (Rules(), certain(first_empty)),
        (Rules(2, 4, 3), certain(stubborn)),
        (Rules(2, 3, 3), choices_of("heuristic")),
    ],
)
def test_a_result_is_what_a_walk_through_every_game_says(rules: Rules, sampling: Sampling) -> None:
    player, random = agent_policy(Sampler(rules, sampling), rules), opponent("random", rules)
    for seat, result in enumerate((result_of(player, random), result_of(random, player))):
        expected = game_by_game(rules, sampling, seat)
        own = result[:3] if seat == 0 else result[2::-1]
        assert own == pytest.approx((expected.win, expected.draw, expected.loss), abs=1e-12)
        assert result.illegal[seat] == pytest.approx(expected.illegal_loss, abs=1e-12)
        assert result.illegal[1 - seat] == 0


def test_what_is_certain_has_the_probability_1() -> None:
    rules = Rules(1, 6, 1)  # six probabilities of 1/6 have a sum below 1
    assert result_of(opponent("random", rules), opponent("random", rules)) == Match(1, 0, 0, (0, 0))


def test_a_taken_cell_loses_the_game() -> None:
    first_cell = policy_of(ScriptedPlayer(lambda *_: 0))
    assert result_of(first_cell, first_cell) == Match(1, 0, 0, (0, 1))
    assert result_of(first_cell, opponent("random")) == Match(0, 0, 1, (1, 0))
    # As O it fails at once if cell 0 is taken, else with its second move.
    assert result_of(opponent("random"), first_cell) == Match(1, 0, 0, (0, 1))
    # With the mark that O has on cell 0 it would have a line.
    diagonal = policy_of(ScriptedPlayer(lambda mine, _: (4, 8, 0)[len(mine)]))
    assert result_of(diagonal, policy_of(ScriptedPlayer(first_empty))) == Match(0, 0, 1, (1, 0))


def test_two_deterministic_players_have_one_game_on_a_board_of_any_size() -> None:
    large = policy_of(ScriptedPlayer(first_empty), Rules(8, 8, 5))
    assert result_of(large, large) == Match(1, 0, 0, (0, 0))


@pytest.fixture
def players(here: Path) -> Path:
    """Save untrained players, of which one marks taken cells and the other plays a larger board."""
    saved(here / "plain")
    saved(here / "wide", rows=3, cols=4)
    return here


@pytest.mark.usefixtures("players")
def test_the_table_shows_every_player_and_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    arena.main(["plain", "random", "optimal"])
    output = capsys.readouterr().out
    rows = {line.split()[0]: line.split()[1:] for line in output.splitlines() if line.strip()}
    assert rows["X"][-3:] == ["plain", "random", "optimal"]
    assert rows["random"][1:] == ["58/13/29", "0/22/78"]
    assert rows["optimal"][1:] == ["97/3/0", "0/100/0"]
    assert "!" in output


@pytest.mark.usefixtures("players")
def test_players_without_a_board_play_that_of_a_run() -> None:
    entered = arena.enter(["heuristic", "wide", "rule"], "absolute")
    assert [*entered] == ["heuristic", "wide", "rule"]
    assert {player.rules for player in entered.values()} == {Rules(3, 4, 3)}
    assert {player.rules for player in arena.enter(["random", "optimal"], "absolute").values()} == {Rules()}


def test_shares_are_never_rounded_to_what_they_are_not() -> None:
    shares = {0: "0", 0.005: "<1", 0.006: "1", 0.128: "13", 0.994: "99", 0.995: ">99", 1: "100"}
    assert {share: arena.percent(share) for share in shares} == shares


def test_names_are_shown_as_they_are_and_in_full() -> None:
    names = ["[bold]x[/bold]", "runs/dqn-3x3x3-0-mask-20260101-120000", "\u65e5\u672c", "$a^b$"]
    results = {(x, o): Match(0.58, 0.13, 0.29, (0.004, 0.1)) for x in names for o in names}
    console = Console(width=80, record=True)
    console.print(arena.table(results))
    text = console.export_text()
    assert text.count("58/13/29") == text.count("!<1+10") == len(results)
    assert text.count("[bold]x") == 2
    assert "\u2026" not in text
