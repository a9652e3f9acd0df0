"""What the scripts that train with other frameworks share: versions, and matches against random play."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import gymnasium

import tictactoe  # noqa: F401 (registers the environments)


class Score(NamedTuple):
    """Hold the fractions of a match's games."""

    won: float
    illegal: float
    """Ended by an illegal move of the policy."""


def print_versions(*packages: str) -> None:
    """Print the versions of installed packages on one line."""
    print(", ".join(f"{package} {version(package)}" for package in packages))


def match(policy: Callable[[Any, Any], Any], games: int, seat: int = 0) -> Score:
    """Play games against random play, one from each of the seeds 0, 1, 2 ...

    The policy maps an observation [R, C, 3] and an action mask [A] to a cell.
    """
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
