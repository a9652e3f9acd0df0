"""The mistakes and the ways to beat it are those of the evaluation, grouped by the losing move."""

from typing import Any

import pytest

from selfplay.judge.ask import AgentPolicy, player_policy
from selfplay.judge.evaluate import evaluate_policy
from selfplay.judge.mistakes import ILLEGAL
from selfplay.position import Position, read_board
from selfplay.text import verdict_text
from selfplay.web import mistakes
from selfplay.web.mistakes import evaluation
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.judge.players import FirstTwo, ScriptedPlayer, policy_of, random_table, stubborn
from tests.selfplay.web.positions import value
from tictactoe import Rules
from tictactoe.symmetry import symmetries

SEED = 1000


def value_after(position: Position, cell: int) -> int:
    """Return what a move is worth to the seat that makes it."""
    return -value(position.after(cell)) if cell in position.empty else ILLEGAL


def image(board: str, cell: int) -> tuple[str, int]:
    """Return the least image of a board with a move."""
    turned = [[int(each) for each in origin] for origin in symmetries(Rules())]
    return min(("".join(board[each] for each in origin), origin.index(cell)) for origin in turned)


@pytest.mark.parametrize(
    "make_policy",
    [
        pytest.param(lambda: policy_of(ScriptedPlayer(stubborn)), id="stubborn"),
        pytest.param(lambda: policy_of(random_table(Rules(), SEED, careless=0.1)), id="random"),
        pytest.param(lambda: policy_of(FirstTwo()), id="sampling"),
        pytest.param(
            lambda: player_policy(make(config_with(seed=SEED, symmetry="canonical")).player()), id="canonical"
        ),
    ],
)
def test_they_are_those_of_the_evaluation(make_policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mistakes, "MOST_GROUPS", 10_000)
    policy: AgentPolicy = make_policy()
    shown, verdict = evaluation(policy), evaluate_policy(policy).verdict
    assert shown["verdict"] == verdict_text(verdict)
    assert (shown["kind"], shown["complete"], shown["proved"]) == ("optimal", True, None)
    assert shown["number"] == (verdict.decision_states or 0) - (verdict.optimal_states or 0)
    assert shown["ways"] == [verdict.first.ways_to_beat, verdict.second.ways_to_beat]
    groups = shown["groups"]
    assert sum(group["states"] for group in groups) == shown["number"]
    assert shown["reached"] == sum(is_wrong(policy, position) for position in met(policy))
    assert len({image(group["board"], group["move"]) for group in groups}) == len(groups) == shown["different"]
    for group in groups:
        position = read_board(policy.rules, group["board"])
        assert policy.probabilities(*position.words)[0, group["move"]] > 0
        assert value_after(position, group["move"]) < value(position)
    check_games(policy, shown)


def is_wrong(policy: AgentPolicy, position: Position) -> bool:
    """Return whether some move of the policy does not keep the value."""
    cells = policy.rules.cells_of(int(policy.moves(*position.words)[0]))
    return any(value_after(position, cell) < value(position) for cell in cells)


def met(policy: AgentPolicy) -> list[Position]:
    """Return the positions in which the policy is to move in some game against some opponent."""
    found = {}
    for seat in (0, 1):
        waiting, seen = [Position(policy.rules)], set()
        while waiting:
            position = waiting.pop()
            if position.over or position.marks in seen:
                continue
            seen.add(position.marks)
            cells: Any = position.empty
            if position.seat == seat:
                found[position.marks] = position
                cells = policy.rules.cells_of(int(policy.moves(*position.words)[0]))
            waiting += [position.after(cell) for cell in cells if cell in position.empty]
    return list(found.values())


def check_games(policy: AgentPolicy, shown: dict[str, Any]) -> None:
    """Play the games, and compare the groups with the last move of each that gives something away."""
    games = [tuple(game) for game in shown["games"]]
    assert len(set(games)) == sum(min(number, mistakes.MOST_GAMES) for number in shown["ways"])
    losing = {}
    for game in games:
        illegal = len({*game}) < len(game)
        loser, position = (len(game) - illegal) % 2, Position(policy.rules)
        for ply, cell in enumerate(game):
            if position.seat == loser:
                assert policy.probabilities(*position.words)[0, cell] > 0
                if value_after(position, cell) < value(position):
                    losing[game] = ply, position, cell
            position = position.after(cell) if cell in position.empty else position
        assert illegal or position.winner == 1 - loser
    assert sum(group["games"] for group in shown["groups"]) == len(losing) == len(games)
    numbers = [group["games"] for group in shown["groups"]]
    assert numbers == sorted(numbers, reverse=True)
    for group in shown["groups"]:
        assert (group["game"] is None) is (group["games"] == 0)
        if group["game"]:
            ply, position, cell = losing[tuple(group["game"])]
            assert (ply, position.marks, cell) == (
                group["ply"], read_board(policy.rules, group["board"]).marks, group["move"]
            )  # fmt: skip


def test_an_unbeatable_player_may_be_wrong_in_states_that_it_never_reaches() -> None:
    """Best play, but for a move in a position that only another first move leads to."""

    def almost(mine: set[int], theirs: set[int]) -> int:
        return 1 if (mine, theirs) == ({1}, {0}) else best(mine, theirs)

    def best(mine: set[int], theirs: set[int]) -> int:
        marks = tuple(sum(1 << cell for cell in side) for side in (mine, theirs))
        position = Position(Rules(), marks if len(mine) == len(theirs) else marks[::-1])  # type: ignore[arg-type]
        return max(reversed(position.empty), key=lambda cell: value_after(position, cell))

    shown = evaluation(policy_of(ScriptedPlayer(almost)))
    assert (shown["proved"], shown["number"], shown["reached"], shown["different"]) == ("unbeatable", 1, 0, 1)
    assert shown["groups"] == [
        {"board": "OX.......", "move": 1, "states": 1, "games": 0, "game": None, "ply": None},
    ]


def test_of_too_many_positions_numbers_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 64 cells the last one is the sign of a word."""
    monkeypatch.setattr(mistakes, "MANY_POSITIONS_OF_LARGE_BOARDS", 3)
    rules = Rules(8, 8, 3)
    shown = evaluation(policy_of(ScriptedPlayer(lambda mine, theirs: max(set(range(64)) - mine - theirs)), rules))
    assert (shown["kind"], shown["complete"], shown["reached"], shown["proved"]) == ("beaten", False, None, None)
    assert sum(group["states"] for group in shown["groups"]) == shown["number"] > 0
    for group in shown["groups"]:
        position = read_board(rules, group["board"])
        assert group["move"] == max(position.empty)
    assert any(63 in game for game in shown["games"])
    assert sum(group["games"] for group in shown["groups"]) == len(shown["games"])


def test_a_player_that_nothing_beats_on_a_larger_board_has_no_mistakes() -> None:
    first_empty = ScriptedPlayer(lambda mine, theirs: min(set(range(13)) - mine - theirs))
    shown = evaluation(policy_of(first_empty, Rules(1, 13, 13)))
    assert (shown["proved"], shown["complete"], shown["number"], shown["groups"]) == ("unbeatable", True, 0, [])
    assert (shown["ways"], shown["games"]) == ([0, 0], [])
