"""Stable-Baselines3's DQN with the settings that its own zoo has for its smallest task, against random play.

Settings: those of CartPole-v1 in https://github.com/DLR-RM/rl-baselines3-zoo/blob/master/hyperparams/dqn.yml, which
its documentation recommends over the constructor's defaults: those are meant for Atari, and learned more slowly here
(seed 1000). It learns alone, so it plays `TicTacToeVersus-v0` in both seats, a random one in each game, sees its own
marks in plane 1, and learns the rules from the illegal reward. Its exploration falls over a part of the run; how many
steps that is follows from a short trial run of its speed.
"""

import time

from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from benchmarks.peers.judging import RULES, Tick, Training, versus_random
from selfplay.dqn.player import QPlayer

TRIAL_STEPS = 10_000
ENDLESS = 10**9
"""Steps asked for, so that time alone ends the run."""
EXPLORATION_FRACTION = 0.16
"""Of the steps that the run is expected to do."""


class Ticking(BaseCallback):
    """Ask after every step whether to go on."""

    def __init__(self, tick: Tick) -> None:
        super().__init__()
        self._tick = tick

    def _on_step(self) -> bool:
        assert isinstance(self.model, DQN)
        return self._tick(self.model._n_updates)


def make_model(seed: int, exploration_steps: float) -> DQN:
    """Return a learner whose epsilon comes to its final value after so many steps of an endless run."""
    model = DQN(
        "MlpPolicy",
        versus_random(),
        learning_rate=2.3e-3,
        batch_size=64,
        buffer_size=100_000,
        learning_starts=1_000,
        gamma=0.99,
        target_update_interval=10,
        train_freq=256,
        gradient_steps=128,
        exploration_fraction=exploration_steps / ENDLESS,
        exploration_final_eps=0.04,
        policy_kwargs={"net_arch": [256, 256]},
        seed=seed,
        device="cpu",
    )
    model.set_logger(Logger(folder=None, output_formats=[]))
    return model


def steps_per_second() -> float:
    """Return its speed over a short run with the same course of exploration."""
    model = make_model(0, EXPLORATION_FRACTION * TRIAL_STEPS)
    started = time.perf_counter()
    model.learn(TRIAL_STEPS)
    return TRIAL_STEPS / (time.perf_counter() - started)


def make(seed: int, seconds: float) -> Training:
    """Return the learning of one network, which is judged in both seats without a mask, as it has learned."""
    model = make_model(seed, EXPLORATION_FRACTION * seconds * steps_per_second())

    def run(tick: Tick) -> None:
        model.learn(ENDLESS, callback=Ticking(tick))

    return Training(QPlayer(RULES, (model.q_net,), "mover", mask=False), run)
