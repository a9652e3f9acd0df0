"""Results of two players: exact ones against plain walks and known fractions, sampled ones against exact ones."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from selfplay.arena.matches import Entrant, Judged, Result, Uniform, meet, round_robin, sample, wilson
from selfplay.evaluation.judge import Judge
from tests.selfplay.evaluation.players import ScriptedPlayer, certain, first_empty, optimal_player, stubborn, walked
from tictactoe import Rules
from tictactoe.envs.turn import TicTacToeEnv
from tictactoe.opponents import OPPONENTS
from tictactoe.tree import game_tree


def greedy(agent: Any, rules: Rules | None = None) -> Judged:
    return Judged(Judge(agent, rules or Rules(), "mover"))


RANDOM, HEURISTIC, OPTIMAL = (Uniform(OPPONENTS[name]) for name in ("random", "heuristic", "optimal"))
FIRST_EMPTY, STUBBORN = (greedy(ScriptedPlayer(choose)) for choose in (first_empty, stubborn))


class ManyBoards:
    """Play the first empty cell, quickly on many boards."""

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        assert action_mask is None
        return np.asarray(observation)[..., 0].reshape(len(observation), -1).argmax(axis=1)


def exact(first: Entrant, second: Entrant, rules: Rules | None = None) -> Result:
    tree = game_tree(rules or Rules())
    return meet(tree, first.policy(tree), second.policy(tree))


def shares(result: Result) -> tuple[float, float, float]:
    return result.win, result.draw, result.loss


def test_random_against_random_gives_the_known_fractions() -> None:
    result = exact(RANDOM, RANDOM)
    fractions = [Fraction(share).limit_denominator(10_000) for share in shares(result)]
    assert fractions == [Fraction(737, 1260), Fraction(8, 63), Fraction(121, 420)]
    assert shares(result) == pytest.approx([float(fraction) for fraction in fractions], abs=1e-14)
    assert result.illegal == (0, 0)
    assert result.games is None
    assert result.interval(result.win) == (result.win, result.win)


def test_optimal_never_loses_to_anyone() -> None:
    players: list[Entrant] = [OPTIMAL, greedy(optimal_player(Rules())), RANDOM, HEURISTIC, FIRST_EMPTY, STUBBORN]
    results = round_robin(Rules(), players, games=1, seed=0)
    for optimal in (0, 1):
        assert [row[optimal].win for row in results] == [0] * len(players)
        assert [result.loss for result in results[optimal]] == [0] * len(players)
    assert shares(results[0][0]) == shares(results[1][1]) == (0, 1, 0)
    assert min(results[0][2].win, results[2][0].loss) > 0.7
    assert results[2][3].loss > results[2][2].loss  # the others can be lost to: the heuristic beats random


def test_a_board_that_the_first_seat_wins_is_won_by_optimal_play_with_certainty() -> None:
    assert shares(exact(OPTIMAL, OPTIMAL, Rules(3, 4, 3))) == (1, 0, 0)
    assert shares(exact(OPTIMAL, RANDOM, Rules(3, 4, 3))) == (1, 0, 0)


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 4, 3)], ids=str)
@pytest.mark.parametrize("choose", [first_empty, stubborn])
def test_either_seat_of_a_pairing_sees_what_its_own_walk_through_the_game_says(
    rules: Rules, choose: Callable[[set[int], set[int]], int]
) -> None:
    player = greedy(ScriptedPlayer(choose), rules)
    for seat, result in enumerate((exact(player, RANDOM, rules), exact(RANDOM, player, rules))):
        expected, illegal = walked(rules, certain(choose), seat)
        own = shares(result) if seat == 0 else shares(result)[::-1]
        assert own == pytest.approx((expected.win, expected.draw, expected.loss), abs=1e-12)
        assert result.illegal[seat] == pytest.approx(illegal, abs=1e-12)
        assert result.illegal[1 - seat] == 0
    assert (choose is stubborn) == (result.illegal[1] > 0)


def test_a_pairing_is_the_same_on_the_board_turned_around() -> None:
    def last_empty(mine: set[int], theirs: set[int]) -> int:
        return 8 - first_empty({8 - cell for cell in mine}, {8 - cell for cell in theirs})

    last = greedy(ScriptedPlayer(last_empty))
    for opponent in (RANDOM, HEURISTIC, OPTIMAL):
        assert shares(exact(opponent, last)) == pytest.approx(shares(exact(opponent, FIRST_EMPTY)), abs=1e-12)
        assert shares(exact(last, opponent)) == pytest.approx(shares(exact(FIRST_EMPTY, opponent)), abs=1e-12)


def play_by_turns(first: Judged, second: Judged) -> tuple[int, bool]:
    env = TicTacToeEnv(perspective="mover")
    observation, info = env.reset()
    terminated = False
    while not terminated:
        agent: Any = (first, second)[info["to_play"]].judge.agent
        observation, _, terminated, _, info = env.step(int(agent.act(observation[None])[0]))
    return env.winner, env.illegal


@pytest.mark.parametrize("rules", [Rules(), Rules(4, 5, 3)], ids=str)
def test_two_deterministic_players_have_one_game(rules: Rules) -> None:
    result = sample(rules, greedy(ManyBoards(), rules), greedy(ManyBoards(), rules), 1_000, np.random.default_rng(0))
    assert result.games is None
    assert sorted(shares(result)) == [0, 0, 1]


def test_the_one_game_of_two_deterministic_players_is_the_one_the_turn_view_plays() -> None:
    players = [FIRST_EMPTY, STUBBORN, greedy(optimal_player(Rules()))]
    seen = set()
    for first in players:
        for second in players:
            winner, illegal = play_by_turns(first, second)
            result = exact(first, second)
            assert shares(result) == {0: (1, 0, 0), -1: (0, 1, 0), 1: (0, 0, 1)}[winner]
            assert sum(result.illegal) == illegal
            assert sample(Rules(), first, second, 1_000, np.random.default_rng(0)) == result
            seen.add((winner, illegal))
    assert {(0, False), (0, True), (1, True), (-1, False)} <= seen


def test_whoever_plays_a_taken_cell_loses_that_line() -> None:
    always_first_cell = greedy(ScriptedPlayer(lambda *_: 0))
    assert exact(always_first_cell, always_first_cell) == Result(1, 0, 0, (0, 1))
    assert exact(always_first_cell, RANDOM) == Result(0, 0, 1, (1, 0))
    result = exact(RANDOM, always_first_cell)  # which fails at once if cell 0 is taken, else with its second move
    assert shares(result) == (1, 0, 0)
    assert result.illegal == (0, 1)


@pytest.mark.parametrize(
    ("fraction", "games", "low", "high"),
    # By hand for none of ten: z^2 / (n + z^2). The others are those of Newcombe (1998), method 3, tables I and II.
    [(0, 10, 0, 0.2775), (1, 10, 0.7225, 1), (81 / 263, 263, 0.2553, 0.3662), (15 / 148, 148, 0.0624, 0.1605)],
)
def test_the_wilson_interval(fraction: float, games: int, low: float, high: float) -> None:
    assert wilson(fraction, games) == pytest.approx((low, high), abs=6e-5)


def test_sampled_intervals_cover_the_exact_value_as_often_as_they_say() -> None:
    players: list[Entrant] = [RANDOM, HEURISTIC, OPTIMAL, STUBBORN]
    pairs = [(first, second) for first in players for second in players if first.stochastic or second.stochastic]
    inside = []
    for number, (first, second) in enumerate(pairs):
        true = exact(first, second)
        for repetition in range(50):
            estimate = sample(Rules(), first, second, 300, np.random.default_rng([number, repetition]))
            assert estimate.games == 300
            for share, truth in zip(shares(estimate), shares(true), strict=True):
                low, high = estimate.interval(share)
                if truth not in {0, 1}:  # which are always inside
                    inside.append(low <= truth <= high)
    assert len(inside) == 1_000
    # 95 % of them should. The standard error of that is 0.7 points, or 1.2 if the three of a pairing were one.
    assert 0.93 <= np.mean(inside) <= 0.97


def test_sampled_games_count_illegal_moves_for_the_seat_that_plays_them() -> None:
    true = exact(RANDOM, STUBBORN)
    estimate = sample(Rules(), RANDOM, STUBBORN, 10_000, np.random.default_rng(0))
    assert estimate.illegal[0] == 0
    low, high = wilson(estimate.illegal[1], 10_000)
    assert 0 < low <= true.illegal[1] <= high
    assert sum(shares(estimate)) == pytest.approx(1, abs=1e-12)
    assert estimate.win >= estimate.illegal[1]


def test_a_board_too_large_to_follow_is_sampled_and_the_same_seed_repeats_it() -> None:
    rules = Rules(4, 5, 3)
    players: list[Entrant] = [RANDOM, HEURISTIC, greedy(ManyBoards(), rules)]
    done: list[float] = []
    results = round_robin(rules, players, games=5_000, seed=1, advance=done.append)
    assert [[result.games for result in row] for row in results] == [[5_000] * 3, [5_000] * 3, [5_000, 5_000, None]]
    assert sum(done) == pytest.approx(9)
    assert len(done) == 8 * 2 + 1
    assert results == round_robin(rules, players, games=5_000, seed=1)
    assert results[0][0] != round_robin(rules, players, games=5_000, seed=2)[0][0]
    assert results[1][0].win > 0.9 > results[0][0].win
