"""AlphaZero: the recipe of this package, `docs/recipes/alphazero.py`, whose network plays without a search.

OpenSpiel's AlphaZero has several processes, actors and a learner, whose seconds cannot be compared with those of one;
so this one is ours. It knows the rules: its search in self-play asks them what each move leads to. A look judges the
moves of the network alone.
"""

from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

from benchmarks.peers.evaluations import ONLINE, Tick, Train
from docs.recipes import alphazero

EXAMPLE: Mapping[str, Any] = {
    name: getattr(alphazero, name)
    for name in (
        *("LEARNING_RATE", "BATCH_SIZE", "WIDTH", "MEMORY_SIZE", "BOARDS", "UPDATES"),
        *("SIMULATIONS", "EXPLORATION", "NOISE_SHARE", "NOISE"),
    )
}
"""Settings by the names of the recipe's constants."""


def sampled_settings(sampled: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a search has sampled; `updates` are those after each batch of games."""
    return {name.upper(): value for name, value in sampled.items()}


def make(seed: int, settings: Mapping[str, Any] = EXAMPLE) -> Train:
    """Return AlphaZero's self-play."""

    def train(tick: Tick) -> None:
        with patch.multiple(alphazero, **settings):
            learner = alphazero.AlphaZero(seed)
            while tick(learner.updates, {ONLINE: learner.player()}):
                learner.advance(alphazero.BOARDS)

    return train
