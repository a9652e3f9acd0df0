"""Ratings: by hand for two players, in the right order, anchored, finite, and with intervals that mean something."""

from collections.abc import Sequence

import numpy as np
import pytest

from selfplay.cli import arena_ratings as ratings
from selfplay.cli.arena_matches import Pairing, Result
from selfplay.cli.arena_ratings import Rating, rate


def table(rows: Sequence[Sequence[float]], games: int | None = None) -> dict[Pairing, Result]:
    """Return results in which the first seats, by row, win with these probabilities, and else lose."""
    return {
        (str(row), str(column)): Result(score, 0, 1 - score, (0, 0), games if row != column else None)
        for row, scores in enumerate(rows)
        for column, score in enumerate(scores)
    }


def ladder(count: int) -> dict[Pairing, Result]:
    """Let every player win all games, in both seats, against those behind it."""
    numbers = range(count)
    return table([[0.5 if row == column else float(row < column) for column in numbers] for row in numbers])


def elos(results: dict[Pairing, Result], anchor: str | None) -> list[float]:
    rated = rate(results, anchor)
    return [rated[str(number)].elo for number in range(len(rated))]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "RESAMPLES", 200)


@pytest.mark.parametrize(("anchor", "share"), [("1", 1), ("0", 0), (None, 0.5)])
def test_two_players_are_as_far_apart_as_the_formula_says(anchor: str | None, share: float) -> None:
    results = table([[0.5, 0.9], [0.2, 0.5]])
    score = ((0.9 + 0.8) / 2 + 0.005) / 1.01  # the mean of both seats, and 1 drawn game in 100
    apart = 400 * np.log10(score / (1 - score))
    assert elos(results, anchor) == pytest.approx([share * apart, (share - 1) * apart], abs=1e-6)


def test_ratings_follow_the_order_of_play_and_the_anchor_has_none_but_zero() -> None:
    backwards = dict(reversed(ladder(5).items()))
    rated = rate(backwards, anchor="2")
    assert [*rated] == ["0", "1", "2", "3", "4"]
    assert min(-np.diff([rating.elo for rating in rated.values()])) > 100
    assert rated.pop("2") == Rating(0, 0, 0)
    for rating in rated.values():
        assert rating.low < rating.elo < rating.high


def test_scores_that_the_model_makes_give_back_their_ratings_however_they_are_weighted() -> None:
    true = np.array([0.0, 150.0, 400.0, 700.0])
    chances = 1 / (1 + 10 ** ((true - true[:, None]) / 400))
    # What the drawn games add is taken away beforehand, so that the fit can be perfect.
    results = table((1.01 * chances - 0.005).tolist())
    assert elos(results, anchor="0") == pytest.approx(true, abs=1e-3)
    for rating in rate(results, anchor="0").values():
        assert rating.high - rating.low < 1e-3


def test_results_at_odds_with_the_model_widen_the_interval() -> None:
    circular = table([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]])  # the last beats the first
    narrow, wide = (rate(results, anchor="0")["1"] for results in (ladder(3), circular))
    assert abs(wide.elo) < 1e-6 < abs(narrow.elo)
    assert wide.low < -300 < 300 < wide.high


def test_fewer_sampled_games_leave_wider_intervals_and_exact_results_of_one_pair_none() -> None:
    # With 200 resamples the ends of the interval are known to about a tenth of its width.
    def width(games: int | None) -> float:
        rating = rate(table([[0.5, 0.7], [0.3, 0.5]], games), anchor="1")["0"]
        return rating.high - rating.low

    # By the delta method: 2 * 1.96 standard errors of the mean score of both seats, over the slope of the score.
    slope = 0.7 * 0.3 * np.log(10) / 400
    assert width(200) == pytest.approx(2 * 1.96 * np.sqrt(0.7 * 0.3 / 400) / slope, rel=0.2)
    assert width(200) > 3 * width(5_000) > 0
    assert width(None) < 1e-9


def test_the_seed_decides_the_intervals_alone() -> None:
    one, again, other = (rate(ladder(3), anchor="0", seed=seed)["1"] for seed in (1, 1, 2))
    assert one == again
    assert one.elo == other.elo
    assert one.low != other.low == pytest.approx(one.low, rel=0.2)
