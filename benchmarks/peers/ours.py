"""Ours: `python train.py --stop never`, all other settings the defaults, without its record.

Its own evaluations belong to its time, since it learns from what they find. The number of plies is set so high that
time alone ends the run; nothing in it depends on that number.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.peers.judging import Tick, Training, widths
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.learner import DQNLearner
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.counterexamples import evaluate_for_training

DEFAULTS = DQNConfig()


def drawn_settings(drawn: Mapping[str, Any]) -> DQNConfig:
    """Return the settings that a search has drawn; all others are the defaults."""
    return DQNConfig(
        rewards=drawn["rewards"],
        hidden=widths(drawn["hidden"]),
        gamma=drawn["gamma"],
        learning_rate=drawn["learning_rate"],
        learning_rate_hold=drawn["learning_rate_hold"],
        batch_size=drawn["batch_size"],
        memory_size=drawn["memory_size"],
        warmup=drawn["learning_starts"],
        num_envs=drawn["boards"],
        updates_per_step=max(1, round(drawn["updates_per_step"] * drawn["boards"])),
        soft_update=drawn["soft_update"],
        hard_update=drawn["target_every"] if drawn["target"] == "copied" else 0,
        epsilon_end=drawn["epsilon_end"],
        epsilon_plies=drawn["epsilon_steps"],
    )


def make(seed: int, settings: DQNConfig = DEFAULTS) -> Training:
    """Return the self-play of a DQN."""
    config = replace(settings, seed=seed, stop="never", total_steps=1_000_000_000, device="cpu")
    learner = DQNLearner(config)

    def run(tick: Tick) -> None:
        due, going = config.eval_every, True
        while going:
            learner.advance()
            if learner.steps >= due:
                due = learner.steps + config.eval_every
                generator = np.random.default_rng([seed, learner.steps])
                lessons = evaluate_for_training(player_policy(learner.player()), False, generator)
                learner.teach(lessons.mover, lessons.opponent)
            going = tick(learner.updates)

    return Training(learner.player(), run)
