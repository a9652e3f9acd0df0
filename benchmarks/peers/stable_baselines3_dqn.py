"""Stable-Baselines3's DQN with the defaults of its constructor, against random play in a random seat.

Settings: the defaults of `stable_baselines3.DQN` with `"MlpPolicy"`
(https://stable-baselines3.readthedocs.io/en/master/modules/dqn.html). It learns alone, so it plays
`TicTacToeVersus-v0` in both seats, sees its own marks in plane 1, and learns the rules from the illegal reward. Its
exploration falls over a tenth of the run; how many steps that is follows from a short trial run of its speed.
"""

import time
from typing import Any

import gymnasium
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

import tictactoe  # noqa: F401 (registers the environment)
from benchmarks.peers.judging import RULES, Tick, Training
from selfplay.player import QPlayer

TRIAL_STEPS = 10_000
ENDLESS = 10**9
"""Steps asked for, so that time alone ends the run."""
EXPLORATION_FRACTION = 0.1
"""The default of DQN, of the steps that the run is expected to do."""


class Ticking(BaseCallback):
    """Ask after every step whether to go on."""

    def __init__(self, tick: Tick) -> None:
        super().__init__()
        self._tick = tick

    def _on_step(self) -> bool:
        assert isinstance(self.model, DQN)
        return self._tick(self.model._n_updates)


def make_model(seed: int, exploration_steps: float) -> DQN:
    """Return a learner that has its default epsilon after so many steps of an endless run."""
    game: gymnasium.Env[Any, Any] = gymnasium.make(
        "TicTacToeVersus-v0", opponent="random", seat="random", perspective="mover"
    )
    model = DQN("MlpPolicy", game, seed=seed, device="cpu", exploration_fraction=exploration_steps / ENDLESS)
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
