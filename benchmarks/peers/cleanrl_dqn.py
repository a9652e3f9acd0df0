"""A DQN in CleanRL's manner with the settings of its `dqn.py`, against random play in a random seat.

Settings: the defaults of https://github.com/vwxyzjn/cleanrl/blob/master/cleanrl/dqn.py, network included; the loop is
`training/cleanrl_style.py`. It learns alone, so it plays `TicTacToeVersus-v0` in both seats, sees its own marks in
plane 1, and learns the rules from the illegal reward. Its exploration falls over half of the run; how many steps that
is follows from a short trial run of its speed. Its first 10,000 steps are random play without an update.
"""

import itertools
import tempfile
import time
from dataclasses import replace

from torch.utils.tensorboard import SummaryWriter

from benchmarks.peers.judging import RULES, Tick, Training, versus_random
from benchmarks.training.cleanrl_style import Learner, Settings
from selfplay.dqn.player import QPlayer

TRIAL_STEPS = 10_000
EXPLORATION_FRACTION = 0.5
SETTINGS = Settings(
    buffer_size=10_000,
    batch_size=128,
    warmup=10_000,
    train_every=10,
    epsilon=1.0,
    final_epsilon=0.05,
    learning_rate=2.5e-4,
    tau=1.0,
    target_every=500,
    hidden=(120, 84),
)


def steps_per_second() -> float:
    """Return its speed over a short run with the same course of exploration, that learns from the start."""
    settings = replace(SETTINGS, warmup=0, epsilon_steps=round(EXPLORATION_FRACTION * TRIAL_STEPS))
    learner = Learner(settings, versus_random)
    with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        started = time.perf_counter()
        for _ in itertools.islice(learner.learn(writer), TRIAL_STEPS):
            pass
        return TRIAL_STEPS / (time.perf_counter() - started)


def make(seed: int, seconds: float) -> Training:
    """Return the learning of one network, which is judged in both seats without a mask, as it has learned."""
    expected = round(EXPLORATION_FRACTION * seconds * steps_per_second())
    learner = Learner(replace(SETTINGS, seed=seed, epsilon_steps=max(1, expected)), versus_random)

    def run(tick: Tick) -> None:
        with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
            for updates in learner.learn(writer):
                if not tick(updates):
                    return

    return Training(QPlayer(RULES, (learner.network,), "mover", mask=False), run)
