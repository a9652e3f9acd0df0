"""One CleanRL-style DQN, for all benchmarks that need one beside ours. It shares no line with `selfplay.dqn`.

`DQN` is network, target network, replay memory and update; `CleanRL` is the loop of CleanRL's `dqn.py`
(https://docs.cleanrl.dev/rl-algorithms/dqn/#dqnpy) around it, step by step, in our words: a SyncVectorEnv of one
environment with episode statistics, Python's `random` to explore, and TensorBoard scalars at the end of each game and
every 100 steps. Different, and in its favour: nothing is printed during the loop, and the memory stores what the
network takes. Different by need: Gymnasium 1.x resets within the step only on request (`SAME_STEP`).
"""

import copy
import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

from tictactoe.tree import BoolArray, IntArray

CELLS = 9
FloatArray: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    """Hold the settings of a DQN and of CleanRL's loop; the defaults are the published DQN's."""

    hidden: tuple[int, ...] = (27, 27, 27)
    learning_rate: float = 1e-3
    gamma: float = 0.99
    batch_size: int = 32
    memory_size: int = 50_000
    tau: float = 1e-2
    """Part of the way that the target network moves towards the network."""
    sign: int = 1
    """Sign of the next position's value in the target."""
    warmup: int = 100
    """Steps before the first update; this and all below are of CleanRL's loop."""
    train_every: int = 1
    """Steps between updates."""
    target_every: int = 1
    """Steps between moves of the target network."""
    epsilon: float = 0.2
    final_epsilon: float = 0.2
    epsilon_steps: int = 1
    """Steps over which epsilon moves to its final value, in a straight line."""
    learning_rate_hold: int = 0
    """Steps with a constant learning rate, which then falls as this / steps; 0 keeps it constant."""


class Transitions(NamedTuple):
    """Hold moves and what they led to; `B` is their number."""

    observation: FloatArray
    """[B, 27]"""
    action: IntArray
    """[B]"""
    reward: FloatArray
    """[B]"""
    goes_on: BoolArray
    """[B]: the target adds the value of the next observation."""
    next_observation: FloatArray
    """[B, 27]"""
    next_legal: BoolArray
    """[B, 9]: cells among which the target takes the best."""


class DQN:
    """Learn action values: the reward, plus or minus the value of the next observation."""

    def __init__(self, settings: Settings, seed: int) -> None:
        torch.manual_seed(seed)
        self.settings, self.generator = settings, torch.Generator().manual_seed(seed)
        self.network = multilayer((3 * CELLS, *settings.hidden, CELLS))
        self.target_network = copy.deepcopy(self.network)
        self.optimizer = torch.optim.Adam(self.network.parameters(), settings.learning_rate)
        self.memory: Transitions | None = None
        self.added = 0

    def remember(self, new: Transitions) -> None:
        """Put transitions in the place of the oldest ones."""
        size = self.settings.memory_size
        if self.memory is None:
            self.memory = Transitions(*(np.zeros((size, *part.shape[1:]), part.dtype) for part in new))
        places = (self.added + np.arange(len(new.action))) % size
        for stored, part in zip(self.memory, new, strict=True):
            stored[places] = part
        self.added += len(new.action)

    def update(self) -> tuple[Tensor, Tensor]:
        """Take one step on the squared error of a batch; return the loss and the values."""
        settings = self.settings
        assert self.memory is not None
        size = (settings.batch_size,)
        rows = torch.randint(min(self.added, settings.memory_size), size, generator=self.generator).numpy()
        observation, action, reward, goes_on, after, legal = (torch.as_tensor(part[rows]) for part in self.memory)
        with torch.no_grad():
            best = self.target_network(after).masked_fill(~legal, -torch.inf).amax(dim=1)
            target = reward + settings.sign * settings.gamma * torch.where(goes_on, best, 0.0)
        value = self.network(observation).gather(1, action[:, None])[:, 0]
        loss = nn.functional.mse_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss, value

    @torch.no_grad()
    def move_target(self) -> None:
        """Move the target network towards the network."""
        for slow, fast in zip(self.target_network.parameters(), self.network.parameters(), strict=True):
            slow.lerp_(fast, self.settings.tau)


