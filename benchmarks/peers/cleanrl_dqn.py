"""A CleanRL-style DQN, by default with the settings of its `dqn.py`, against random play in a random seat.

Settings: the defaults of https://github.com/vwxyzjn/cleanrl/blob/master/cleanrl/dqn.py, network included; the loop is
`benchmarks/dqn.py`, without its scalars. Exploration falls over as many steps as there, half of 500,000, and the first
10,000 steps are random play without an update. It learns alone, so it plays `TicTacToeVersus-v0` in both seats, sees
its own marks in plane 1, and learns the rules from the illegal reward. Its one game at a time is CleanRL's own limit.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks import dqn
from benchmarks.dqn import Greedy
from benchmarks.peers.evaluations import Tick, Train, widths
from benchmarks.peers.opponents import GAME, Games

EXAMPLE = dqn.Settings(
    hidden=(120, 84),
    learning_rate=2.5e-4,
    batch_size=128,
    memory_size=10_000,
    tau=1.0,
    warmup=10_000,
    train_every=10,
    target_every=500,
    epsilon=1.0,
    final_epsilon=0.05,
    epsilon_steps=250_000,
)


def sampled_settings(sampled: Mapping[str, Any]) -> tuple[dqn.Settings, dict[str, Any]]:
    """Return the settings of the learner and of its games that a search has sampled."""
    copied = sampled["target"] == "copied"
    learner = replace(
        EXAMPLE,
        hidden=widths(sampled["hidden"]),
        learning_rate=sampled["learning_rate"],
        learning_rate_hold=sampled["learning_rate_hold"],
        gamma=sampled["gamma"],
        batch_size=sampled["batch_size"],
        memory_size=sampled["memory_size"],
        tau=1.0 if copied else sampled["soft_update"],
        target_every=sampled["target_every"] if copied else 1,
        warmup=sampled["learning_starts"],
        train_every=max(1, round(1 / sampled["updates_per_step"])),
        final_epsilon=sampled["epsilon_end"],
        epsilon_steps=sampled["epsilon_steps"],
    )
    return learner, {name: sampled[name] for name in GAME}


def make(seed: int, settings: tuple[dqn.Settings, Mapping[str, Any]] = (EXAMPLE, {})) -> Train:
    """Return the learning of one network, which is evaluated in both seats without a mask, as it has learned."""
    of_learner, of_games = settings
    games = Games(seed, **of_games)
    learner = dqn.CleanRL(of_learner, seed, games.make)
    player = Greedy(learner.dqn.network, masked=False)

    def train(tick: Tick) -> None:
        for steps, updates in enumerate(learner.learn(writer=None), start=1):
            games.update(steps, learner.dqn.network)
            if not tick(updates, player):
                return

    return train
