"""Ours: `python train.py --stop never`, all other settings the defaults, without its own evaluations and record.

The number of plies is set so high that time alone ends the run; nothing in it depends on that number.
"""

from benchmarks.peers.judging import Tick, Training
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.self_play import DQNLearner


def make(seed: int, _seconds: float = 0) -> Training:
    """Return the self-play of the default DQN."""
    config = DQNConfig(seed=seed, stop="never", total_steps=1_000_000_000, device="cpu")
    learner = DQNLearner(config)

    def run(tick: Tick) -> None:
        going = True
        while going:
            learner.advance()
            going = tick(learner.updates)

    return Training(learner.player(), run)
