"""A DQN in CleanRL's manner, by default with the settings of its `dqn.py`, against random play in a random seat.

Settings: the defaults of https://github.com/vwxyzjn/cleanrl/blob/master/cleanrl/dqn.py, network included; the loop is
`training/cleanrl_style.py`, without its scalars, as nobody here writes any. Exploration falls over as many steps as
there, half of 500,000, and the first 10,000 steps are random play without an update. It learns alone, so it plays
`TicTacToeVersus-v0` in both seats, sees its own marks in plane 1, and learns the rules from the illegal reward. Its one
game at a time is CleanRL's own limit.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from torch.utils.tensorboard import SummaryWriter

from benchmarks.peers.judging import RULES, Tick, Training, widths
from benchmarks.peers.opponents import VERSUS_RANDOM, Game, Games, drawn_game
from benchmarks.training import cleanrl_style
from selfplay.dqn.player import QPlayer


class Settings(NamedTuple):
    """Hold what is set."""

    loop: cleanrl_style.Settings = cleanrl_style.Settings(
        buffer_size=10_000,
        batch_size=128,
        warmup=10_000,
        train_every=10,
        epsilon=1.0,
        final_epsilon=0.05,
        epsilon_steps=250_000,
        learning_rate=2.5e-4,
        tau=1.0,
        target_every=500,
        hidden=(120, 84),
        scalars=False,
    )
    game: Game = VERSUS_RANDOM
    """Whom it plays against, and for which rewards."""


EXAMPLE = Settings()


def drawn_settings(drawn: Mapping[str, Any]) -> Settings:
    """Return the settings that a search has drawn."""
    copied = drawn["target"] == "copied"
    loop = replace(
        EXAMPLE.loop,
        buffer_size=drawn["memory_size"],
        batch_size=drawn["batch_size"],
        warmup=drawn["learning_starts"],
        train_every=max(1, round(1 / drawn["updates_per_step"])),
        final_epsilon=drawn["epsilon_end"],
        epsilon_steps=drawn["epsilon_steps"],
        gamma=drawn["gamma"],
        learning_rate=drawn["learning_rate"],
        learning_rate_hold=drawn["learning_rate_hold"],
        tau=1.0 if copied else drawn["soft_update"],
        target_every=drawn["target_every"] if copied else 1,
        hidden=widths(drawn["hidden"]),
    )
    return Settings(loop, drawn_game(drawn))


def make(seed: int, settings: Settings = EXAMPLE) -> Training:
    """Return the learning of one network, which is judged in both seats without a mask, as it has learned."""
    games = Games(settings.game, seed)
    learner = cleanrl_style.Learner(replace(settings.loop, seed=seed), games.make)

    def run(tick: Tick) -> None:
        with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
            for steps, updates in enumerate(learner.learn(writer), start=1):
                games.keep_up(steps, learner.network)
                if not tick(updates):
                    return

    return Training(QPlayer(RULES, (learner.network,), "mover", mask=False), run)
