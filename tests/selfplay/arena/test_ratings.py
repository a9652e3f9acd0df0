"""Ratings: by hand for two players, in the right order, anchored, finite, and with intervals that mean something."""

import numpy as np
import pytest

from selfplay.arena.matches import Result, Uniform, round_robin
from selfplay.arena.ratings import Rating, rate
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS


def certain(score: float) -> Result:
    return Result(float(score == 1), float(score == 0.5), float(score == 0), (0, 0))


def won_with(probability: float, games: int | None = None) -> Result:
    return Result(probability, 0, 1 - probability, (0, 0), games)


def ladder(count: int) -> list[list[Result]]:
    """Let every player win all games, in both seats, against those behind it."""
    numbers = range(count)
    return [[certain(0.5 if row == col else float(row < col)) for col in numbers] for row in numbers]


def elos(ratings: list[Rating]) -> list[float]:
    return [rating.elo for rating in ratings]


def test_two_players_are_as_far_apart_as_the_formula_says() -> None:
    results = [[certain(0.5), won_with(0.9)], [won_with(0.2), certain(0.5)]]
    score = ((0.9 + 0.8) / 2 + 0.005) / 1.01  # the mean of both seats, and 1 drawn game in 100
    expected = 400 * np.log10(score / (1 - score))
    assert elos(rate(results, anchor=1)) == pytest.approx([expected, 0], abs=1e-6)
    assert elos(rate(results, anchor=0)) == pytest.approx([0, -expected], abs=1e-6)
    assert elos(rate(results, anchor=None)) == pytest.approx([expected / 2, -expected / 2], abs=1e-6)


def test_who_always_wins_or_always_loses_has_a_finite_rating_and_interval() -> None:
    (winner, loser) = rate(ladder(2), anchor=1)
    assert winner.elo == pytest.approx(400 * np.log10(1.005 / 0.005))
    assert winner.elo == pytest.approx(921, abs=0.5)
    assert loser.elo == 0
    for rating in rate(ladder(8), anchor=7):
        assert np.isfinite([rating.elo, rating.low, rating.high]).all()


def test_ratings_follow_the_order_of_play_and_the_anchor_has_none_but_zero() -> None:
    ratings = rate(ladder(5), anchor=2)
    assert elos(ratings) == sorted(elos(ratings), reverse=True)
    assert min(-np.diff(elos(ratings))) > 100
    assert ratings[2] == Rating(0, 0, 0)
    for rating in (*ratings[:2], *ratings[3:]):
        assert rating.low < rating.elo < rating.high


def test_built_in_opponents_are_rated_by_their_strength() -> None:
    players = [Uniform(OPPONENTS[name]) for name in ("random", "heuristic", "optimal")]
    ratings = rate(round_robin(Rules(), players, games=1, seed=0), anchor=0)
    assert ratings[0].elo == 0
    assert 200 < ratings[1].elo < ratings[2].elo < 1_000


def test_scores_that_the_model_makes_give_back_their_ratings_however_they_are_weighted() -> None:
    true = np.array([0.0, 150.0, 400.0, 700.0])
    chances = 1 / (1 + 10 ** ((true - true[:, None]) / 400))
    # What the drawn games add is taken away beforehand, so that the fit can be perfect.
    results = [[won_with(1.01 * chance - 0.005) for chance in row] for row in chances]
    ratings = rate(results, anchor=0)
    assert elos(ratings) == pytest.approx(true, abs=1e-3)
    for rating in ratings:
        assert rating.high - rating.low < 1e-3


def test_results_at_odds_with_the_model_widen_the_interval() -> None:
    consistent, circular = ladder(3), ladder(3)
    circular[0][2], circular[2][0] = certain(0), certain(1)  # the last beats the first
    narrow, wide = (rate(results, anchor=0)[1] for results in (consistent, circular))
    assert abs(wide.elo) < 1e-6 < abs(narrow.elo)
    assert wide.low < -300 < 300 < wide.high


def test_fewer_sampled_games_leave_wider_intervals_and_exact_results_of_one_pair_none() -> None:
    def width(games: int | None) -> float:
        results = [[certain(0.5), won_with(0.7, games)], [won_with(0.3, games), certain(0.5)]]
        rating = rate(results, anchor=1)[0]
        return rating.high - rating.low

    # By the delta method: 2 * 1.96 standard errors of the mean score of both seats, over the slope of the score.
    slope = 0.7 * 0.3 * np.log(10) / 400
    assert width(200) == pytest.approx(2 * 1.96 * np.sqrt(0.7 * 0.3 / 400) / slope, rel=0.1)
    assert width(200) > 3 * width(5_000) > 0
    assert width(None) < 1e-9


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others() -> None:
    results = ladder(3)
    assert rate(results, anchor=0, seed=1) == rate(results, anchor=0, seed=1)
    one, other = (rate(results, anchor=0, seed=seed)[1] for seed in (1, 2))
    assert one.elo == other.elo
    assert one.low != other.low
    assert one.low == pytest.approx(other.low, rel=0.1)
