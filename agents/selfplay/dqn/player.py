"""A trained DQN as a player: the greedy moves of one network for both seats, or of one network per seat."""

import copy
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from selfplay.dqn.config import DQNConfig
from selfplay.dqn.network import (
    MessageNetwork,
    NetworkFactory,
    QNetwork,
    custom_network,
    empty_network,
    legal_cells,
    line_cells,
    mask_illegal,
    of_mover,
)
from selfplay.dqn.symmetry import BoardSymmetries
from selfplay.errors import UserError
from selfplay.judge.agent_tables import player_html
from selfplay.protocols import Array
from selfplay.tensor_file import read_model

ROUNDING = 1e-5
"""Largest difference of two values, in parts of the largest value, that rounding can reverse."""
AT_ONCE = 512
"""Positions that a network is given at once: its largest layer then stays in a processor's cache, which doubles the
speed."""


class QPlayer:
    """A player that chooses the cell with the highest action value, the first of equals.

    Without `mask` this is the raw arg max, illegal cells included; with it only empty cells count. With `take_wins`,
    where cells complete a line, only these count. A `canonical` player looks at one image of each position and chooses
    there, so it plays alike in all turned and reflected images. Where rounding could decide between two cells, their
    values are computed with 64 bits, unless the network is a custom one.

    In a position in which some value is not finite every question raises a UserError.
    """

    def __init__(self, config: DQNConfig, networks: tuple[nn.Module, ...]) -> None:
        self.config = config
        self.networks = networks
        self.rules = config.rules
        self.perspective = config.perspective
        self.mask = config.mask
        self.take_wins = config.take_wins
        self.canonical = config.symmetry == "canonical"
        self.margin = config.counterexample_margin
        self.device = next(networks[0].parameters()).device
        self.symmetries = BoardSymmetries(self.rules, self.device) if self.canonical else None
        self.lines = line_cells(self.rules, self.device) if self.take_wins else None

    @torch.no_grad()
    def q_values(self, observation: Array) -> Array:
        """Return the action values [B, A] of observations [B, R, C, 3] of either perspective, or [A] of one of them.

        Raises:
            ValueError: the observations are not of this player's board.
            UserError: some values are not finite.
        """
        if np.ndim(observation) == 3:
            return self.q_values(observation[None])[0]
        planes = self._planes(observation).flatten(1)
        inputs = network_inputs(planes, self.perspective)
        if self.symmetries is None:
            values = [in_parts(network, inputs) for network in self.networks]
        else:
            image = self.symmetries.canonical(inputs)
            inputs, which = self.symmetries.distinct(image)
            values = [
                self.symmetries.values(in_parts(network, inputs)[which], image.symmetry) for network in self.networks
            ]
        shown = of_mover(seat_to_move(planes), values)
        if not bool(shown.isfinite().all()):  # among them there may be no highest one
            raise UserError("the player has values that are not finite: its weights are damaged or too large")
        return shown if isinstance(observation, Tensor) else shown.cpu().numpy()

    def _planes(self, observation: Array) -> Tensor:
        """Return observations [B, R, C, 3] as a tensor on the player's device.

        Raises:
            ValueError: they are not of this player's board.
        """
        planes = torch.as_tensor(observation, device=self.device)
        expected = (self.rules.rows, self.rules.cols, 3)
        if tuple(planes.shape[1:]) != expected:
            raise ValueError(f"this player knows observations [B, {expected}], got shape {tuple(planes.shape)}")
        return planes

    def act(self, observation: Array, action_mask: Array | None = None) -> Array:
        """Return the greedy actions [B], among those marked in `action_mask` [B, A] if one is given.

        For one observation [R, C, 3], and a mask [A], it is one integer.
        """
        if np.ndim(observation) == 3:
            return int(self.act(observation[None], action_mask)[0])
        actions = self._choices(observation, action_mask)
        return actions if isinstance(observation, Tensor) else np.asarray(actions.cpu())

    def _choices(self, observation: Array, action_mask: Array | None) -> Tensor:
        """Return the greedy actions [B]."""
        planes = self._planes(observation)
        if self.symmetries is None:
            return self._exact_preferences(planes, action_mask).argmax(dim=1)
        # On the boards themselves the first of equals would be one cell in one image and another in the next.
        image = self.symmetries.canonical(network_inputs(planes.flatten(1), self.perspective))
        if action_mask is not None:
            marked = torch.as_tensor(action_mask, device=self.device).expand(len(planes), -1)
            action_mask = self.symmetries.on_image(marked, image.symmetry)
        preferences = self._exact_preferences(image.observation.view(planes.shape), action_mask)
        return self.symmetries.cells(preferences.argmax(dim=1), image.symmetry)

    def _exact_preferences(self, planes: Tensor, action_mask: Array | None) -> Tensor:
        """Return the preferences [B, A] float64, computed with 64 bits where rounding could reverse the two highest."""
        preferences = self.preferences(planes, action_mask).double()
        close = reversible(preferences)
        if bool(close.any()) and {type(network) for network in self.networks} <= {QNetwork, MessageNetwork}:
            exact = QPlayer(self.config, tuple(copy.deepcopy(network).double() for network in self.networks))
            mask = None if action_mask is None else torch.as_tensor(action_mask).expand(len(planes), -1)[close.cpu()]
            preferences[close] = exact.preferences(planes[close], mask)
        return preferences

    def preferences(self, observation: Array, action_mask: Array | None = None) -> Tensor:
        """Return what the player maximizes, [B, A]: its values, and minus infinity for actions that do not count."""
        values = torch.as_tensor(self.q_values(observation))
        planes = torch.as_tensor(observation, device=values.device).flatten(1)
        legal = legal_cells(planes) if self.mask else None
        if action_mask is not None:
            legal = torch.as_tensor(action_mask, device=values.device) != 0
        return preferred(values, planes, legal, self.lines)

    def near_best(self, observation: Array) -> Array:
        """Return which cells [B, A] bool are worth at most `margin` less than the best one."""
        preferences = self.preferences(observation)
        near: Array = (preferences >= preferences.amax(dim=1, keepdim=True) - self.margin).cpu().numpy()
        return near

    _repr_html_ = player_html

    def __repr__(self) -> str:
        weights = sum(tensor.numel() for tensor in self.tensors().values())
        return f"{type(self).__name__}({self.rules}, {weights:,} weights)"

    def tensors(self) -> dict[str, Tensor]:
        """Return the weights of its networks by their names in model.safetensors."""
        return by_seat(self.networks).state_dict()

    def module(self) -> "PlayerModule":
        """Return the player as one module of PyTorch in evaluation mode, for ONNX, TorchScript and other programs.

        >>> module = selfplay.load("shipped").module()
        >>> torch.onnx.export(module, (torch.zeros(1, 3, 3, 3),), "player.onnx", input_names=["observation"])
        """
        return PlayerModule(self).eval()


