"""The wrong moves of a player in the page are those of the judge, one of all that are turned or reflected images."""

from typing import Any

import pytest

from selfplay.judge.ask import AgentPolicy
from selfplay.judge.evaluate import evaluate_policy
from selfplay.judge.mistakes import board_text, find_mistakes
from selfplay.verdict_text import verdict_text
from selfplay.web import evaluation_data
from selfplay.web.evaluation_data import evaluation
from tests.selfplay.judge.hand_made_players import FirstTwo, ScriptedPlayer, optimal_player, policy_of, random_table
from tests.selfplay.web.position_oracle import position_of
from tictactoe import Rules
from tictactoe.symmetry import symmetries


def image(board: str) -> str:
    """Return the least image of a board."""
    return min("".join(board[each] for each in origin) for origin in symmetries(Rules()).tolist())


@pytest.mark.parametrize("policy", [policy_of(random_table(Rules(), 1000, careless=0.1)), policy_of(FirstTwo())])
def test_there_is_one_of_all_images(policy: AgentPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation_data, "MOST_WRONG", 10_000)
    shown, found = evaluation(policy), evaluate_policy(policy)
    assert shown["verdict"] == verdict_text(found.verdict)
    assert (shown["kind"], shown["complete"], shown["proved"]) == ("optimal", True, None)
    assert shown["ways"] == [found.verdict.first.ways_to_beat, found.verdict.second.ways_to_beat]
    most = evaluation_data.FEW_GAMES if policy.samples else evaluation_data.MOST_GAMES
    assert len(shown["games"]) == sum(min(number, most) for number in shown["ways"])
    wrong = {}
    for each in find_mistakes(found):
        wrong[board_text(Rules(), each.mover, each.opponent).replace("\n", "")] = each.cell
    assert shown["number"] == len(wrong) == sum(each["states"] for each in shown["wrong"])
    assert shown["different"] == len(shown["wrong"]) == len({image(board) for board in wrong})
    assert all(wrong[each["board"]] == each["move"] for each in shown["wrong"])


def test_an_unbeatable_player_may_be_wrong_in_states_that_it_never_reaches() -> None:
    best = optimal_player(Rules()).choose

    def almost(mine: set[int], theirs: set[int]) -> int:
        return 1 if (mine, theirs) == ({1}, {0}) else best(mine, theirs)

    shown = evaluation(policy_of(ScriptedPlayer(almost)))
    assert (shown["proved"], shown["number"], shown["reached"], shown["different"]) == ("unbeatable", 1, 0, 1)
    assert shown["wrong"] == [{"board": "OX.......", "move": 1, "states": 1}]


def test_of_too_many_positions_numbers_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 64 cells the last one is the sign of a word."""
    monkeypatch.setattr(evaluation_data, "MOST_POSITIONS_OF_LARGE_BOARDS", 3)
    rules = Rules(8, 8, 3)
    shown = evaluation(policy_of(ScriptedPlayer(lambda mine, theirs: max(set(range(64)) - mine - theirs)), rules))
    assert (shown["kind"], shown["complete"], shown["reached"], shown["proved"]) == ("beaten", False, None, None)
    assert sum(each["states"] for each in shown["wrong"]) == shown["number"] > 0
    assert all(each["move"] == max(position_of(rules, each["board"]).legal) for each in shown["wrong"])
    assert any(63 in game for game in shown["games"])


def test_a_player_that_nothing_beats_on_a_larger_board_has_no_mistakes() -> None:
    def first_empty(mine: set[int], theirs: set[int]) -> Any:
        return min(set(range(13)) - mine - theirs)

    shown = evaluation(policy_of(ScriptedPlayer(first_empty), Rules(1, 13, 13)))
    assert (shown["proved"], shown["complete"], shown["wrong"], shown["games"]) == ("unbeatable", True, [], [])
