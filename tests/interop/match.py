"""Matches against random play, for the scripts that train with other frameworks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

import tictactoe  # noqa: F401 (registers the environments)

Policy = Callable[[NDArray[np.int8], NDArray[np.int8]], Any]
"""Maps an observation [rows, cols, 3] and an action mask [rows * cols] to a cell."""


class Score(NamedTuple):
    """Hold the fractions of a match's games."""

    won: float
    illegal: float
    """Ended by an illegal move of the policy."""


def match(policy: Policy, games: int, seat: int = 0) -> Score:
    """Play games against random play, one from each of the seeds 0, 1, 2 ..."""
    environment = gymnasium.make("TicTacToeVersus-v0", seat=seat)
    won = illegal = 0
    for seed in range(games):
        observation, info = environment.reset(seed=seed)
        terminated = False
        while not terminated:
            observation, _, terminated, _, info = environment.step(int(policy(observation, info["action_mask"])))
        won += info["winner"] == seat
        illegal += info["illegal"]
    return Score(won / games, illegal / games)