class PlayerModule(nn.Module):
    """A map from observations [B, R, C, 3] or [B, 3A] to values [B, A], of which the highest is played.

    Around its networks it does what the player does. It takes either perspective, turns the board, chooses the network
    of the seat, with a mask values taken cells below all others, and with `take_wins` all but those that complete a
    line. It has no branches, so it can be traced. Its weights are the player's.
    """

    def __init__(self, player: QPlayer) -> None:
        super().__init__()
        self.networks = by_seat(player.networks)
        self._numbers = 3 * player.rules.cells
        self._perspective = player.perspective
        self._mask = player.mask
        self._lines = player.lines
        self._symmetries = player.symmetries

    def forward(self, observation: Tensor) -> Tensor:
        """Return the value of each cell."""
        planes = observation.reshape(-1, self._numbers)
        inputs = network_inputs(planes, self._perspective)
        if self._symmetries is None:
            values = [network(inputs) for network in self.networks.values()]
        else:
            image = self._symmetries.canonical(inputs)
            values = [
                self._symmetries.values(network(image.observation), image.symmetry)
                for network in self.networks.values()
            ]
        legal = legal_cells(planes) if self._mask else None
        return preferred(of_mover(seat_to_move(planes), values), planes, legal, self._lines)


def reversible(preferences: Tensor) -> Tensor:
    """Return on which boards [B] bool rounding to 32 bits can reverse the two highest preferences [B, A]."""
    most = preferences.where(preferences.isfinite(), 0).abs().amax(dim=1)
    best = preferences.topk(min(2, preferences.shape[1]), dim=1).values
    return best[:, 0] - best[:, -1] <= ROUNDING * most


