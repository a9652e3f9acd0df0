"""The DQN as a learner of a run: its device, its checkpoint state, its metrics, and checks around the algorithm.

The algorithm itself is in `dqn.py`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from selfplay.dqn.config import DQNConfig
from selfplay.dqn.dqn import DQNAgent, InterleavedSelfPlay
from selfplay.dqn.network import NetworkFactory, empty_network
from selfplay.dqn.player import QPlayer
from selfplay.errors import UserError
from selfplay.judging.counterexamples import MOST_FOR_TRAINING
from selfplay.settings import GIGABYTE, LARGEST, machine_bytes
from selfplay.tensor_file import check_state
from tictactoe import Rules, planes

MOST_PLIES = 2 * LARGEST
"""Upper bound for the counters of a run that a checkpoint may hold."""
WEIGHT_COPIES = 6
"""Vectors of all weights: network and target network with a gradient each, and two moments of Adam."""


class DQNLearner:
    """A DQN that learns by self-play; `steps` counts plies, `updates` counts those of each agent.

    `network` makes a custom network in place of the one that the settings describe. It is called with the rules and
    returns a module from [B, 3A] to [B, A].

    Raises:
        UserError: there is no such device, too little memory for these settings, or the custom network does not fit.
    """

    def __init__(self, config: DQNConfig, network: NetworkFactory | None = None) -> None:
        self.device = choose_device(config.device)
        check_memory(config, self.device)
        self.self_play = InterleavedSelfPlay(config, self.device, network)
        if self.self_play.starts is not None:
            self.teach = self.self_play.starts.replace  # an optional member of a learner: here only if it has a use

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
        tensors = [update.loss for update in self.self_play.last_updates]
        tensors += [tensor for agent in self.self_play.agents for tensor in learned_tensors(agent).values()]
        if not all(bool(tensor.isfinite().all()) for tensor in tensors):
            raise UserError("the loss is no longer finite; lower learning_rate")

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
            **dict(changed_tensors(play)),
        }
        for number, agent in enumerate(play.agents):
            state[f"agent_{number}.added"] = agent.memory.added
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that `state` returned.

        On another device than before, random numbers start again from the seed, because generators of different
        devices do not share their states.

        Raises:
            UserError: it is not a state of these settings.
        """
        play, own = self.self_play, self.state()
        same_device = state.get("device") == own["device"]
        check_state(state, own if same_device else {**own, "generator": state.get("generator")})
        check_numbers(state, self.rules)
        check_positions(state, self.rules)
        if same_device:
            try:
                play.generator.set_state(state["generator"])
            except RuntimeError as error:
                raise UserError(f"the checkpoint holds no state of a random generator: {error}") from None
        for name, tensor in changed_tensors(play):
            tensor.copy_(state[name])
        for number, agent in enumerate(play.agents):
            agent.memory.added = state[f"agent_{number}.added"]
            agent.updates = state["updates"]
        play.plies = state["plies"]
        play.observation, play.symmetry = play.observe()


def learned_tensors(agent: DQNAgent) -> dict[str, Tensor]:
    """Return the tensors of an agent that an update changes, before the first one too."""
    tensors = {}
    for name, tensor in agent.network.state_dict().items():
        tensors[f"network.{name}"] = tensor
    for name, tensor in agent.target_network.state_dict().items():
        tensors[f"target_network.{name}"] = tensor
    for number, parameter in enumerate(agent.network.parameters()):
        moments = agent.optimizer.state[parameter]
        if not moments:  # as Adam makes them at its first step
            moments["step"] = torch.zeros((), device=parameter.device)
            moments["exp_avg"] = torch.zeros_like(parameter)
            moments["exp_avg_sq"] = torch.zeros_like(parameter)
        for name, tensor in moments.items():
            tensors[f"adam.{number}.{name}"] = tensor
    return tensors


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
    for number, ply in enumerate(play.waiting):
        for name, tensor in ply._asdict().items():
            yield f"waiting_{number}.{name}", tensor


def check_numbers(state: Mapping[str, Any], rules: Rules) -> None:
    """Refuse a state with counters, cells or seats that no run reaches.

    Raises:
        UserError: a number is out of range.
    """
    highest = {
        "plies": MOST_PLIES,
        "updates": MOST_PLIES,
        "added": MOST_PLIES,
        "action": rules.cells - 1,
        "seat": 1,
        "ply": rules.cells - 1,
        "count": MOST_FOR_TRAINING,
    }
    for name, value in state.items():
        most = highest.get(name.split(".")[-1])
        if most is None:
            continue
        in_range = torch.as_tensor((value >= 0) & (value <= most))
        if not bool(in_range.all()):
            raise UserError(f"the checkpoint is damaged: {name} must be from 0 to {most:,}")


def check_positions(state: Mapping[str, Any], rules: Rules) -> None:
    """Refuse a state with positions that are not on the board.

    Raises:
        UserError: there are marks outside the board, two in one cell, or more or fewer than plies.
    """
    positions = {"boards": (state["boards.mover"], state["boards.opponent"])}
    if "starts.marks" in state:
        positions["starts.marks"] = state["starts.marks"]
    for name, (mover, opponent) in positions.items():
        outside = (mover | opponent) & ~rules.full_word
        if bool((outside | (mover & opponent)).any()):
            raise UserError(f"the checkpoint is damaged: {name} holds marks outside the board, or two in a cell")
    marks = torch.as_tensor(planes.bits(rules.cells, state["boards.mover"] | state["boards.opponent"]))
    if not torch.equal(marks.sum(dim=1), state["boards.ply"]):
        raise UserError("the checkpoint is damaged: boards.ply must be the number of marks")


def choose_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is CUDA if available.

    Raises:
        UserError: CUDA is asked for and not available.
    """
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UserError("device cuda: this machine or this build of PyTorch has no CUDA; use device cpu")
    return torch.device("cuda" if available and name != "cpu" else "cpu")


def check_memory(config: DQNConfig, device: torch.device) -> None:
    """Refuse settings that need more memory than the device has, before the system kills the run halfway.

    Raises:
        UserError: they do.
    """
    needed, available = least_bytes(config), device_bytes(device)
    if available is not None and needed > available:
        place = "the GPU" if device.type == "cuda" else "this machine"
        raise UserError(
            f"these settings need at least {needed / GIGABYTE:,.0f} GB of memory, and {place} has "
            f"{available / GIGABYTE:,.0f} GB; lower some of memory_size, batch_size, num_envs, hidden"
        )


def least_bytes(config: DQNConfig) -> int:
    """Return the least memory of a run in bytes: replay memory, networks, a batch through them, and the boards."""
    cells, agents = config.rules.cells, 2 if config.networks == "separate" else 1
    weights = sum(parameter.numel() for parameter in empty_network(config, torch.device("meta")).parameters())
    units = cells * config.lines + sum(config.hidden) + cells
    transition = 6 * cells + 4  # 4-byte numbers: two observations, an 8-byte action, reward, continues
    stored = agents * (config.memory_size * transition + WEIGHT_COPIES * weights)
    return 4 * (stored + config.batch_size * (transition + units) + config.num_envs * units)


def device_bytes(device: torch.device) -> int | None:
    """Return the size of a device's memory, used or free; None if the system does not tell."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return machine_bytes()
