"""Stable-Baselines3's DQN.

It learns alone, so it plays `TicTacToeVersus-v0` in both seats, a random one in each game, against copies of itself,
sees its own marks in plane 1, and learns the rules from the illegal reward.
"""

from collections.abc import Mapping
from typing import Any

from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import Logger

from benchmarks.peers.evaluations import ONLINE, Tick, Train
from benchmarks.peers.greedy_player import GreedyPlayer
from benchmarks.peers.single_learner_games import SingleLearnerGames

ENDLESS = 10**9
"""Steps of a run, which only time ends."""


SETTINGS: Mapping[str, Any] = {
    "learning_rate": 0.0028,
    "learning_rate_hold": 78_605,
    "exploration_steps": 18_477,
    "hidden": [512],
    "boards": 91,
    "game": {"opponent": "self", "rewards": "shaped", "copy_every": 1_335, "opponent_random": 0.419},
    "model": {
        "batch_size": 160,
        "buffer_size": 19_523,
        "learning_starts": 2_288,
        "gamma": 0.914,
        "tau": 0.0159,
        "target_update_interval": 91,
        "train_freq": 1,
        "gradient_steps": 4,
        "exploration_final_eps": 0.157,
    },
}
"""The settings that a search found; `model` has settings with the library's names.

Epsilon falls from 1 over the `exploration_steps`. After `learning_rate_hold` steps the learning rate falls as this /
steps.
"""


class EachStep(BaseCallback):
    """A callback that renews the opponent if that is due, and says whether to train on."""

    def __init__(self, games: SingleLearnerGames, tick: Tick, players: Mapping[str, GreedyPlayer]) -> None:
        super().__init__()
        self._games, self._tick, self._players = games, tick, players

    def _on_step(self) -> bool:
        self._games.update(self.num_timesteps, self._players[ONLINE].networks[0])
        return self._tick(self.model._n_updates, self._players)


def make_model(seed: int, settings: Mapping[str, Any], games: SingleLearnerGames) -> DQN:
    """Return a learner for an endless run."""
    rate, hold = settings["learning_rate"], settings["learning_rate_hold"]
    model = DQN(
        "MlpPolicy",
        make_vec_env(games.make, settings["boards"], seed),
        learning_rate=lambda remaining: rate * hold / max(hold, (1 - remaining) * ENDLESS) if hold else rate,
        exploration_fraction=settings["exploration_steps"] / ENDLESS,
        policy_kwargs={"net_arch": settings["hidden"]},
        seed=seed,
        device="cpu",
        **settings["model"],
    )
    model.set_logger(Logger(folder=None, output_formats=[]))
    return model


def make(seed: int, settings: Mapping[str, Any] = SETTINGS) -> Train:
    """Return the learning of one network, which is evaluated in both seats without a mask, as it has learned."""
    games = SingleLearnerGames(seed, **settings["game"])
    model = make_model(seed, settings, games)
    networks = {ONLINE: model.q_net, "target": model.q_net_target}
    players = {name: GreedyPlayer(network, masked=False) for name, network in networks.items()}

    def train(tick: Tick) -> None:
        model.learn(ENDLESS, callback=EachStep(games, tick, players))

    return train
