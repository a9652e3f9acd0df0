"""Ours: `python train.py --stop never`, all other settings the defaults, without its own evaluations and record.

The number of plies is set so high that time alone ends the run; nothing in it depends on that number.
"""

import torch

import train
from benchmarks.peers.judging import Tick, Training
from selfplay.config import DQNConfig

DEVICE = torch.device("cpu")


def make(seed: int, _seconds: float = 0) -> Training:
    """Return the self-play of the default DQN."""
    config = DQNConfig(seed=seed, stop="never", total_steps=1_000_000_000)
    agents = train.make_agents(config, DEVICE)

    def run(tick: Tick) -> None:
        for progressed in train.self_play(config, agents, DEVICE):
            if not tick(progressed.updates):
                return

    return Training(agents.player(), run)
