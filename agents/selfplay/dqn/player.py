"""A trained DQN as a player: the greedy moves of one network for both seats, or of one per seat."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from selfplay.agent import Array
from selfplay.dqn.canonical import Canonical
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.network import NetworkFactory, QNetwork, network_of, own_network
from selfplay.dqn.rule import RuleRating
from selfplay.dqn.targets import masked
from selfplay.errors import UserError
from selfplay.tensor_file import Reader, read_model
from tictactoe import Rules

MOST_NUMBERS = 1 << 18
"""Of a layer that are held at once, 1 MB: as much as stays near a processor, which makes a network twice as fast."""
OWN_NETWORK = "network"
"""What config.json calls the network of one's own that a run was trained with."""


def network_inputs(observation: Tensor, perspective: str) -> Tensor:
    """Turn observations [B, R, C, 3] of either perspective into network inputs [B, 3A] float32.

    The mover never has more marks than the opponent, so a view with more marks in plane 1 than in
    plane 2 is an absolute one with the second seat to move. The mover's view with fewer marks in plane 1
    is the second seat's as well. With equal numbers the first seat is to move and the two views agree.
    """
    marks = observation[..., 1:].sum(dim=(1, 2))
    ahead, behind = marks[:, 0] > marks[:, 1], marks[:, 0] < marks[:, 1]
    swap = ahead if perspective == "mover" else behind
    swapped = observation[..., [0, 2, 1]]
    return torch.where(swap[:, None, None, None], swapped, observation).flatten(1).float()


class QPlayer:
    """Choose the cell of the highest action value; the first of equals.

    Without `mask` this is the raw arg max, illegal cells included; with it the empty cells alone count. A `canonical`
    player looks at one of a position's symmetric images, so that it plays the same in all of them. With a `rule_weight`
    it chooses by the values and so many times the built-in rule's rating.
    """

    def __init__(
        self,
        rules: Rules,
        networks: tuple[nn.Module, ...],
        perspective: str,
        mask: bool,
        canonical: bool = False,
        rule_weight: float = 0.0,
    ) -> None:
        self.rules = rules
        self.networks = networks
        self.perspective = perspective
        self.mask = mask
        self.canonical = canonical
        device = next(networks[0].parameters()).device
        self._canonical = Canonical(rules, device) if canonical else None
        self.rule_weight = rule_weight
        self._rule = RuleRating(rules, device) if rule_weight else None

    @torch.no_grad()
    def q_values(self, observation: Array) -> Array:
        """Return the action values [B, A] of observations [B, R, C, 3] of either perspective.

        Raises:
            ValueError: the observations are not of this player's board.
        """
        device = next(self.networks[0].parameters()).device
        planes = torch.as_tensor(observation, device=device)
        expected = (self.rules.rows, self.rules.cols, 3)
        if tuple(planes.shape[1:]) != expected:
            raise ValueError(f"this player knows observations [B, {expected}], got shape {tuple(planes.shape)}")
        inputs = network_inputs(planes, self.perspective)
        second_to_move = planes[..., 1].sum(dim=(1, 2)) != planes[..., 2].sum(dim=(1, 2))
        values = self._values(inputs, second_to_move)
        return values if isinstance(observation, Tensor) else values.cpu().numpy()

    def _values(self, inputs: Tensor, second_to_move: Tensor) -> Tensor:
        """Return the action values [B, A] of inputs [B, 3A], of which the second seat may be the one to move."""
        if self._canonical is not None:
            image = self._canonical.image(inputs)
            inputs, which = self._canonical.distinct(image)
        values = [in_parts(network, inputs, self.rules.cells) for network in self.networks]
        if self._canonical is not None:
            values = [self._canonical.values(each[which], image.symmetry) for each in values]
        first, second = values[0], values[-1]
        return first if first is second else torch.where(second_to_move[:, None], second, first)

    def act(self, observation: Array, action_mask: Array | None = None) -> Array:
        """Return the greedy actions [B], among those marked in `action_mask` [B, A] if one is given."""
        actions = self.preferences(observation, action_mask).argmax(dim=1)
        return actions if isinstance(observation, Tensor) else np.asarray(actions.cpu())

    def preferences(self, observation: Array, action_mask: Array | None = None) -> Tensor:
        """Return what it chooses by, [B, A]: the values with the rule's part, and below all others what is barred."""
        values = torch.as_tensor(self.q_values(observation))
        if self._rule is not None:
            planes = torch.as_tensor(observation, device=values.device)
            values = values + self.rule_weight * self._rule(planes.flatten(1).float())
        legal = None
        if action_mask is not None:
            legal = torch.as_tensor(action_mask, device=values.device) != 0
        elif self.mask:
            legal = torch.as_tensor(observation, device=values.device)[..., 0].flatten(1) != 0
        return masked(values, legal)

    def tensors(self) -> dict[str, Tensor]:
        """Return the weights of its networks by the names that they have in a file."""
        return named_weights(self.networks)


def player_of(config: DQNConfig, networks: tuple[nn.Module, ...]) -> QPlayer:
    """Return the player that these networks are by the settings of their run."""
    canonical = config.symmetry == "canonical"
    return QPlayer(config.rules, networks, config.perspective, config.mask, canonical, config.rule_weight)


def in_parts(network: nn.Module, inputs: Tensor, cells: int) -> Tensor:
    """Return what a network makes of inputs [B, 3A], of so many at once as its widest layer leaves room for."""
    widest = max(weights.shape[:1].numel() * (cells if weights.dim() > 2 else 1) for weights in network.parameters())
    if isinstance(network, QNetwork) and network.lines is not None:
        widest = max(widest, network.lines.widest)
    parts = torch.split(inputs, max(1, MOST_NUMBERS // widest))
    return torch.cat([network(part) for part in parts]) if len(parts) > 1 else network(inputs)


def named_weights(networks: tuple[nn.Module, ...]) -> dict[str, Tensor]:
    """Return the weights of one network for both seats, or of one per seat, by name."""
    return {
        f"{name}.{key}": tensor
        for name, network in zip(_names(networks), networks, strict=True)
        for key, tensor in network.state_dict().items()
    }


def _names(networks: tuple[nn.Module, ...]) -> tuple[str, ...]:
    return ("shared",) if len(networks) == 1 else ("first", "second")


def read_player(
    path: Path, config: DQNConfig, notes: Mapping[str, object], own: NetworkFactory | None, read: Reader = read_model
) -> QPlayer:
    """Return the player whose weights a file holds, of the settings and notes that its run has written.

    Raises:
        UserError: the file does not hold them, or the run's network was one's own and is not given.
    """
    check_network(path, notes, own)
    networks = tuple(
        own_network(own, config.rules) if own else network_of(config, torch.device("meta"))
        for _ in range(1 if config.networks == "shared" else 2)
    )
    tensors = read(path, named_weights(networks), config.rules)
    for name, network in zip(_names(networks), networks, strict=True):
        weights = {key: tensors[f"{name}.{key}"] for key in network.state_dict()}
        network.load_state_dict(weights, assign=True)
        network.requires_grad_(False)
    return player_of(config, networks)


def check_network(path: Path, notes: Mapping[str, object], own: NetworkFactory | None) -> None:
    """Refuse to go on with another kind of network than a run was trained with.

    Raises:
        UserError: one's own is missing, or given where the run had none.
    """
    name = notes.get(OWN_NETWORK)
    if own is None and name is not None:
        raise UserError(f"{path}: its network is one of your own, {name}; from Python, network= takes what makes it")
    if own is not None and name is None:
        raise UserError(f"{path}: its network is the one that its settings describe; leave out network=")
