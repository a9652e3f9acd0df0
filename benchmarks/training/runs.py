"""Do what `python train.py` would with the flags that a row shows, and tell from where the proof holds."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

from selfplay import Record
from selfplay.algorithms import Config
from selfplay.cli.train import read
from selfplay.dqn.config import DQNConfig
from selfplay.training.loop import first_of_final_streak, proves


def configuration(command: str, seed: int) -> Config:
    """Return the settings that flags of `python train.py` give, with a seed, on a CPU."""
    config, _ = read(shlex.split(command), "python train.py")
    config = replace(config, seed=seed)
    return replace(config, device="cpu") if isinstance(config, DQNConfig) else config


def proved_from(history: Sequence[Record], stop: str) -> int | None:
    """Return the number of the first evaluation from which the proof held to the end, None without one."""
    return first_of_final_streak([proves(record.evaluation, stop) for record in history])
