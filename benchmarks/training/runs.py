"""Train any algorithm without a folder and without a word, as `python train.py` does with the same settings."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch

import train
from selfplay import experiment
from selfplay.agent import Agent
from selfplay.algorithms import Config
from selfplay.config import DQNConfig
from selfplay.devices import choose_device
from selfplay.evaluation import Proof
from selfplay.reach import Unproved
from selfplay.standing import Standing, beginning
from selfplay.tabular import training as tabular


class Record(NamedTuple):
    """Hold one evaluation of a run."""

    steps: int
    """Plies or games so far."""
    evaluation: Proof | Unproved
    metrics: Mapping[str, float]
    """What was measured beside it, by TensorBoard tag."""
    player: Agent


def training(config: Config) -> Iterator[Record]:
    """Train, and yield each evaluation."""
    torch.set_num_threads(1)
    if isinstance(config, DQNConfig):
        device = choose_device(config.device)
        agents = train.make_agents(config, device)
        player: Callable[[], Agent] = agents.player
        history = train.train(config, agents, device)
        records = train.as_records(history, Standing(beginning(config, device), config.eval_every))
    else:
        learner = tabular.make_learner(config)
        player, records = learner.player, tabular.train(learner)
    for record in records:
        yield Record(record.steps, record.evaluation, record.metrics, player())


def proved_from(history: Sequence[Record], stop: str) -> int | None:
    """Return the number of the first evaluation from which the proof held to the end, None without one."""
    return experiment.first_of_final_streak([train.proves(record.evaluation, stop) for record in history])


def configuration(command: str, seed: int) -> Config:
    """Return the settings that flags of `python train.py` give, with a seed, on a CPU."""
    config = replace(train.read_flags(shlex.split(command)), seed=seed)
    return replace(config, device="cpu") if isinstance(config, DQNConfig) else config
