"""Short games played through the interleaved wrapper by a script, for tests that compute by hand."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from selfplay.dqn.agent import DQNAgent
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.interleaved import InterleavedAgents
from selfplay.dqn.network import QNetwork
from selfplay.dqn.self_play import DQNLearner, make_agents
from selfplay.dqn.transitions import Transitions
from tictactoe import Rewards, Rules, batch

CPU = torch.device("cpu")

SMALL = DQNConfig(
    hidden=(16,), num_envs=16, batch_size=32, memory_size=1_000, warmup=64, total_steps=4_000, eval_every=2_000
)


def make(config: DQNConfig, separate: bool = False) -> InterleavedAgents:
    """Return agents for games on one board, which is what a script plays."""
    return make_agents(replace(config, num_envs=1, networks="separate" if separate else config.networks), CPU)


def iterations(learner: DQNLearner) -> Iterator[None]:
    """Let it play its plies, one on every board at a time."""
    while learner.steps < learner.config.total_steps:
        learner.advance()
        yield


def inputs(state: batch.State, rules: Rules, perspective: str = "mover") -> torch.Tensor:
    return torch.as_tensor(batch.observe(rules, state, perspective)).flatten(1).float()


def play(agents: InterleavedAgents, cells: list[int], rewards: Rewards | None = None) -> list[torch.Tensor]:
    """Play one game on one board, remember every ply, and return what the mover saw before each."""
    config = agents.seats[0].config
    rules = config.rules
    state = batch.reset(rules, 1, np)
    seen = [inputs(state, rules, config.perspective)]
    for cell in cells:
        action = np.array([cell])
        played = batch.step(rules, rewards or Rewards(), state, action)
        after = batch.restart(played.state, played.terminated)
        seen.append(inputs(after, rules, config.perspective))
        agents.remember(
            torch.as_tensor(state.to_play),
            seen[-2],
            torch.as_tensor(action),
            torch.as_tensor(played.reward),
            torch.as_tensor(played.other_reward),
            torch.as_tensor(played.terminated),
            seen[-1],
        )
        state = after
    return seen


def remembered(agent: DQNAgent) -> Transitions:
    """Return what the agent's memory holds, in the order in which it was stored."""
    return agent.layout.unpack(agent.memory.table[: int(agent.memory.added)])


def constant_values(agent: DQNAgent, online: list[float], target: list[float]) -> None:
    """Make the agent's two networks give the same values [A] in every position."""
    for network, values in ((agent.network, online), (agent.target_network, target)):
        assert isinstance(network, QNetwork)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.zero_()
            network.advantage.bias.copy_(torch.tensor(values))


def config_with(**changes: object) -> DQNConfig:
    return replace(SMALL, **changes)  # type: ignore[arg-type]
