"""Patches of a trained DQN: a hidden unit for each position in which it should play another move.

The unit compares every cell with that position, so it is 1 there and 0 on every other board. It lowers the values of
overrated moves to just below the better move, and leaves all other positions as they were learned (Fu and Li, "Sound
and Complete Neural Network Repair with Minimality and Locality Guarantees", 2022). Patches are not learned, so a
repaired run says so wherever it is shown. `selfplay.judging.repair` finds the moves.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from selfplay.dqn.config import DQNConfig
from selfplay.dqn.network import MessageNetwork, QNetwork, empty_network
from selfplay.dqn.player import QPlayer, network_inputs
from selfplay.dqn.symmetry import BoardSymmetries
from selfplay.errors import UserError
from selfplay.judging.agents import observe
from selfplay.judging.repair import Position

MARGIN = 0.05
"""Margin by which the better move is preferred to the player's former move."""


def check_patchable(player: QPlayer) -> None:
    """Refuse networks to which no hidden unit can be added.

    Raises:
        UserError: the network has no hidden layer that looks at the whole board, or is a custom one.
    """
    if any(isinstance(network, MessageNetwork) for network in player.networks):
        raise UserError("a network with message_rounds cannot be repaired; train one with --message-rounds 0")
    if not all(isinstance(network, QNetwork) for network in player.networks):
        raise UserError("a custom network cannot be repaired; only one of dense layers can")
    if not player.config.hidden:
        raise UserError("a network with no hidden layer cannot be repaired")


def patch(player: QPlayer, cells: Mapping[Position, int]) -> QPlayer:
    """Return a player that marks these cells in these positions and plays as before everywhere else."""
    config = replace(player.config, hidden=tuple(width + len(cells) for width in player.config.hidden))
    inputs, lowered = _units(player, cells)
    return QPlayer(config, tuple(_widen(network, config, inputs, lowered) for network in player.networks))


def _units(player: QPlayer, cells: Mapping[Position, int]) -> tuple[Tensor, Tensor]:
    """Return the network's inputs [N, 3A] in these positions, and how much lower each value must be, [N, A]."""
    device = player.device
    wanted = torch.tensor(list(cells.values()), device=device)[:, None]
    mine, theirs = np.array([*cells], np.int64).T
    observation = torch.as_tensor(observe(player.rules, mine, theirs, "mover"), device=device)
    preferred = player.preferences(observation)
    lowered = (preferred - preferred.gather(1, wanted) + MARGIN).clamp(min=0.0).scatter(1, wanted, 0.0)
    inputs = network_inputs(observation.flatten(1), player.perspective)
    if player.canonical:
        symmetries = BoardSymmetries(player.rules, device)
        image = symmetries.canonical(inputs)
        numbers = torch.arange(player.rules.cells, device=device).expand(len(inputs), -1)
        inputs, of_image = image.observation, symmetries.values(numbers, image.symmetry)
        lowered = torch.zeros_like(lowered).scatter(1, of_image, lowered)
    return inputs, lowered


@torch.no_grad()
def _widen(network: nn.Module, config: DQNConfig, inputs: Tensor, lowered: Tensor) -> QNetwork:
    """Return a network with one more unit per hidden layer for each of the inputs [N, 3A] whose values it lowers."""
    wide = empty_network(config, inputs.device)
    assert isinstance(wide, QNetwork)
    learned = network.state_dict()
    for name, weights in wide.state_dict().items():
        before = learned[name]
        weights.zero_()[tuple(slice(length) for length in before.shape)] = before
    number, below = inputs.shape
    first, *others = (layer for layer in wide.hidden if isinstance(layer, nn.Linear))
    first.weight[-number:, :below] = inputs
    first.bias[-number:] = 1.0 - config.rules.cells  # on each board as many inputs are 1 as there are cells
    for layer in others:
        layer.weight[-number:, -number:] = torch.eye(number, device=inputs.device)
    wide.output.weight[:, -number:] = -lowered.T
    return wide.requires_grad_(False)
