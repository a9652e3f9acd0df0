"""What a person is shown of an agent: its verdict, the games that beat it, or one against itself."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from selfplay.judging.agents import AgentPolicy
from selfplay.judging.evaluate import evaluate_policy
from selfplay.judging.games import example_games
from selfplay.judging.report import live_score, verdict_table, verdict_text
from selfplay.judging.verdict import SeatVerdict, Verdict
from selfplay.learning.metrics import evaluation_metrics, metrics_evaluation
from tests.selfplay.judging.players import (
    FirstTwo,
    Sampler,
    ScriptedPlayer,
    choices_of,
    first_empty,
    optimal_player,
    policy_of,
    stubborn,
)
from tictactoe import Rules

DRAWS = SeatVerdict(losses=0, illegal=0, win=0.75, draw=0.25, loss=0.0, best_response=0)
CUT = SeatVerdict(losses=7, illegal=0, plies=6, positions=1_234)


def test_the_verdict_in_words() -> None:
    proved, cut = Verdict(DRAWS, DRAWS), Verdict(DRAWS, CUT)
    score = "games lost 0 as X, 0 as O; illegal games 0 as X, 0 as O; "
    assert live_score(proved) == f"{score}exploitability 0"
    assert live_score(replace(proved, decision_states=9, optimal_states=8, illegal_states=0)).endswith(
        "optimal in 8 of 9 states"
    )
    assert live_score(cut) == "games lost 0 as X, ≥7 as O; illegal games 0 as X, ≥0 as O"
    assert verdict_text(proved).endswith("in either seat. Its exploitability is 0.")
    assert verdict_text(replace(proved, decision_states=9, optimal_states=9, illegal_states=0)).startswith(
        "PROVED UNBEATABLE AND OPTIMAL"
    )
    assert verdict_text(
        Verdict(replace(DRAWS, best_response=1), replace(DRAWS, losses=1, best_response=-1))
    ).startswith("PROVED UNEXPLOITABLE")
    assert verdict_text(Verdict(replace(DRAWS, losses=1, best_response=-1), DRAWS)).startswith("NOT unbeatable")
    assert verdict_text(cut).startswith("NOT unbeatable: some opponent beats it.")
    assert verdict_text(Verdict(DRAWS, replace(CUT, losses=0))).startswith("NOT PROVED: no lost game was met.")
    cells = [list(column.cells) for column in verdict_table(cut).columns]
    assert cells[1] == ["all", "0", "0", "draw", "75.00%", "25.00%", "0.00%"]
    assert cells[2] == ["6 (1,234 positions)", "≥7", "≥0", "?", "?", "?", "?"]


@pytest.mark.parametrize("verdict", [Verdict(DRAWS, DRAWS), Verdict(DRAWS, CUT), Verdict(DRAWS, DRAWS, 4520, 9, 0)])
def test_metrics_hold_a_verdict_and_give_it_back(verdict: Verdict) -> None:
    metrics = evaluation_metrics(verdict)
    assert metrics_evaluation(metrics, Rules()) == verdict
    assert ("eval/unbeatable" in metrics) == verdict.complete


class Valued(ScriptedPlayer):
    """Value the cell that it plays at its own marks and a tenth of the other seat's, and every other cell at 0."""

    rules = Rules()

    def q_values(self, observation: Any) -> Any:
        marks = observation[..., 1:].sum(axis=(1, 2)) @ [1, 0.1]
        return np.eye(observation.shape[1] * observation.shape[2])[self.act(observation)] * marks[:, None]

    def tensors(self) -> dict[str, Any]:
        return {}


def shown(policy: AgentPolicy, player: Any = None) -> str:
    return example_games(policy, player, evaluate_policy(policy), width=200)


def test_the_shortest_games_that_beat_a_player_are_shown_with_its_values_and_the_exact_ones() -> None:
    player = Valued(first_empty)
    text = shown(policy_of(player, Rules()), player)
    first, second = text.split("\n\nThe shortest game")
    assert first.startswith(
        "The shortest game that beats the player as X (squares count from 1), with the value that it"
    )
    assert "1. X: 1" in first
    assert first.count("learned") == 1 + 3  # in the heading, and above each board that it leaves
    assert "learned +2.20" in first
    assert first.count("exact: ") == 3
    assert first.rindex("exact: loss") > 0
    assert second.startswith(" that beats the player as O")
    assert "learned +1.20" in second
    assert "[X] O  O\n" in second
    assert second.count("exact: ") == 2


def test_a_taken_cell_is_named_as_illegal() -> None:
    text = shown(policy_of(ScriptedPlayer(stubborn), Rules()))
    assert "learned" not in text
    assert text.count("exact: illegal") == 2
    assert "(O) .  .          (O) .  .\n" in text
    assert "X (X) .          (X) X  .\n" in text


def test_on_a_board_that_takes_long_to_solve_a_search_finds_the_exact_result(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = policy_of(ScriptedPlayer(first_empty), Rules(4, 4, 4))
    text = shown(policy)
    assert text.startswith("The shortest game that beats the player as X (squares count from 1), with the exact result")
    assert text.count("exact: draw") == 5
    assert text.count("exact: loss") == 2
    monkeypatch.setattr("selfplay.judging.games.MOVE_POSITIONS", 1)
    monkeypatch.setattr("selfplay.judging.games.POSITIONS", 20)  # so few that a shorter game may have been left out
    text = shown(policy)
    assert text.count("exact: not known") > 1
    assert text.startswith("A game that beats the player as X")


def test_an_unbeaten_player_is_shown_against_itself() -> None:
    text = shown(policy_of(optimal_player(Rules()), Rules()))
    assert text.startswith("A game of the player against itself (squares count from 1):\n\n1. X: ")
    assert "\n(X) .  .      X  .  .      X (X) ." in text
    assert text.endswith("X (O) .      X  O (X)\n\nA draw.\n")


def test_an_agent_that_samples_is_shown_only_what_beats_it() -> None:
    beaten = shown(AgentPolicy(FirstTwo(), Rules()))
    assert "The shortest game that beats the player as X" in beaten
    assert "against itself" not in beaten
    assert not shown(AgentPolicy(Sampler(Rules(), choices_of("optimal")), Rules()))
