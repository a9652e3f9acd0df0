"""MaskablePPO of sb3-contrib, by self-play against frozen copies of itself.

Settings: the constructor's defaults, on as many boards as the recipe `docs/recipes/maskable_ppo_self_play.py`, with
the sparse rewards. Nothing was searched for. It chooses among the legal cells alone, and is evaluated so, by its
likeliest cell. The copies are those of `opponents.py`: they play their likeliest cell, and a random one in a tenth of
their replies. Its updates are counted in passes over what it has collected, as the library counts them.
"""

from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import Logger
from torch import nn

from benchmarks.peers.evaluations import Tick, Train
from benchmarks.peers.opponents import Games
from benchmarks.peers.player import Greedy
from benchmarks.peers.stable_baselines3_dqn import ENDLESS, EachStep

BOARDS = 8


def make(seed: int) -> Train:
    """Return the self-play of one network, which plays both seats."""
    games = Games(seed, opponent="self", rewards="sparse")
    model = MaskablePPO("MlpPolicy", make_vec_env(games.make, BOARDS, seed), seed=seed, device="cpu")
    model.set_logger(Logger(folder=None, output_formats=[]))
    logits = nn.Sequential(model.policy.mlp_extractor.policy_net, model.policy.action_net)
    player = Greedy(logits, masked=True)

    def train(tick: Tick) -> None:
        model.learn(ENDLESS, callback=EachStep(games, tick, player))

    return train
