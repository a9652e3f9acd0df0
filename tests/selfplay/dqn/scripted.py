"""Short games played through self-play by a script, for tests that compute by hand."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from selfplay.dqn.config import DQNConfig
from selfplay.dqn.dqn import DQNAgent, InterleavedSelfPlay, Transitions
from selfplay.dqn.learner import DQNLearner
from selfplay.dqn.network import QNetwork
from tictactoe import Rewards, Rules, batch

CPU = torch.device("cpu")

SMALL = DQNConfig(
    device="cpu",
    hidden=(16,),
    num_envs=16,
    batch_size=32,
    memory_size=1_000,
    warmup=64,
    updates_per_step=1,
    total_steps=4_000,
    eval_every=2_000,
)


def config_with(**changes: Any) -> DQNConfig:
    return replace(SMALL, **changes)


def make(config: DQNConfig, separate: bool = False) -> InterleavedSelfPlay:
    """Return self-play on one board, which is what a script plays."""
    return InterleavedSelfPlay(replace(config, num_envs=1, networks="separate" if separate else config.networks), CPU)


def iterations(learner: DQNLearner) -> Iterator[None]:
    """Let it play its plies, one on every board at a time."""
    while learner.steps < learner.self_play.config.total_steps:
        learner.advance(1)
        yield


def observe(state: batch.State, rules: Rules, perspective: str = "mover") -> torch.Tensor:
    """Return what the movers see, [B, 3A]."""
    return torch.as_tensor(batch.observe(rules, state, perspective)).flatten(1).float()


def store(
    self_play: InterleavedSelfPlay, state: batch.State, cells: list[int], rewards: Rewards | None = None
) -> batch.State:
    """Play these cells on the boards, store the transitions, and return the boards after it."""
    config = self_play.config
    played = batch.step(config.rules, rewards or Rewards(), state, np.array(cells))
    after = batch.restart(played.state, played.terminated)
    transitions = Transitions(
        observe(state, config.rules, config.perspective),
        torch.tensor(cells),
        observe(after, config.rules, config.perspective),
        torch.as_tensor(played.reward),
        1 - torch.as_tensor(played.terminated).float(),
    )
    self_play.store(torch.as_tensor(state.to_play), transitions, torch.as_tensor(played.other_reward))
    return after


def play(self_play: InterleavedSelfPlay, cells: list[int], rewards: Rewards | None = None) -> list[torch.Tensor]:
    """Play one game on one board, store every ply, and return what the mover saw before each and at the end."""
    rules, perspective = self_play.config.rules, self_play.config.perspective
    state = batch.reset(rules, 1, np)
    seen = [observe(state, rules, perspective)]
    for cell in cells:
        state = store(self_play, state, [cell], rewards)
        seen.append(observe(state, rules, perspective))
    return seen


def remembered(agent: DQNAgent) -> Transitions:
    """Return what the agent's memory holds, in the order in which it was stored."""
    return Transitions(*(field[: agent.memory.added] for field in agent.memory.transitions))


def constant_values(
    agent: DQNAgent, online: list[float], target: list[float], average: list[float] | None = None
) -> None:
    """Make the agent's networks give the same values [A] in every position; the average is 0 if not given."""
    networks = agent.network, agent.target_network, agent.average_network
    for network, values in zip(networks, (online, target, average or [0.0] * len(online)), strict=True):
        give_constant_values(network, values)


@torch.no_grad()
def give_constant_values(network: torch.nn.Module, values: list[float]) -> None:
    """Make a network give the same values [A] in every position."""
    assert isinstance(network, QNetwork)
    for parameter in network.parameters():
        parameter.zero_()
    network.output.bias.copy_(torch.tensor(values))


def one_hot(cell: int) -> list[float]:
    """Return values with which a cell is chosen."""
    return [float(number == cell) for number in range(9)]
