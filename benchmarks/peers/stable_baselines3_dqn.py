"""Stable-Baselines3's DQN, by default with the settings that its own zoo has for its smallest task.

Settings: those of CartPole-v1 in https://github.com/DLR-RM/rl-baselines3-zoo/blob/master/hyperparams/dqn.yml, which
its documentation recommends over the constructor's defaults: those are meant for Atari, and learned more slowly here
(seed 1000). Exploration falls over as many steps as there, a 0.16 of 50,000. It learns alone, so it plays
`TicTacToeVersus-v0` in both seats, a random one in each game, by default against random play, sees its own marks in
plane 1, and learns the rules from the illegal reward.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import Logger

from benchmarks.peers.judging import RULES, Tick, Training, widths
from benchmarks.peers.opponents import VERSUS_RANDOM, Game, Games, drawn_game
from selfplay.dqn.player import QPlayer

ENDLESS = 10**9
"""Steps asked for, so that time alone ends the run."""


@dataclass(frozen=True)
class Settings:
    """Hold what is set; the names are the library's, but for those with a docstring."""

    learning_rate: float = 2.3e-3
    learning_rate_hold: int = 0
    """Steps for which the learning rate stays as it is; from then on it falls as this / steps. 0: it never falls."""
    batch_size: int = 64
    buffer_size: int = 100_000
    learning_starts: int = 1_000
    gamma: float = 0.99
    tau: float = 1.0
    target_update_interval: int = 10
    train_freq: int = 256
    gradient_steps: int = 128
    exploration_steps: int = 8_000
    """Over which epsilon falls from 1 to its final value."""
    exploration_final_eps: float = 0.04
    net_arch: tuple[int, ...] = (256, 256)
    n_envs: int = 1
    game: Game = VERSUS_RANDOM
    """Whom it plays against, and for which rewards."""

    def learning_rate_at(self, steps: float) -> float:
        """Return the learning rate after so many steps."""
        hold = self.learning_rate_hold
        return self.learning_rate * hold / max(hold, steps) if hold else self.learning_rate


EXAMPLE = Settings()


def drawn_settings(drawn: Mapping[str, Any]) -> Settings:
    """Return the settings that a search has drawn; what it counts in steps are steps of all boards together."""
    boards, copied = drawn["boards"], drawn["target"] == "copied"
    train_freq = max(1, round(drawn["train_every"] / boards))
    return Settings(
        learning_rate=drawn["learning_rate"],
        learning_rate_hold=drawn["learning_rate_hold"],
        batch_size=drawn["batch_size"],
        buffer_size=drawn["memory_size"],
        learning_starts=drawn["learning_starts"],
        gamma=drawn["gamma"],
        tau=1.0 if copied else drawn["soft_update"],
        target_update_interval=max(boards, drawn["target_every"] if copied else 1),  # less would warn, and be the same
        train_freq=train_freq,
        gradient_steps=max(1, round(drawn["updates_per_step"] * train_freq * boards)),
        exploration_steps=drawn["epsilon_steps"],
        exploration_final_eps=drawn["epsilon_end"],
        net_arch=widths(drawn["hidden"]),
        n_envs=boards,
        game=drawn_game(drawn),
    )


class EachStep(BaseCallback):
    """After every step renew the opponent if that is due, and ask whether to go on."""

    def __init__(self, games: Games, tick: Tick) -> None:
        super().__init__()
        self._games, self._tick = games, tick

    def _on_step(self) -> bool:
        assert isinstance(self.model, DQN)
        self._games.keep_up(self.num_timesteps, self.model.q_net)
        return self._tick(self.model._n_updates)


def make_model(seed: int, settings: Settings, games: Games) -> DQN:
    """Return a learner for an endless run."""
    model = DQN(
        "MlpPolicy",
        make_vec_env(games.make, settings.n_envs, seed),
        learning_rate=lambda remaining: settings.learning_rate_at((1 - remaining) * ENDLESS),
        batch_size=settings.batch_size,
        buffer_size=settings.buffer_size,
        learning_starts=settings.learning_starts,
        gamma=settings.gamma,
        tau=settings.tau,
        target_update_interval=settings.target_update_interval,
        train_freq=settings.train_freq,
        gradient_steps=settings.gradient_steps,
        exploration_fraction=settings.exploration_steps / ENDLESS,
        exploration_final_eps=settings.exploration_final_eps,
        policy_kwargs={"net_arch": list(settings.net_arch)},
        seed=seed,
        device="cpu",
    )
    model.set_logger(Logger(folder=None, output_formats=[]))
    return model


def make(seed: int, settings: Settings = EXAMPLE) -> Training:
    """Return the learning of one network, which is judged in both seats without a mask, as it has learned."""
    games = Games(settings.game, seed)
    model = make_model(seed, settings, games)

    def run(tick: Tick) -> None:
        model.learn(ENDLESS, callback=EachStep(games, tick))

    return Training(QPlayer(RULES, (model.q_net,), "mover", mask=False), run)