def multilayer(widths: Sequence[int]) -> nn.Sequential:
    """Return dense layers of these widths with rectifiers between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Greedy:
    """Play the cell of the highest value, of one network for both seats or of one for each.

    The networks take mover's views [B, 27]. If `masked`, only empty cells count.
    """

    def __init__(self, *networks: nn.Module, masked: bool) -> None:
        self.networks, self.masked = networks, masked

    @torch.no_grad()
    def act(self, observation: Any, action_mask: Any = None) -> IntArray:
        """Return the cells [B] for mover's views [B, 3, 3, 3]; what is empty is read off plane 0."""
        del action_mask
        planes = torch.as_tensor(np.asarray(observation)).reshape(-1, CELLS, 3).float()
        values = [network(planes.flatten(1)) for network in self.networks]
        second = planes[..., 1].sum(dim=1) != planes[..., 2].sum(dim=1)
        chosen = torch.where(second[:, None], values[-1], values[0])
        if self.masked:
            chosen = chosen.masked_fill(planes[..., 0] == 0, -torch.inf)
        cells: IntArray = chosen.argmax(dim=1).numpy()
        return cells


class CleanRL:
    """Train a DQN on one environment as CleanRL's `dqn.py` does."""

    def __init__(self, settings: Settings, seed: int, make: Callable[[], gymnasium.Env[Any, Any]]) -> None:
        random.seed(seed)
        self.settings, self.seed, self.dqn = settings, seed, DQN(settings, seed)
        self.environments = SyncVectorEnv(
            [lambda: RecordEpisodeStatistics(FlattenObservation(make()))], autoreset_mode=AutoresetMode.SAME_STEP
        )
        self.environments.single_action_space.seed(seed)

    def learn(self, writer: SummaryWriter | None) -> Iterator[int]:
        """Step and learn without end; yield the updates done after each step. Without a writer nothing is written."""
        settings, dqn, environments = self.settings, self.dqn, self.environments
        slope = (settings.final_epsilon - settings.epsilon) / settings.epsilon_steps
        any_cell = np.ones((1, CELLS), dtype=bool)
        observation, _ = environments.reset(seed=self.seed)
        updates, started = 0, time.perf_counter()
        for step in itertools.count():
            if random.random() < max(slope * step + settings.epsilon, settings.final_epsilon):
                action = np.array([environments.single_action_space.sample()])
            else:
                action = dqn.network(torch.Tensor(observation)).argmax(dim=1).numpy()
            after, reward, terminated, _, infos = environments.step(action)
            if writer is not None and "final_info" in infos:
                episode = infos["final_info"]["episode"]
                writer.add_scalar("charts/episodic_return", episode["r"][0], step)
                writer.add_scalar("charts/episodic_length", episode["l"][0], step)
            # Where a game has ended the next one's observation follows, and the target does not look at it.
            seen, paid, seen_after = (array.astype(np.float32) for array in (observation, reward, after))
            dqn.remember(Transitions(seen, action, paid, ~terminated, seen_after, any_cell))
            observation = after
            if step > settings.warmup:
                if step % settings.train_every == 0:
                    if settings.learning_rate_hold:
                        part = settings.learning_rate_hold / max(settings.learning_rate_hold, step)
                        dqn.optimizer.param_groups[0]["lr"] = part * settings.learning_rate
                    loss, value = dqn.update()
                    updates += 1
                    if writer is not None and step % 100 == 0:
                        writer.add_scalar("losses/td_loss", loss, step)
                        writer.add_scalar("losses/q_values", value.mean().item(), step)
                        writer.add_scalar("charts/SPS", int(step / (time.perf_counter() - started)), step)
                if step % settings.target_every == 0:
                    dqn.move_target()
            yield updates
