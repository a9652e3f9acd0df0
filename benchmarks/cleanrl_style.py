"""A DQN loop that does the work of CleanRL's `dqn.py` step by step, in our words, at the published settings.

Source of the manner: https://docs.cleanrl.dev/rl-algorithms/dqn/#dqnpy. Kept from it: a SyncVectorEnv of
one environment with episode statistics, the replay buffer of Stable-Baselines3, Python's `random` to
explore, one autograd update, the target network moved parameter by parameter, TensorBoard scalars at the
end of each game and every 100 steps. Different, and in its favour: nothing is printed during the loop.
Different by need: Gymnasium 1.x resets within the step only on request (`SAME_STEP`, which is what
CleanRL's own version of Gymnasium does), and our observations are small integers, so the network casts them.
"""

import importlib
import random
import tempfile
import time
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
    epsilon: float = 0.2
    gamma: float = 0.99
    learning_rate: float = 1e-3
    tau: float = 1e-2
    width: int = 27
    scalars: bool = True
    """Write TensorBoard scalars."""


class Timed(NamedTuple):
    """Hold what a run took, without its setting up."""

    seconds: float
    updates: int


class QNetwork(nn.Module):
    """Value the actions: three hidden layers of one width."""

    def __init__(self, inputs: int, width: int, actions: int) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(inputs, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, actions),
        )

    def forward(self, observations: Tensor) -> Tensor:
        """Return the values of all actions."""
        values: Tensor = self.network(observations.float())
        return values


def make_environment(seed: int) -> gymnasium.Env[Any, Any]:
    """Return the turn view with flat observations and episode statistics."""
    environment = RecordEpisodeStatistics(FlattenObservation(gymnasium.make("TicTacToe-v0", rewards="article")))
    environment.action_space.seed(seed)
    return environment


def run(settings: Settings) -> Timed:
    """Train for `total_steps` steps, with scalars in a folder that is then removed."""
    with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        return _run(settings, writer)


def _run(settings: Settings, writer: SummaryWriter) -> Timed:
    random.seed(settings.seed)
    np.random.seed(settings.seed)  # noqa: NPY002 (what the replay buffer draws from)
    torch.manual_seed(settings.seed)
    device = torch.device("cpu")

    environments = SyncVectorEnv([lambda: make_environment(settings.seed)], autoreset_mode=AutoresetMode.SAME_STEP)
    observation_space, action_space = environments.single_observation_space, environments.single_action_space
    assert isinstance(observation_space, gymnasium.spaces.Box)
    assert isinstance(action_space, gymnasium.spaces.Discrete)
    sizes = observation_space.shape[0], settings.width, int(action_space.n)
    network, target_network = QNetwork(*sizes).to(device), QNetwork(*sizes).to(device)
    target_network.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    replay_buffer = importlib.import_module("stable_baselines3.common.buffers").ReplayBuffer
    memory: Any = replay_buffer(  # typed for a list of infos, given a dict as CleanRL does
        settings.buffer_size, observation_space, action_space, device, handle_timeout_termination=False
    )

    observations, _ = environments.reset(seed=settings.seed)
    updates = 0
    started = time.perf_counter()
    for step in range(settings.total_steps):
        if random.random() < settings.epsilon:
            actions = np.array([action_space.sample() for _ in range(environments.num_envs)])
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

        if step <= settings.warmup:
            continue
        data = memory.sample(settings.batch_size)
        with torch.no_grad():
            best, _ = target_network(data.next_observations).max(dim=1)
            target = data.rewards.flatten() + settings.gamma * best * (1 - data.dones.flatten())
        value = network(data.observations).gather(1, data.actions).squeeze()
        loss = nn.functional.mse_loss(target, value)
        if settings.scalars and step % 100 == 0:
            writer.add_scalar("losses/td_loss", loss, step)
            writer.add_scalar("losses/q_values", value.mean().item(), step)
            writer.add_scalar("charts/SPS", int(step / (time.perf_counter() - started)), step)

        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        updates += 1
        for target_parameter, parameter in zip(target_network.parameters(), network.parameters(), strict=True):
            target_parameter.data.copy_(settings.tau * parameter.data + (1 - settings.tau) * target_parameter.data)
    seconds = time.perf_counter() - started
    environments.close()
    return Timed(seconds, updates)
