"""Ours: `python train.py --stop never`, all other settings the defaults, without its record.

Its own evaluations belong to its time, since it learns from what they find. The number of plies is set so high that
time alone ends the run; nothing in it depends on that number.
"""

import numpy as np

from benchmarks.peers.judging import Tick, Training
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.self_play import DQNLearner
from selfplay.proof.judge import trusted
from selfplay.proof.lessons import examine


def make(seed: int, _seconds: float = 0) -> Training:
    """Return the self-play of the default DQN."""
    config = DQNConfig(seed=seed, stop="never", total_steps=1_000_000_000, device="cpu")
    learner = DQNLearner(config)

    def run(tick: Tick) -> None:
        due, going = config.eval_every, True
        while going:
            learner.advance()
            if learner.steps >= due:
                due = learner.steps + config.eval_every
                generator = np.random.default_rng([seed, learner.steps])
                lessons = examine(trusted(learner.player()), False, generator)
                learner.teach(lessons.mover, lessons.opponent)
            going = tick(learner.updates)

    return Training(learner.player(), run)