def preferred(values: Tensor, planes: Tensor, legal: Tensor | None, lines: Tensor | None) -> Tensor:
    """Return values [B, A] with the actions that do not count at minus infinity.

    They are those that are not `legal` [B, A], and with `lines` all others where a legal action completes a line.
    `planes` and `lines` are those of `completing_cells`.
    """
    values = mask_illegal(values, legal)
    if lines is None:
        return values
    wins = completing_cells(planes, lines) & (values > -torch.inf)
    return torch.where(wins.any(dim=1, keepdim=True) & ~wins, -torch.inf, values)


def completing_cells(planes: Tensor, lines: Tensor) -> Tensor:
    """Return which empty cells [B, A] bool complete a line of the mover.

    `planes` [B, 3A] are observations of either perspective, and `lines` [L, A] is 1 where a cell is in a line.
    """
    marks = network_inputs(planes, "mover")[:, 1::3]
    missing = lines.sum(dim=1) - marks @ lines.t()  # [B, L]
    return ((missing == 1).float() @ lines > 0) & legal_cells(planes)


def network_inputs(observation: Tensor, perspective: str) -> Tensor:
    """Convert observations [B, 3A] of either perspective to network inputs [B, 3A] float32 of the given one.

    The mover never has more marks than the opponent. So more marks in plane 1 than in plane 2 mean an absolute
    observation with the second seat to move, and fewer mean a mover's observation with the second seat to move. With
    equal numbers the first seat is to move and both perspectives agree.
    """
    planes = observation.float().reshape(-1, observation.shape[1] // 3, 3)
    first, second = planes[..., 1].sum(dim=1), planes[..., 2].sum(dim=1)
    swap = first > second if perspective == "mover" else first < second
    return torch.where(swap[:, None, None], planes[..., [0, 2, 1]], planes).flatten(1)


def seat_to_move(observation: Tensor) -> Tensor:
    """Return the seat to move, [B, 1]: the second one, 1, where there are not as many marks of each kind."""
    return (observation[:, 1::3].sum(dim=1) != observation[:, 2::3].sum(dim=1)).long()[:, None]


def in_parts(network: nn.Module, inputs: Tensor) -> Tensor:
    """Return the network's outputs for inputs [B, 3A], computed part by part in the precision of its weights."""
    inputs = inputs.to(next(network.parameters()).dtype)
    return torch.cat([network(part) for part in torch.split(inputs, AT_ONCE)])


def by_seat(networks: tuple[nn.Module, ...]) -> nn.ModuleDict:
    """Return one network for both seats, or one per seat, under the names that weights have in a file."""
    names = ("shared",) if len(networks) == 1 else ("first", "second")
    return nn.ModuleDict(dict(zip(names, networks, strict=True)))


def read_player(path: Path, config: DQNConfig, factory: NetworkFactory | None) -> QPlayer:
    """Return the player whose weights a file holds; `factory` makes its networks if they are custom ones.

    Raises:
        UserError: the file does not hold them.
    """
    networks = tuple(
        custom_network(factory, config.rules) if factory else empty_network(config, torch.device("meta"))
        for _ in range(1 if config.networks == "shared" else 2)
    )
    named = by_seat(networks)
    named.load_state_dict(read_model(path, named.state_dict()), assign=True)
    named.requires_grad_(False)
    return QPlayer(config, networks)
