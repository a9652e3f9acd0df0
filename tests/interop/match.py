"""What the tests of other frameworks share: a witness of the training games, and matches against random play."""

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

import tictactoe  # noqa: F401 (registers the environments)

REWARD_TABLE = {1.0, 0.0, -1.0, -10.0}
"""What one step of the versus view can pay with the shaped rewards: win, quiet move or draw, allow, illegal."""

Policy = Callable[[NDArray[np.int8], NDArray[np.int8]], Any]
"""Maps an observation [rows, cols, 3] and an action mask [rows * cols] to a cell."""


class Witness(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Note each step's reward, and whether its action was barred by the mask that came before it."""

    def __init__(self, environment: gymnasium.Env[Any, Any]) -> None:
        super().__init__(environment)
        self.rewards: list[float] = []
        self.barred: list[bool] = []

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**kwargs)
        self._mask = info["action_mask"]
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.barred.append(bool(self._mask[int(action)] == 0))
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.rewards.append(float(reward))
        self._mask = info["action_mask"]
        return observation, reward, terminated, truncated, info


def witnessed_game() -> Witness:
    """Return the versus view against random play, with a witness."""
    return Witness(gymnasium.make("TicTacToeVersus-v0"))


class Score(NamedTuple):
    """Hold the fractions of a match's games."""

    won: float
    illegal: float
    """Ended by an illegal move of the policy."""


def match(policy: Policy, games: int = 200, seat: int = 0) -> Score:
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
