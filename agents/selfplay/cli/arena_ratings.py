"""Elo ratings of a round robin: choix's Bradley-Terry fit to the scores, with an interval for each player.

In the model a player of rating a has the mean score 1 / (1 + 10^((b - a) / 400)) against one of rating b; a draw is
half a win, and both seats count the same. No single number per player can match all scores, so ratings depend on who
else plays, even if every result is exact. The intervals show this.
"""

import math
from dataclasses import dataclass

import choix
import numpy as np

from selfplay.cli.arena_matches import Results
from tictactoe.tree import FloatArray

ELO = 400 / math.log(10)
"""Elo points in a unit of the logistic scale."""
DRAWN_GAMES = 0.01
"""Drawn games added to each game of two players, so that a player without any win is rated 921 points lower, not
infinitely low."""
RESAMPLES = 1_000
ITERATIONS = 10_000


@dataclass(frozen=True)
class Rating:
    """Hold a player's Elo rating and the interval of 95 % of the resamples."""

    elo: float
    low: float
    high: float


def rate(results: Results, anchor: str | None, seed: int = 0) -> dict[str, Rating]:
    """Rate the players of a round robin, best first; the anchor, or without one the mean of all players, has 0.

    The intervals are a Bayesian bootstrap (Rubin, 1981, doi:10.1214/aos/1176345338): each resample gives every
    pair of players a random weight, and samples the probabilities of sampled results again.
    """
    generator = np.random.default_rng(seed)
    names = list(dict.fromkeys(first for first, _ in results))
    count = len(names)
    shares = np.array([[result.win, result.draw, result.loss] for result in results.values()])
    games = np.array([[result.games or 0] for result in results.values()])
    ratings = _fit(shares, np.ones((count, count)))
    resamples = []
    for _ in range(RESAMPLES):
        sampled = np.where(games > 0, generator.standard_gamma(shares * games), shares)
        resamples.append(_fit(sampled, _pair_weights(count, generator)))
    resampled = np.stack(resamples)
    zero = slice(None) if anchor is None else [names.index(anchor)]
    ratings = ratings - ratings[zero].mean()
    resampled = resampled - resampled[:, zero].mean(axis=1, keepdims=True)
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    order = np.argsort(-ratings, kind="stable")  # among equals the one given first comes first
    return {names[each]: Rating(float(ratings[each]), float(low[each]), float(high[each])) for each in order}


def _pair_weights(count: int, generator: np.random.Generator) -> FloatArray:
    """Return a random weight for each pair of players, mean 1, as a symmetric matrix."""
    above = np.triu_indices(count, 1)
    pairs = len(above[0])
    weights = np.zeros((count, count))
    weights[above] = generator.dirichlet(np.ones(pairs)) * pairs
    return weights + weights.T


def _fit(shares: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Elo ratings [n], with mean 0, fitted to results [n * n, 3] (win, draw, loss), pairs weighted [n, n]."""
    first = ((shares[:, 0] + shares[:, 1] / 2) / shares.sum(axis=1)).reshape(weights.shape)
    wins = weights * ((first + 1 - first.T) / 2 + DRAWN_GAMES / 2)  # over both seats
    np.fill_diagonal(wins, 0)
    strengths = choix.ilsr_pairwise_dense(wins, max_iter=ITERATIONS)
    centred: FloatArray = ELO * (strengths - strengths.mean())
    return centred
