"""A CleanRL-style DQN, against copies of itself in a random seat.

`CleanRL` is the loop of CleanRL's `dqn.py` (https://docs.cleanrl.dev/rl-algorithms/dqn/#dqnpy), step by step, in our
words: a SyncVectorEnv of one environment with episode statistics, and Python's `random` to explore. It shares no line
with `selfplay.dqn`. Different, and in its favour: nothing is printed during the loop, no TensorBoard scalars are
written, and the memory stores what the network takes. Different by need: Gymnasium 1.x resets within the step only on
request (`SAME_STEP`).

Settings: those that a search found for Stable-Baselines3. It learns alone, so it plays `TicTacToeVersus-v0` in both
seats, sees its own marks in plane 1, and learns the rules from the illegal reward. Its one game at a time is CleanRL's
own limit.
"""

import copy
import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics
from numpy.typing import NDArray
from torch import nn

from benchmarks.peers.evaluations import ONLINE, Tick, Train
from benchmarks.peers.greedy_player import GreedyPlayer
from benchmarks.peers.single_learner_games import SingleLearnerGames


@dataclass(frozen=True)
class CleanRLSettings:
    """The settings of the loop, by default what a search found."""

    hidden: tuple[int, ...] = (512,)
    learning_rate: float = 0.0028
    learning_rate_hold: int = 78_605
    """Steps with a constant learning rate, which then falls as this / steps; 0 keeps it constant."""
    gamma: float = 0.914
    batch_size: int = 160
    memory_size: int = 19_523
    tau: float = 0.0159
    """Part of the way that the target network moves towards the network."""
    warmup: int = 2_288
    """Steps before the first update."""
    train_every: int = 26
    """Steps between updates."""
    target_every: int = 1
    """Steps between moves of the target network."""
    epsilon: float = 1.0
    final_epsilon: float = 0.157
    epsilon_steps: int = 18_477
    """Steps over which epsilon moves to its final value, in a straight line."""


GAMES: Mapping[str, Any] = {
    "opponent": "self",
    "rewards": "shaped",
    "copy_every": 1_335,
    "opponent_random": 0.419,
}
"""The settings that the search found for the games."""


class CleanRL:
    """A DQN that learns on one environment as CleanRL's `dqn.py` does."""

    def __init__(self, settings: CleanRLSettings, seed: int, make: Callable[[], gymnasium.Env[Any, Any]]) -> None:
        random.seed(seed)
        torch.manual_seed(seed)
        self.settings, self.seed, self.generator = settings, seed, torch.Generator().manual_seed(seed)
        self.environments = SyncVectorEnv(
            [lambda: RecordEpisodeStatistics(FlattenObservation(make()))], autoreset_mode=AutoresetMode.SAME_STEP
        )
        self.environments.single_action_space.seed(seed)
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise((27, *settings.hidden, 9)):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.network = nn.Sequential(*layers[:-1])
        self.target_network = copy.deepcopy(self.network)
        self.optimizer = torch.optim.Adam(self.network.parameters(), settings.learning_rate)
        size = settings.memory_size
        self.memory: tuple[NDArray[Any], ...] = (
            np.zeros((size, 27), np.float32),  # observation
            np.zeros(size, np.int64),  # action
            np.zeros(size, np.float32),  # reward
            np.zeros(size, np.float32),  # done
            np.zeros((size, 27), np.float32),  # next observation
        )

    def learn(self) -> Iterator[int]:
        """Step and learn without end; yield the updates done after each step."""
        settings, environments = self.settings, self.environments
        slope = (settings.final_epsilon - settings.epsilon) / settings.epsilon_steps
        observation, _ = environments.reset(seed=self.seed)
        updates = 0
        for step in itertools.count():
            if random.random() < max(slope * step + settings.epsilon, settings.final_epsilon):
                action = np.array([environments.single_action_space.sample()])
            else:
                action = self.network(torch.Tensor(observation)).argmax(dim=1).numpy()
            after, reward, terminated, _, _ = environments.step(action)
            # Where a game has ended the next one's observation follows, and the target does not look at it.
            for stored, new in zip(self.memory, (observation, action, reward, terminated, after), strict=True):
                stored[step % settings.memory_size] = new[0]
            observation = after
            if step > settings.warmup:
                if step % settings.train_every == 0:
                    if settings.learning_rate_hold:
                        part = settings.learning_rate_hold / max(settings.learning_rate_hold, step)
                        self.optimizer.param_groups[0]["lr"] = part * settings.learning_rate
                    self.update(step + 1)
                    updates += 1
                if step % settings.target_every == 0:
                    self.move_target()
            yield updates

    def update(self, stored: int) -> None:
        """Take one step on the squared error of a batch of what is stored."""
        settings = self.settings
        size = (settings.batch_size,)
        rows = torch.randint(min(stored, settings.memory_size), size, generator=self.generator).numpy()
        observation, action, reward, done, after = (torch.as_tensor(part[rows]) for part in self.memory)
        with torch.no_grad():
            best = self.target_network(after).amax(dim=1)
            target = reward + settings.gamma * best * (1 - done)
        value = self.network(observation).gather(1, action[:, None])[:, 0]
        loss = nn.functional.mse_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()

    @torch.no_grad()
    def move_target(self) -> None:
        """Move the target network towards the network."""
        for slow, fast in zip(self.target_network.parameters(), self.network.parameters(), strict=True):
            slow.lerp_(fast, self.settings.tau)


def make(seed: int, settings: CleanRLSettings = CleanRLSettings(), of_games: Mapping[str, Any] = GAMES) -> Train:
    """Return the learning of one network, which is evaluated in both seats without a mask, as it has learned."""
    games = SingleLearnerGames(seed, **of_games)
    learner = CleanRL(settings, seed, games.make)
    networks = {ONLINE: learner.network, "target": learner.target_network}
    players = {name: GreedyPlayer(network, masked=False) for name, network in networks.items()}

    def train(tick: Tick) -> None:
        for steps, updates in enumerate(learner.learn(), start=1):
            games.update(steps, learner.network)
            if not tick(updates, players):
                return

    return train
