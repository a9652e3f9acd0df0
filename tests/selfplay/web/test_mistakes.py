"""The wrong moves and the ways to beat it are those of the evaluation."""

from typing import Any

import pytest

from selfplay.judge.ask import AgentPolicy
from selfplay.judge.evaluate import evaluate_policy
from selfplay.text import verdict_text
from selfplay.web import mistakes
from selfplay.web.mistakes import evaluation
from tests.selfplay.judge.players import FirstTwo, ScriptedPlayer, optimal_player, policy_of, random_table, stubborn
from tests.selfplay.web.positions import outcome, position_of, text_of, without_last
from tictactoe import Rules, solve
from tictactoe.symmetry import symmetries

WRONG_ONCE = {(2, 1): 1}
"""By the marks of the mover and of the opponent a move; only another first move than its own leads there."""


def gives_away(board: str, cell: int) -> bool:
    """Return whether a move does not keep the value of a position."""
    position = position_of(Rules(), board)
    after = -outcome(without_last(position.after(cell)))[0] if cell in position.empty else -2
    return after < outcome(position)[0]


def decisions() -> list[str]:
    tree = solve(Rules()).tree
    states = zip(*(field[tree.decisions].tolist() for field in (tree.mover, tree.opponent, tree.ply)), strict=True)
    return [text_of(position_of(Rules(), board_of(*state))) for state in states]


def board_of(mover: int, opponent: int, ply: int) -> str:
    first, second = (mover, opponent) if ply % 2 == 0 else (opponent, mover)
    return "".join("X" if first >> cell & 1 else "O" if second >> cell & 1 else "." for cell in range(9))


def image(board: str) -> str:
    """Return the least image of a board."""
    return min("".join(board[each] for each in origin) for origin in symmetries(Rules()).tolist())


@pytest.mark.parametrize(
    "policy",
    [
        policy_of(ScriptedPlayer(stubborn)),
        policy_of(random_table(Rules(), 1000, careless=0.1)),
        policy_of(FirstTwo()),
    ],
    ids=["stubborn", "random", "sampling"],
)
def test_they_are_those_of_the_evaluation(policy: AgentPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mistakes, "MOST_WRONG", 10_000)
    shown, verdict = evaluation(policy), evaluate_policy(policy).verdict
    assert shown["verdict"] == verdict_text(verdict)
    assert (shown["kind"], shown["complete"], shown["proved"]) == ("optimal", True, None)
    assert shown["ways"] == [verdict.first.ways_to_beat, verdict.second.ways_to_beat]
    most = mistakes.FEW_GAMES if policy.samples else mistakes.MOST_GAMES
    assert len(shown["games"]) == sum(min(number, most) for number in shown["ways"])
    wrong = set()
    for board in decisions():
        moves = int(policy.moves(*position_of(Rules(), board).words)[0])
        if any(gives_away(board, cell) for cell in range(9) if moves >> cell & 1):
            wrong.add(board)
    assert shown["number"] == len(wrong) == sum(each["states"] for each in shown["wrong"])
    assert shown["different"] == len(shown["wrong"])
    assert {image(each["board"]) for each in shown["wrong"]} == {image(board) for board in wrong}
    for each in shown["wrong"]:
        assert each["board"] in wrong
        assert gives_away(each["board"], each["move"])
        assert int(policy.moves(*position_of(Rules(), each["board"]).words)[0]) >> each["move"] & 1


def test_an_unbeatable_player_may_be_wrong_in_states_that_it_never_reaches() -> None:
    best = optimal_player(Rules()).choose

    def almost(mine: set[int], theirs: set[int]) -> int:
        return 1 if (mine, theirs) == ({1}, {0}) else best(mine, theirs)

    shown = evaluation(policy_of(ScriptedPlayer(almost)))
    assert (shown["proved"], shown["number"], shown["reached"], shown["different"]) == ("unbeatable", 1, 0, 1)
    assert shown["wrong"] == [{"board": "OX.......", "move": 1, "states": 1}]


def test_of_too_many_positions_numbers_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 64 cells the last one is the sign of a word."""
    monkeypatch.setattr(mistakes, "MOST_POSITIONS_OF_LARGE_BOARDS", 3)
    rules = Rules(8, 8, 3)
    shown = evaluation(policy_of(ScriptedPlayer(lambda mine, theirs: max(set(range(64)) - mine - theirs)), rules))
    assert (shown["kind"], shown["complete"], shown["reached"], shown["proved"]) == ("beaten", False, None, None)
    assert sum(each["states"] for each in shown["wrong"]) == shown["number"] > 0
    for each in shown["wrong"]:
        assert each["move"] == max(position_of(rules, each["board"]).empty)
    assert any(63 in game for game in shown["games"])


def test_a_player_that_nothing_beats_on_a_larger_board_has_no_mistakes() -> None:
    def first_empty(mine: set[int], theirs: set[int]) -> Any:
        return min(set(range(13)) - mine - theirs)

    shown = evaluation(policy_of(ScriptedPlayer(first_empty), Rules(1, 13, 13)))
    assert (shown["proved"], shown["complete"], shown["number"], shown["wrong"]) == ("unbeatable", True, 0, [])
    assert (shown["ways"], shown["games"]) == ([0, 0], [])
