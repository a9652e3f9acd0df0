"""What the tests of the search for settings share: something drawn, runs and what they came to."""

from typing import Any

import pytest

from benchmarks.measuring.turns import installed
from benchmarks.peers.judging import Judged
from benchmarks.peers.tuning.record import Contestant, Job

SMALL: dict[str, Any] = {
    "learning_rate": 0.01,
    "learning_rate_hold": 1_000,
    "batch_size": 32,
    "hidden": "64x64",
    "updates_per_step": 0.25,
    "target": "copied",
    "target_every": 40,
    "soft_update": 0.05,
    "epsilon_end": 0.5,
    "epsilon_steps": 1_000,
    "gamma": 0.95,
    "memory_size": 10_000,
    "learning_starts": 100,
    "rewards": "sparse",
    "opponent": "self",
    "copy_every": 100,
    "opponent_random": 0.1,
    "boards": 4,
    "train_every": 16,
}
"""Something that a search may draw for any of them."""


def line(bad: int, seconds: float = 1.0, player: str = "ours") -> Judged:
    return Judged(player, 1000, seconds, 10, bad, 0, 0, 0, 4_000, 0.5 * (bad > 0), bad == 0)


def history(*bad: int) -> list[Judged]:
    return [line(each, seconds) for seconds, each in enumerate(bad, start=1)]


def job(player: Contestant = "ours", number: int = 0, drawn: dict[str, Any] | None = None, **fields: Any) -> Job:
    return Job("trial", player, number, SMALL if drawn is None else drawn, [1.0, 2.0])._replace(**fields)


def need_optuna() -> None:
    if not installed("optuna"):
        pytest.skip("no optuna here: pip install 'tictactoe-selfplay[sweep]'")
