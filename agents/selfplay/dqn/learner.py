"""The DQN as a learner of a run: its device, its checkpoint state, its metrics, and checks around the algorithm.

The algorithm itself is in `dqn.py`.
"""

import os
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from selfplay.dqn.config import DQNConfig
from selfplay.dqn.dqn import DQNAgent, InterleavedSelfPlay
from selfplay.dqn.network import NetworkFactory, empty_network
from selfplay.dqn.player import QPlayer
from selfplay.dqn.pool import SNAPSHOTS
from selfplay.errors import UserError
from selfplay.settings import SettingsError, require
from selfplay.tensor_file import check_state
from tictactoe import Rules

GIGABYTE = 10**9
WEIGHT_COPIES = 6
"""Vectors of all weights: network, gradient, target network, average, and two moments of Adam."""


class DQNLearner:
    """A DQN that learns by self-play; `steps` counts plies, `updates` counts those of each agent.

    `network` is a custom network in place of the one that the settings describe: a module from [B, 3A] to [B, A], which
    is copied, or a function that makes one from the rules. `agent` is the class of the agents.

    Raises:
        UserError: there is no such device, too little memory for these settings, or the custom network or agent does
            not fit.
    """

    def __init__(
        self, config: DQNConfig, network: NetworkFactory | None = None, agent: type[DQNAgent] = DQNAgent
    ) -> None:
        require(network is None or callable(network), "network", "a module or a function that makes one", network)
        is_agent = isinstance(agent, type) and issubclass(agent, DQNAgent)
        require(is_agent, "agent", "a subclass of selfplay.DQNAgent", agent)
        self.device = choose_device(config.device)
        check_memory(config, self.device)
        self.self_play = InterleavedSelfPlay(config, self.device, network, agent)
        for each in self.self_play.agents:
            check_agent(each)
        if self.self_play.starts is not None:
            self.teach = self.self_play.starts.teach  # an optional member of a learner: here only if it has a use

    @property
    def rules(self) -> Rules:
        """Return the rules of the board."""
        return self.self_play.config.rules

    @property
    def steps(self) -> int:
        """Return the plies played so far."""
        return self.self_play.plies

    @property
    def updates(self) -> int:
        """Return the updates of each agent so far."""
        return self.self_play.agents[0].updates

    def advance(self, most: int) -> None:  # noqa: ARG002
        """Play one ply on every board, even if fewer are asked for, and learn from it after the warm-up."""
        self.self_play.advance()

    def player(self) -> QPlayer:
        """Return the current greedy player, which keeps learning with the agents.

        Raises:
            UserError: what was learned is no longer finite.
        """
        self.check_finite()
        return self.self_play.player()

    def metrics(self) -> dict[str, float]:
        """Return the newest loss and values, and epsilon, by TensorBoard tag."""
        metrics = {"explore/epsilon": self.self_play.epsilon}
        if self.self_play.last_updates:
            losses, values = zip(*self.self_play.last_updates, strict=True)
            metrics |= {"loss/td": float(torch.stack(losses).mean()), "q/mean": float(torch.cat(values).mean())}
        return metrics

    def check_finite(self) -> None:
        """Check that the last losses and everything that an update changes are finite.

        Raises:
            UserError: a number is not finite.
        """
        tensors: dict[str, Tensor] = {}
        for number, agent in enumerate(self.self_play.agents):
            tensors |= named(f"agent_{number}", {**learned_tensors(agent), **agent.own_tensors()})
        for number, update in enumerate(self.self_play.last_updates):
            tensors[f"agent_{number}.loss"] = update.loss
        for name, tensor in tensors.items():
            if not bool(tensor.isfinite().all()):
                raise SettingsError(f"{name} is no longer finite; lower `learning_rate`")

    def state(self) -> dict[str, Any]:
        """Return everything that training changes. The last updates are left out, since the next step replaces them.

        Raises:
            UserError: what was learned is no longer finite.
        """
        self.check_finite()
        play = self.self_play
        state = {
            "device": self.device.type,
            "generator": play.generator.get_state(),
            "plies": play.plies,
            "updates": self.updates,
        }
        for number, agent in enumerate(play.agents):
            state[f"agent_{number}.added"] = agent.memory.added
        return state | changed_tensors(play)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that `state` returned.

        On another device than before, random numbers start again from the seed, because generators of different
        devices do not share their states.

        Raises:
            UserError: it is not a state of these settings.
        """
        play, wanted = self.self_play, self.state()
        same_device = state.get("device") == wanted["device"]
        if not same_device:
            wanted["generator"] = state.get("generator")  # of another device: it is not restored
        check_state(state, wanted)
        if same_device:
            play.generator.set_state(state["generator"])
        for name, tensor in changed_tensors(play).items():
            tensor.detach().copy_(state[name])
        for number, agent in enumerate(play.agents):
            agent.memory.added = state[f"agent_{number}.added"]
            agent.updates = state["updates"]
        play.plies = state["plies"]
        play.observation, play.symmetry = play.observe()


def check_agent(agent: DQNAgent) -> None:
    """Refuse an agent, of a subclass, that a checkpoint would not restore.

    Raises:
        UserError: a tensor of its own is a copy, into which nothing is restored.
    """
    name = type(agent).__name__
    again = agent.own_tensors()
    for key, tensor in agent.own_tensors().items():
        if tensor.data_ptr() != again[key].data_ptr():
            raise UserError(f"agent {name}: own_tensors must return {key} itself, the tensor that it uses, not a copy")


def named(place: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors under their names in a place."""
    return {f"{place}.{name}": tensor for name, tensor in tensors.items()}


