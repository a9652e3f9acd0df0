"""Ours: `python train.py --stop never`, without its record, and in steps without what it is told.

Its own evaluations belong to its time, since it learns from what they find; without counterexamples it makes none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from benchmarks.peers.evaluations import ONLINE, Tick, Train
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.learner import DQNLearner
from selfplay.dqn.player import QPlayer
from selfplay.runs import loop

ENDLESS = 1_000_000_000
"""Plies of a run, which only time ends."""
DEFAULTS = DQNConfig()
CHANGES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "ours": {},
        "ours-no-counterexamples": {"counterexamples": 0.0, "counterexample_margin": 0.0},
        "ours-plain": {"symmetry": "none"},
        "ours-any-cell": {"explore": "any"},
    }
)
"""The walk: each row changes this as well as what the rows before it change."""


def walk() -> Iterator[tuple[str, DQNConfig]]:
    """Yield the settings of each row of the walk."""
    settings = DEFAULTS
    for name, change in CHANGES.items():
        settings = replace(settings, **change)
        yield name, settings


WALK = MappingProxyType(dict(walk()))


def make(seed: int, settings: DQNConfig = DEFAULTS) -> Train:
    """Return the self-play of a DQN, as `selfplay.training` trains it."""
    config = replace(settings, seed=seed, stop="never", total_steps=ENDLESS, device="cpu")
    if not config.counterexamples:
        config = replace(config, eval_every=ENDLESS)
    learner = DQNLearner(config)
    [agent] = learner.self_play.agents
    players = {ONLINE: QPlayer(config, (agent.network,)), "average": QPlayer(config, (agent.average_network,))}

    def train(tick: Tick) -> None:
        for _ in loop.train(learner, config, should_stop=lambda: not tick(learner.updates, players)):
            pass

    return train
