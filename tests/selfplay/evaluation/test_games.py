"""What a person is shown of a player: the games that beat it, with what it thought, or one against itself."""

from typing import Any

import numpy as np
import pytest
from selfplay.evaluation.judge import Judge
from selfplay.evaluation.reach import assess

from selfplay.evaluation.games import telling_games
from tests.selfplay.evaluation.players import ScriptedPlayer, first_empty, optimal_player, stubborn
from tictactoe import Rules


class Valued(ScriptedPlayer):
    """Value the cell that it plays at its own marks and a tenth of the other seat's, and every other cell at 0."""

    rules = Rules()

    def q_values(self, observation: Any) -> Any:
        marks = observation[..., 1:].sum(axis=(1, 2)) @ [1, 0.1]
        return np.eye(observation.shape[1] * observation.shape[2])[self.act(observation)] * marks[:, None]

    def tensors(self) -> dict[str, Any]:
        return {}


def shown(agent: Any, rules: Rules, player: Any = None) -> str:
    judge = Judge(agent, rules, "mover", twice=False)
    return telling_games(judge, player, assess(judge), width=200)


def test_the_shortest_games_that_beat_a_player_are_shown_with_its_values_and_the_exact_ones() -> None:
    player = Valued(first_empty)
    text = shown(player, Rules(), player)
    first, second = text.split("\n\nThe shortest game")
    assert first.startswith("The shortest game that beats the player as X, with the value that it has learned of each")
    assert "1. X: 1" in first
    assert first.count("learned") == 1 + 3  # in the heading, and above each board that it leaves
    assert "learned +2.20" in first
    assert first.count("exact: ") == 3
    assert first.rindex("exact: loss") > 0
    assert second.startswith(" that beats the player as O")
    assert "learned +1.20" in second
    assert "[X] O  O\n" in second
    assert second.count("exact: ") == 2


def test_a_taken_cell_is_told_as_what_it_is() -> None:
    text = shown(ScriptedPlayer(stubborn), Rules())
    assert "learned" not in text
    assert text.count("exact: illegal") == 2
    assert "(O) .  .          (O) .  .\n" in text
    assert "X (X) .          (X) X  .\n" in text


def test_on_a_board_that_takes_long_to_solve_a_search_tells_the_exact_result(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(ScriptedPlayer(first_empty), Rules(4, 4, 4))
    assert text.startswith("The shortest game that beats the player as X, with the exact result with best play from")
    assert text.count("exact: draw") == 5
    assert text.count("exact: loss") == 2
    monkeypatch.setattr("selfplay.evaluation.games.MOVE_POSITIONS", 1)
    assert shown(ScriptedPlayer(first_empty), Rules(4, 4, 4)).count("exact: not known") > 1
    monkeypatch.setattr("selfplay.evaluation.games.POSITIONS", 20)  # so few that a shorter game may have been left out
    assert shown(ScriptedPlayer(first_empty), Rules(4, 4, 4)).startswith("A game that beats the player as X")


def test_an_unbeaten_player_is_shown_against_itself() -> None:
    text = shown(optimal_player(Rules()), Rules())
    assert text.startswith("A game of the player against itself:\n\n1. X: ")
    assert "\n(X) .  .      X  .  .      X (X) ." in text
    assert text.endswith("X (O) .      X  O (X)\n\nA draw.\n")


@pytest.mark.parametrize("beaten", [True, False])
def test_an_agent_that_draws_is_shown_only_what_beats_it(beaten: bool) -> None:
    class Drawing:
        def probabilities(self, observation: Any, action_mask: Any = None) -> Any:  # noqa: ARG002 (an agent's signature)
            if beaten:
                return np.full((len(observation), 9), 1 / 9)
            return np.eye(9)[optimal_player(Rules()).act(observation)]

    text = shown(Drawing(), Rules())
    assert ("The shortest game that beats the player as X" in text) is beaten
    assert "against itself" not in text