def learned_tensors(agent: DQNAgent) -> dict[str, Tensor]:
    """Return the tensors of an agent that an update changes."""
    tensors = named("network", agent.network.state_dict())
    tensors |= named("target_network", agent.target_network.state_dict())
    tensors |= named("average_network", agent.average_network.state_dict())
    moments = zip(agent.adam_steps, agent.first_moments, agent.second_moments, strict=True)
    for number, (step, first, second) in enumerate(moments):
        tensors |= named(f"adam.{number}", {"step": step, "exp_avg": first, "exp_avg_sq": second})
    return tensors


def changed_tensors(play: InterleavedSelfPlay) -> dict[str, Tensor]:
    """Return everything that self-play changes, apart from its generator: by name, the tensors themselves."""
    tensors = {}
    for name, array in play.boards._asdict().items():
        tensors[f"boards.{name}"] = torch.from_numpy(array)  # shares its memory
    if play.starts is not None:
        tensors |= named("starts", {"positions": play.starts.positions, "count": play.starts.count})
        tensors["next_move"] = play.next_move
    if play.pool is not None:
        tensors |= named("pool", play.pool.state_dict())
    if play.waiting is not None:
        tensors |= named("waiting", play.waiting._asdict())
    for number, agent in enumerate(play.agents):
        place = f"agent_{number}"
        tensors |= named(place, learned_tensors(agent))
        tensors |= named(f"{place}.memory", agent.memory.transitions._asdict())
        tensors |= named(f"{place}.own", agent.own_tensors())
    return tensors


def choose_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is CUDA if available.

    Raises:
        SettingsError: it is asked for by name and not available.
    """
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = "cuda" if available["cuda"] else "cpu"
    if not available[name]:
        raise SettingsError(f"`device` {name}: this machine or this build of PyTorch has none; use `device` cpu")
    return torch.device(name)


def check_memory(config: DQNConfig, device: torch.device) -> None:
    """Refuse settings that need more memory than the device has, before the system kills the run halfway.

    Raises:
        UserError: they do.
    """
    needed, available = least_bytes(config), device_bytes(device)
    if available is not None and needed > available:
        place = "the GPU" if device.type == "cuda" else "this machine"
        raise SettingsError(
            f"these settings need at least {needed / GIGABYTE:,.0f} GB of memory, and {place} has "
            f"{available / GIGABYTE:,.0f} GB; lower some of `memory_size`, `batch_size`, `num_envs`, `hidden`"
        )


def least_bytes(config: DQNConfig) -> int:
    """Return the least memory of a run in bytes: replay memory, networks, a batch and the boards."""
    agents = 2 if config.networks == "separate" else 1
    weights = sum(parameter.numel() for parameter in empty_network(config, torch.device("meta")).parameters())
    transition = 6 * config.rules.cells + 4  # 4-byte numbers: two observations, an 8-byte action, reward, continues
    copies = WEIGHT_COPIES + (SNAPSHOTS if config.opponents == "snapshots" else 0)
    of_agent = config.memory_size * transition + copies * weights
    return 4 * (agents * of_agent + (config.batch_size + config.num_envs) * transition)


def device_bytes(device: torch.device) -> int | None:
    """Return the size of a device's memory, used or free; None if the system does not tell."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
