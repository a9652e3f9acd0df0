"""What a person is shown of an agent: its verdict, the games that beat it, or one against itself."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from selfplay.judge.ask import AgentPolicy, agent_policy
from selfplay.judge.counterexamples import find_counterexamples
from selfplay.judge.evaluate import evaluate_policy
from selfplay.judge.example_games import example_games, self_play_cells
from selfplay.judge.verdict import NOT_JUDGED, SeatVerdict, Verdict
from selfplay.verdict_text import title, verdict_rows, verdict_text
from tests.selfplay.judge.hand_made_players import (
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
LOSES = replace(DRAWS, losses=1, best_response=-1)
CUT = SeatVerdict(losses=7, illegal=0, plies=6, positions=1_234)


def test_only_what_is_proved_is_called_so() -> None:
    verdicts = {
        "optimal": Verdict(DRAWS, DRAWS, 9, 9, 0),
        "unbeatable": Verdict(DRAWS, DRAWS, 9, 8, 0),
        "unexploitable": Verdict(replace(DRAWS, best_response=1), LOSES),
        "beaten": Verdict(LOSES, DRAWS),
        "cut": Verdict(DRAWS, replace(CUT, losses=0)),
        "not confirmed": Verdict(DRAWS, DRAWS, confirmed=False),
        "as X": Verdict(DRAWS, NOT_JUDGED, seat=0),
        "as O": Verdict(NOT_JUDGED, LOSES, seat=1),
    }
    titles = {name: title(verdict) for name, verdict in verdicts.items()}
    assert len(set(titles.values())) == len(titles)
    for name, verdict in verdicts.items():
        proved = verdict.unbeatable or verdict.unexploitable or name == "as X"
        assert titles[name].startswith("PROVED ") == proved
        assert verdict_text(verdict).startswith(titles[name])
        assert titles[name] in repr(verdict)
    assert title(Verdict(DRAWS, CUT)) == titles["beaten"]


def test_a_seat_that_was_not_judged_has_no_numbers_and_one_that_was_cut_at_once_has() -> None:
    cut = replace(CUT, losses=0, plies=0, positions=0)
    for verdict, empty in ((Verdict(DRAWS, NOT_JUDGED, seat=0), True), (Verdict(DRAWS, cut), False)):
        of_second = [row[2] for row in verdict_rows(verdict) if row[0] in ("by a line", "by its own illegal move")]
        assert [number == "-" for number in of_second] == [empty, empty]


class Valued(ScriptedPlayer):
    """A player that values the cell that it plays at its own marks and a tenth of the other seat's, others at 0."""

    rules = Rules()

    def q_values(self, observation: Any) -> Any:
        marks = observation[..., 1:].sum(axis=(1, 2)) @ [1, 0.1]
        return np.eye(observation.shape[1] * observation.shape[2])[self.act(observation)] * marks[:, None]

    def tensors(self) -> dict[str, Any]:
        return {}


def shown(policy: AgentPolicy, player: Any = None) -> str:
    evaluation = evaluate_policy(policy, every_state=policy.rules.cells <= 12)
    return example_games(evaluation, player, width=200)


def cells_shown(text: str) -> list[int]:
    """Return the cells of all plies above the boards; squares count from 1."""
    return [int(square) - 1 for square in re.findall(r"\d+\. [XO]: (\d+)", text)]


@pytest.mark.parametrize("choose", [first_empty, stubborn])
def test_the_shortest_games_that_beat_a_player_are_shown_with_its_values_and_the_exact_ones(choose: Any) -> None:
    player = Valued(choose)
    policy = policy_of(player, Rules())
    text = shown(policy, player)
    games = find_counterexamples(policy, 10**6, np.random.default_rng(0)).shortest
    assert cells_shown(text) == [cell for game in games for cell in game or ()]
    own = sum(len(range(seat, len(game), 2)) for seat, game in enumerate(games) if game)
    assert len(re.findall(r"learned \+\d\.\d", text)) == text.count("exact: ") == own
    assert text.count("exact: illegal") == (2 if choose is stubborn else 0)
    if choose is first_empty:
        assert "learned +2.20" in text  # as X, with two marks of each seat
        assert "learned +1.20" in text  # as O


def test_on_a_board_that_takes_long_to_solve_a_search_finds_the_exact_result(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = policy_of(ScriptedPlayer(first_empty), Rules(4, 4, 4))
    text = shown(policy)
    assert (text.count("exact: draw"), text.count("exact: loss")) == (5, 2)
    monkeypatch.setattr("selfplay.judge.example_games.MOVE_POSITIONS", 1)
    assert not re.search("exact: (draw|loss)", shown(policy))


def test_an_unbeaten_player_is_shown_against_itself_unless_it_samples() -> None:
    policy = policy_of(optimal_player(Rules()), Rules())
    cells = self_play_cells(policy)
    assert cells_shown(shown(policy)) == cells
    assert len(set(cells)) == 9
    assert not shown(agent_policy(Sampler(Rules(), choices_of("optimal"))))
    beaten = agent_policy(FirstTwo())
    assert cells_shown(shown(beaten))


def test_a_game_with_itself_ends_with_a_taken_cell() -> None:
    assert self_play_cells(policy_of(ScriptedPlayer(stubborn), Rules())) == [4, 0, 0]
