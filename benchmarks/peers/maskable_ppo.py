"""MaskablePPO of sb3-contrib, against random play, which did better in the search than copies of itself.

It chooses among the legal cells alone, and is evaluated so, by its likeliest cell. Its updates are counted in passes
over what it has collected, as the library counts them. It has no second network.
"""

from collections.abc import Mapping
from typing import Any

from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import Logger
from torch import nn

from benchmarks.peers.evaluations import ONLINE, Tick, Train
from benchmarks.peers.greedy_player import GreedyPlayer
from benchmarks.peers.single_learner_games import SingleLearnerGames
from benchmarks.peers.stable_baselines3_dqn import ENDLESS, EachStep

SETTINGS: Mapping[str, Any] = {
    "boards": 4,
    "game": {"opponent": "random", "rewards": "shaped"},
    "model": {
        "learning_rate": 0.00139,
        "n_epochs": 2,
        "gamma": 0.921,
        "gae_lambda": 0.697,
        "clip_range": 0.114,
        "ent_coef": 0.00053,
        "vf_coef": 0.244,
        "n_steps": 214,
        "batch_size": 136,
        "policy_kwargs": {"net_arch": [65, 65]},
    },
}
"""The settings that a search found; `model` has settings with the library's names."""


def make(seed: int, settings: Mapping[str, Any] = SETTINGS) -> Train:
    """Return the learning of one network, which plays both seats."""
    games = SingleLearnerGames(seed, **settings["game"])
    boards = make_vec_env(games.make, settings["boards"], seed)
    model = MaskablePPO("MlpPolicy", boards, seed=seed, device="cpu", **settings["model"])
    model.set_logger(Logger(folder=None, output_formats=[]))
    logits = nn.Sequential(model.policy.mlp_extractor.policy_net, model.policy.action_net)
    players = {ONLINE: GreedyPlayer(logits, masked=True)}

    def train(tick: Tick) -> None:
        model.learn(ENDLESS, callback=EachStep(games, tick, players))

    return train
