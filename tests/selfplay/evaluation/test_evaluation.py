"""The exact evaluation against hand-made players and a plain walk through every game line."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from gymnasium.error import InvalidAction
from selfplay.evaluation.evaluation import Proof, evaluate
from selfplay.evaluation.reach import Unproved, evaluate_reach

from selfplay.agent import Agent
from tests.selfplay.evaluation.players import (
    ScriptedPlayer,
    assert_close,
    certain,
    first_empty,
    optimal_player,
    stubborn,
    walked,
)
from tictactoe import Rules, solve


def test_the_solution_as_a_player_is_optimal_and_unbeatable() -> None:
    evaluation = evaluate(optimal_player(Rules()), Rules())
    assert evaluation.optimal
    assert evaluation.unbeatable
    assert evaluation.optimal_states == evaluation.decision_states == 4520
    assert evaluation.illegal_states == 0
    assert evaluation.exploitability == 0
    assert (evaluation.first.best_response, evaluation.second.best_response) == (0, 0)
    for seat in (evaluation.first, evaluation.second):
        assert seat.loss == 0
        assert seat.win + seat.draw == pytest.approx(1, abs=1e-12)
    # Unbeatable play cannot do better than this against a random opponent.
    assert evaluation.first.win <= 0.9949
    assert evaluation.second.win <= 0.9165


BOARDS = [Rules(3, 3, 3), Rules(2, 4, 3), Rules(3, 3, 2), Rules(1, 5, 2)]
LARGE = [Rules(5, 5, 2), Rules(6, 6, 2)]
"""On which games are short, of one and of two words a position."""


@pytest.mark.parametrize(
    ("how", "rules"),
    [(how, rules) for rules in BOARDS for how in (evaluate, evaluate_reach)]
    + [(evaluate_reach, rules) for rules in LARGE],
)
@pytest.mark.parametrize("choose", [first_empty, stubborn])
def test_every_number_of_a_seat_agrees_with_a_walk_through_all_lines(
    how: Callable[[Agent, Rules], Proof | Unproved], rules: Rules, choose: Callable[[set[int], set[int]], int]
) -> None:
    evaluation = how(ScriptedPlayer(choose), rules)
    assert isinstance(evaluation, Proof)
    value = int(solve(rules).value[0]) if rules in BOARDS else 1
    expected = [walked(rules, certain(choose), seat)[0] for seat in (0, 1)]
    assert_close(evaluation.first, expected[0])
    assert_close(evaluation.second, expected[1])
    first, second = (seat.best_response for seat in expected)
    assert evaluation.exploitability == ((value - first) + (-value - second)) / 2
    assert not evaluation.unbeatable


def test_states_are_counted_by_what_is_played_in_them() -> None:
    evaluation = evaluate(ScriptedPlayer(stubborn), Rules())
    solution = solve(Rules())
    tree = solution.tree
    illegal = optimal = 0
    for state in tree.decisions:
        occupied = int(tree.mover[state] | tree.opponent[state])
        cell = 0 if occupied >> 4 & 1 else 4
        illegal += occupied >> cell & 1
        optimal += int(solution.optimal_moves[state]) >> cell & 1
    assert (evaluation.illegal_states, evaluation.optimal_states) == (illegal, optimal)
    assert illegal > 0
    assert 0 < optimal < 4520


@pytest.mark.parametrize("field", ["losses", "illegal"])
@pytest.mark.parametrize("seat", ["first", "second"])
def test_one_bad_line_in_either_seat_is_enough_to_be_beatable(field: str, seat: str) -> None:
    evaluation = evaluate(optimal_player(Rules()), Rules())
    numbers = evaluation.as_dict()
    assert [numbers[verdict] for verdict in ("unbeatable", "unexploitable", "optimal")] == [True] * 3
    spoilt = dataclasses.replace(getattr(evaluation, seat), **{field: 1})
    assert not dataclasses.replace(evaluation, **{seat: spoilt}).unbeatable


def test_on_a_board_that_the_first_seat_wins_optimal_play_is_unexploitable_but_not_unbeatable() -> None:
    evaluation = evaluate(optimal_player(Rules(3, 4, 3)), Rules(3, 4, 3))
    assert (evaluation.first.best_response, evaluation.second.best_response) == (1, -1)
    assert evaluation.first.win == pytest.approx(1, abs=1e-12)
    assert evaluation.second.losses > 0
    assert evaluation.unexploitable
    assert evaluation.optimal
    assert not evaluation.unbeatable


def test_an_illegal_line_in_the_seat_that_loses_anyway_spoils_the_proof() -> None:
    optimal = optimal_player(Rules(2, 3, 2))

    def choose(mine: set[int], theirs: set[int]) -> int:
        return optimal.choose(mine, theirs) if len(mine) == len(theirs) else min(theirs)

    evaluation = evaluate(ScriptedPlayer(choose), Rules(2, 3, 2))
    assert evaluation.exploitability == 0
    assert evaluation.second.illegal > 0
    assert not evaluation.unexploitable


@pytest.mark.parametrize("how", [evaluate, evaluate_reach])
@pytest.mark.parametrize(("cell", "got"), [(9, "9 for board 0"), (-1, "-1 for board 0"), (4.0, "ndarray .* float64")])
def test_an_agent_that_answers_no_cell_is_refused_and_not_judged(
    how: Callable[[Agent, Rules], Proof | Unproved], cell: Any, got: str
) -> None:
    with pytest.raises(InvalidAction, match=f"^the agent's actions must be .* got {got}"):
        how(ScriptedPlayer(lambda *_: cell), Rules())


def test_a_board_too_large_to_solve_is_refused() -> None:
    with pytest.raises(ValueError, match=r"up to 16 cells.*5x4 board has 20"):
        evaluate(ScriptedPlayer(first_empty), Rules(5, 4, 3))
