"""Ours: `python train.py --stop never`, all other settings the defaults, without its record.

Its own evaluations belong to its time, since it learns from what they find. The number of plies is so high that only
time ends the run; nothing in it depends on that number.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import selfplay
from benchmarks.peers.evaluations import Tick, Train
from selfplay.dqn.config import DQNConfig

DEFAULTS = DQNConfig()


def sampled_settings(sampled: Mapping[str, Any], others: DQNConfig = DEFAULTS) -> DQNConfig:
    """Return the settings that a search has sampled, and the others."""
    return replace(
        others,
        loss="mse",  # the default while the settings were searched
        rewards=sampled["rewards"],
        hidden=tuple(map(int, sampled["hidden"].split("x"))),
        gamma=sampled["gamma"],
        learning_rate=sampled["learning_rate"],
        learning_rate_hold=sampled["learning_rate_hold"],
        batch_size=sampled["batch_size"],
        memory_size=sampled["memory_size"],
        warmup=sampled["learning_starts"],
        num_envs=sampled["boards"],
        updates_per_step=max(1, round(sampled["updates_per_step"] * sampled["boards"])),
        soft_update=sampled["soft_update"],
        hard_update=sampled["target_every"] if sampled["target"] == "copied" else 0,
        epsilon_end=sampled["epsilon_end"],
        epsilon_plies=sampled["epsilon_steps"],
    )


def make(seed: int, settings: DQNConfig = DEFAULTS) -> Train:
    """Return the self-play of a DQN."""
    config = replace(settings, seed=seed, stop="never", total_steps=1_000_000_000, device="cpu")

    def train(tick: Tick) -> None:
        for record in selfplay.training(config):
            if not tick(int(record.metrics["time/updates"]), record.player):
                return

    return train
