"""A DQN loop that does the work of CleanRL's `dqn.py` step by step, in our words; by default at the published settings.

Source of the manner: https://docs.cleanrl.dev/rl-algorithms/dqn/#dqnpy. Kept from it: a SyncVectorEnv of
one environment with episode statistics, the replay buffer of Stable-Baselines3, Python's `random` to
explore, one autograd update, the target network moved parameter by parameter, TensorBoard scalars at the
end of each game and every 100 steps. Different, and in its favour: nothing is printed during the loop.
Different by need: Gymnasium 1.x resets within the step only on request (`SAME_STEP`, which is what
CleanRL's own version of Gymnasium does), and our observations are small integers, so the network casts them.
"""

import collections
import importlib
import itertools
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

import tictactoe  # noqa: F401 (registers the environment)


@dataclass(frozen=True)
class Settings:
    """Hold the settings of one run; the defaults are the published DQN's."""

    seed: int = 0
    total_steps: int = 100_000
    buffer_size: int = 50_000
    batch_size: int = 32
    warmup: int = 100
    train_every: int = 1
    """Steps between updates."""
    epsilon: float = 0.2
    final_epsilon: float = 0.2
    epsilon_steps: int = 1
    """Steps over which epsilon moves to its final value, in a straight line."""
    gamma: float = 0.99
    learning_rate: float = 1e-3
    learning_rate_hold: int = 0
    """Steps for which the learning rate stays as it is; from then on it falls as this / steps. 0: it never falls."""
    tau: float = 1e-2
    target_every: int = 1
    """Steps between moves of the target network."""
    hidden: tuple[int, ...] = (27, 27, 27)
    scalars: bool = True
    """Write TensorBoard scalars."""


class Timed(NamedTuple):
    """Hold what a run took, without its setting up."""

    seconds: float
    updates: int


class QNetwork(nn.Module):
    """Value the actions."""

    def __init__(self, inputs: int, hidden: Sequence[int], actions: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for width in hidden:
            layers += [nn.Linear(inputs, width), nn.ReLU()]
            inputs = width
        self.network = nn.Sequential(*layers, nn.Linear(inputs, actions))

    def forward(self, observations: Tensor) -> Tensor:
        """Return the values of all actions."""
        values: Tensor = self.network(observations.float())
        return values


def turn_view() -> gymnasium.Env[Any, Any]:
    """Return the published game: one agent moves for both seats."""
    game: gymnasium.Env[Any, Any] = gymnasium.make("TicTacToe-v0", rewards="article")
    return game


def make_environment(game: Callable[[], gymnasium.Env[Any, Any]], seed: int) -> gymnasium.Env[Any, Any]:
    """Return a game with flat observations and episode statistics."""
    environment = RecordEpisodeStatistics(FlattenObservation(game()))
    environment.action_space.seed(seed)
    return environment


def run(settings: Settings) -> Timed:
    """Train on the published game for `total_steps` steps, with scalars in a folder that is then removed."""
    learner = Learner(settings, turn_view)
    with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        started = time.perf_counter()
        last = collections.deque(itertools.islice(learner.learn(writer), settings.total_steps), maxlen=1).pop()
        return Timed(time.perf_counter() - started, last)


class Learner:
    """Hold the network that learns, and what it learns with."""

    def __init__(self, settings: Settings, game: Callable[[], gymnasium.Env[Any, Any]]) -> None:
        random.seed(settings.seed)
        np.random.seed(settings.seed)  # noqa: NPY002 (what the replay buffer draws from)
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.environments = SyncVectorEnv(
            [lambda: make_environment(game, settings.seed)], autoreset_mode=AutoresetMode.SAME_STEP
        )
        observation_space = self.environments.single_observation_space
        action_space = self.environments.single_action_space
        assert isinstance(observation_space, gymnasium.spaces.Box)
        assert isinstance(action_space, gymnasium.spaces.Discrete)
        sizes = observation_space.shape[0], settings.hidden, int(action_space.n)
        self.device = torch.device("cpu")
        self.network, self.target_network = (QNetwork(*sizes).to(self.device) for _ in range(2))
        self.target_network.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        replay_buffer = importlib.import_module("stable_baselines3.common.buffers").ReplayBuffer
        self.memory: Any = replay_buffer(  # typed for a list of infos, given a dict as CleanRL does
            settings.buffer_size, observation_space, action_space, self.device, handle_timeout_termination=False
        )

    def learn(self, writer: SummaryWriter) -> Iterator[int]:
        """Step and learn without end; yield the updates done after each step."""
        settings, environments, memory = self.settings, self.environments, self.memory
        network, target_network, device = self.network, self.target_network, self.device
        slope = (settings.final_epsilon - settings.epsilon) / settings.epsilon_steps
        observations, _ = environments.reset(seed=settings.seed)
        updates = 0
        started = time.perf_counter()
        for step in itertools.count():
            epsilon = max(slope * step + settings.epsilon, settings.final_epsilon)
            if random.random() < epsilon:
                actions = np.array([environments.single_action_space.sample() for _ in range(environments.num_envs)])
            else:
                actions = torch.argmax(network(torch.Tensor(observations).to(device)), dim=1).cpu().numpy()

            next_observations, rewards, terminations, truncations, infos = environments.step(actions)
            if settings.scalars and "final_info" in infos:
                episode = infos["final_info"]["episode"]
                writer.add_scalar("charts/episodic_return", episode["r"][0], step)
                writer.add_scalar("charts/episodic_length", episode["l"][0], step)

            real_next = next_observations.copy()
            for index, truncated in enumerate(truncations):
                if truncated:
                    real_next[index] = infos["final_obs"][index]
            memory.add(observations, real_next, actions, rewards, terminations, infos)
            observations = next_observations

            if step > settings.warmup:
                if step % settings.train_every == 0:
                    if settings.learning_rate_hold:
                        part = settings.learning_rate_hold / max(settings.learning_rate_hold, step)
                        self.optimizer.param_groups[0]["lr"] = part * settings.learning_rate
                    self._update(writer, step, started)
                    updates += 1
                if step % settings.target_every == 0:
                    tau = settings.tau
                    for slow, fast in zip(target_network.parameters(), network.parameters(), strict=True):
                        slow.data.copy_(tau * fast.data + (1 - tau) * slow.data)
            yield updates

    def _update(self, writer: SummaryWriter, step: int, started: float) -> None:
        settings = self.settings
        data = self.memory.sample(settings.batch_size)
        with torch.no_grad():
            best, _ = self.target_network(data.next_observations).max(dim=1)
            target = data.rewards.flatten() + settings.gamma * best * (1 - data.dones.flatten())
        value = self.network(data.observations).gather(1, data.actions).squeeze()
        loss = nn.functional.mse_loss(target, value)
        if settings.scalars and step % 100 == 0:
            writer.add_scalar("losses/td_loss", loss, step)
            writer.add_scalar("losses/q_values", value.mean().item(), step)
            writer.add_scalar("charts/SPS", int(step / (time.perf_counter() - started)), step)

        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
