"""Results of two players: exact ones against plain walks and known fractions, sampled ones against exact ones."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from selfplay.cli.arena_matches import Result, round_robin, sample
from selfplay.judging.agents import AgentPolicy
from selfplay.players import resolve
from tests.selfplay.judging.players import (
    ScriptedPlayer,
    certain,
    first_empty,
    game_by_game,
    policy_of,
    stubborn,
)
from tictactoe import Rules

RANDOM, HEURISTIC = (resolve(name).policy for name in ("random", "heuristic"))
FIRST_EMPTY, STUBBORN = (policy_of(ScriptedPlayer(choose)) for choose in (first_empty, stubborn))


def results_of(policies: dict[str, AgentPolicy], games: int = 1, seed: int = 0) -> dict[tuple[str, str], Result]:
    rules = next(iter(policies.values())).rules
    return {(first, second): result for first, second, result in round_robin(rules, policies, games, seed)}


def exact(first: AgentPolicy, second: AgentPolicy) -> Result:
    return results_of({"first": first, "second": second})["first", "second"]


def shares(result: Result) -> tuple[float, float, float]:
    return result.win, result.draw, result.loss


def test_random_against_random_gives_the_known_fractions() -> None:
    result = exact(RANDOM, RANDOM)
    fractions = [Fraction(share).limit_denominator(10_000) for share in shares(result)]
    assert fractions == [Fraction(737, 1260), Fraction(8, 63), Fraction(121, 420)]
    assert shares(result) == pytest.approx([float(fraction) for fraction in fractions], abs=1e-14)
    assert result.illegal == (0, 0)
    assert result.games is None


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 4, 3)], ids=str)
@pytest.mark.parametrize("choose", [first_empty, stubborn])
def test_either_seat_of_a_pairing_sees_what_its_own_walk_through_the_game_says(
    rules: Rules, choose: Callable[[set[int], set[int]], int]
) -> None:
    player, random = policy_of(ScriptedPlayer(choose), rules), resolve("random", rules=rules).policy
    for seat, result in enumerate((exact(player, random), exact(random, player))):
        expected, illegal = game_by_game(rules, certain(choose), seat)
        own = shares(result) if seat == 0 else shares(result)[::-1]
        assert own == pytest.approx((expected.win, expected.draw, expected.loss), abs=1e-12)
        assert result.illegal[seat] == pytest.approx(illegal, abs=1e-12)
        assert result.illegal[1 - seat] == 0
    assert (choose is stubborn) == (result.illegal[1] > 0)


@pytest.mark.parametrize("first", [FIRST_EMPTY, STUBBORN])
@pytest.mark.parametrize("second", [FIRST_EMPTY, STUBBORN])
def test_two_deterministic_players_have_one_game(first: AgentPolicy, second: AgentPolicy) -> None:
    followed = exact(first, second)
    assert followed == sample(Rules(), first, second, 1_000, np.random.default_rng(0))
    assert sorted(shares(followed)) == [0, 0, 1]


def test_a_taken_cell_loses_the_game() -> None:
    always_first_cell = policy_of(ScriptedPlayer(lambda *_: 0))
    assert exact(always_first_cell, always_first_cell) == Result(1, 0, 0, (0, 1))
    assert exact(always_first_cell, RANDOM) == Result(0, 0, 1, (1, 0))
    # The second seat fails at once if cell 0 is taken, else with its second move.
    assert exact(RANDOM, always_first_cell) == Result(1, 0, 0, (0, 1))


@pytest.mark.parametrize("other", [RANDOM, HEURISTIC, STUBBORN])
def test_sampled_games_end_as_often_as_the_exact_results_say(other: AgentPolicy) -> None:
    """The standard error of a share is at most 0.005."""
    true, estimate = exact(RANDOM, other), sample(Rules(), RANDOM, other, 10_000, np.random.default_rng(0))
    assert shares(estimate) == pytest.approx(shares(true), abs=0.015)
    assert estimate.illegal == pytest.approx(true.illegal, abs=0.015)
    assert (other is STUBBORN) == (true.illegal[1] > 0.1)


def test_a_board_too_large_to_follow_is_sampled_and_the_same_seed_repeats_it() -> None:
    rules = Rules(4, 5, 3)
    players = {
        "first empty": policy_of(ScriptedPlayer(first_empty), rules),
        "random": resolve("random", rules=rules).policy,
    }
    first, again, other = (results_of(players, games=1_000, seed=seed) for seed in (1, 1, 2))
    certain = first.pop(("first empty", "first empty"))
    assert (certain.games, *shares(certain)) == (None, 1, 0, 0)
    assert {result.games for result in first.values()} == {1_000}
    assert {pairing: again[pairing] for pairing in first} == first
    assert first["first empty", "random"].win > 0.9
    assert first["random", "first empty"].win < 0.2
    assert first["random", "random"] != other["random", "random"]
