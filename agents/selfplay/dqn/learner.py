"""The DQN as a learner of a run: its device, its checkpoint state, its metrics, and checks around the algorithm.

The algorithm itself is in `dqn.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from selfplay.dqn.config import OWN_NETWORK, DQNConfig
from selfplay.dqn.dqn import DQNAgent, InterleavedSelfPlay
from selfplay.dqn.network import NetworkFactory, empty_network, network_name
from selfplay.dqn.player import QPlayer
from selfplay.errors import UserError, setting_name
from selfplay.learner import RunLearner, State
from selfplay.settings import GIGABYTE, machine_bytes
from tictactoe.tree import IntArray

GENERATOR_BYTES = 8_192
"""Room for a generator's state: 5,056 bytes on a CPU, 16 on a GPU."""
WEIGHT_COPIES = 6
"""Vectors of all weights: network and target network with a gradient each, and two moments of Adam."""


class DQNLearner(RunLearner):
    """Learn by self-play; `steps` counts plies, `updates` counts those of each agent.

    `network` makes a custom network in place of the one that the settings describe. It is called with the rules and
    returns a module from [B, 3A] to [B, A].

    Raises:
        UserError: there is no such device, too little memory for these settings, or the custom network does not fit.
    """

    config: DQNConfig

    def __init__(self, config: DQNConfig, network: NetworkFactory | None = None) -> None:
        self.device = choose_device(config.device)
        check_memory(config, self.device)
        torch.backends.cudnn.deterministic = True  # else convolutions on a GPU give different bits each time
        # "auto" is resolved, so that a resumed run stays on its device.
        self.config = replace(config, device="cuda" if self.device.type == "cuda" else "cpu")
        self.network = network
        self.self_play = InterleavedSelfPlay(self.config, self.device, network)
        self.takes_counterexamples = self.self_play.starts is not None

    @property
    def steps(self) -> int:
        """Return the plies played so far."""
        return self.self_play.plies

    @property
    def updates(self) -> int:
        """Return the updates of each agent so far."""
        return self.self_play.agents[0].optimizer.steps

    def advance(self, _most: int = 0) -> None:
        """Play one ply on every board, even if fewer are asked for, and learn from it after the warm-up."""
        self.self_play.advance()

    def teach(self, mover: IntArray, opponent: IntArray) -> None:
        """Start some of the next games at these positions, bitboards [n]."""
        assert self.self_play.starts is not None
        self.self_play.starts.replace(mover, opponent)

    def player(self) -> QPlayer:
        """Return the current greedy player, which keeps learning with the agents."""
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
        tensors = [update.loss for update in self.self_play.last_updates]
        tensors += [tensor for agent in self.self_play.agents for tensor in learned_tensors(agent).values()]
        if not all(bool(tensor.isfinite().all()) for tensor in tensors):
            raise UserError(f"the loss is no longer finite; lower {setting_name('learning_rate')}")

    def notes(self) -> Mapping[str, str]:
        """Return the name of the custom network, if there is one, for config.json."""
        return {} if self.network is None else {OWN_NETWORK: network_name(self.network)}

    def state(self) -> State:
        """Return everything that training changes. The last updates are left out, since the next step replaces them."""
        play = self.self_play
        generator = play.generator.get_state()
        tensors = {
            "generator": torch.cat((generator, generator.new_zeros(GENERATOR_BYTES - len(generator)))),
            **dict(changed_tensors(play)),
        }
        counters = {"plies": play.plies, "updates": self.updates}
        for number, agent in enumerate(play.agents):
            counters[f"agent_{number}.added"] = agent.memory.added
        return State(tensors, counters)

    def restore(self, state: State, written_with: Mapping[str, Any]) -> None:
        """Restore a state returned by `state` in a run with the settings `written_with`.

        On another device than before, random numbers start again from the seed, because generators of different
        devices do not share their states.

        Raises:
            UserError: the state of the random generator is damaged.
        """
        play, tensors, counters = self.self_play, state.tensors, state.counters
        if written_with.get("device") == self.device.type:
            size = len(play.generator.get_state())
            try:
                play.generator.set_state(tensors["generator"][:size].clone())
            except RuntimeError as error:
                raise UserError(f"the checkpoint holds no state of a random generator: {error}") from None
        for name, tensor in changed_tensors(play):
            tensor.copy_(tensors[name])
        for number, agent in enumerate(play.agents):
            agent.memory.added = counters[f"agent_{number}.added"]
            agent.optimizer.steps = counters["updates"]
        play.plies = counters["plies"]
        play.observation, play.symmetry = play.observe()


def learned_tensors(agent: DQNAgent) -> dict[str, Tensor]:
    """Return the tensors of an agent that an update changes."""
    return {
        "weights": agent.weights.detach(),
        "target_weights": agent.target_weights.detach(),
        "adam_mean": agent.optimizer.mean,
        "adam_square": agent.optimizer.square,
    }


def changed_tensors(play: InterleavedSelfPlay) -> Iterator[tuple[str, Tensor]]:
    """Yield the name and the tensor itself of everything that self-play changes, apart from its generator."""
    for name, array in play.boards._asdict().items():
        yield f"boards.{name}", torch.from_numpy(array)
    if play.starts is not None:
        yield "starts.marks", play.starts.marks
        yield "starts.count", play.starts.count
    for number, agent in enumerate(play.agents):
        for name, tensor in learned_tensors(agent).items():
            yield f"agent_{number}.{name}", tensor
        for name, tensor in agent.memory.transitions._asdict().items():
            yield f"agent_{number}.memory.{name}", tensor
    if play.pending is not None:
        for name, tensor in play.pending.transitions._asdict().items():
            yield f"pending.{name}", tensor
        yield "pending.seat", play.pending.seat
        yield "pending.waiting", play.pending.waiting


def choose_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is CUDA if available.

    Raises:
        UserError: CUDA is asked for and not available.
    """
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        cuda, cpu = setting_name("device", "cuda"), setting_name("device", "cpu")
        raise UserError(f"{cuda}: this machine or this build of PyTorch has no CUDA; use {cpu}")
    return torch.device("cuda" if available and name != "cpu" else "cpu")


def check_memory(config: DQNConfig, device: torch.device) -> None:
    """Refuse settings that need more memory than the device has, before the system kills the run halfway.

    Raises:
        UserError: they do.
    """
    needed, available = least_bytes(config), device_bytes(device)
    if available is not None and needed > available:
        place = "the GPU" if device.type == "cuda" else "this machine"
        larger = ", ".join(map(setting_name, ("memory_size", "batch_size", "num_envs", "hidden")))
        raise UserError(
            f"these settings need at least {needed / GIGABYTE:,.0f} GB of memory, and {place} has "
            f"{available / GIGABYTE:,.0f} GB; lower some of {larger}"
        )


def least_bytes(config: DQNConfig) -> int:
    """Return the least memory of a run in bytes: replay memory, networks, a batch through them, and the boards."""
    cells, agents = config.rules.cells, 2 if config.networks == "separate" else 1
    weights = sum(parameter.numel() for parameter in empty_network(config, torch.device("meta")).parameters())
    units = cells * (sum(config.convolution) + config.lines) + sum(config.hidden) + cells
    transition = 6 * cells + 4  # 4-byte numbers: two observations, an 8-byte action, reward, continues
    stored = agents * (config.memory_size * transition + WEIGHT_COPIES * weights)
    return 4 * (stored + config.batch_size * (transition + units) + config.num_envs * units)


def device_bytes(device: torch.device) -> int | None:
    """Return the size of a device's memory, used or free; None if the system does not tell."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return machine_bytes()
