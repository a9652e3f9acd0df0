"""The Q-network: from a one-hot board to one value per cell.

Dense layers look at the whole board. Or cells and lines pass messages, and the same layers value every cell: then
nothing has to be learned for each place of the board anew.
"""

import copy
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import torch
from torch import Tensor, nn

from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.learner import code_name
from tictactoe import Rules

NetworkFactory: TypeAlias = Callable[[Rules], nn.Module] | nn.Module
"""Makes a custom network for a board: a module from [B, 3A] float32 to [B, A] float32. Or such a module itself."""

TIE_BREAK = 1e-4
"""The amount subtracted from a value for each earlier cell, so that the first of cells that look the same is chosen."""


class QNetwork(nn.Module):
    """A map from observations [B, 3A] to action values [B, A].

    `hidden` lists the widths of the dense layers, each followed by a ReLU.
    """

    def __init__(self, rules: Rules, hidden: tuple[int, ...]) -> None:
        super().__init__()
        widths = (3 * rules.cells, *hidden)
        self.hidden = nn.ModuleList(nn.Linear(*sizes) for sizes in pairwise(widths))
        self.output = nn.Linear(widths[-1], rules.cells)

    def forward(self, observation: Tensor) -> Tensor:
        """Return the action values [B, A] of observations [B, 3A]."""
        features = observation
        for layer in self.hidden:
            features = layer(features).relu()
        values: Tensor = self.output(features)
        return values


class MessageNetwork(nn.Module):
    """A map from observations [B, 3A] to action values [B, A] that is the same for every cell and every line.

    In each of its `rounds` a line sums up what its cells know, and a cell what its lines know; what is passed on are
    `width` numbers. Rounds after the first add to what a cell knows. Then the `hidden` layers, each followed by a ReLU,
    value every cell by what it knows and by the mean of what all cells know. So what is learned in one place holds
    wherever lines cross in the same way: the values of positions that a symmetry of the lines maps to each other are
    mapped in the same way. 4,4,4 has 32 such symmetries, its board 8. Cells that look the same would differ by rounding
    errors alone, which depend on how many boards are asked together: `TIE_BREAK` decides between them.

    Inside, features are [A, B, width] or [L, B, width] for L lines, so that each step is one matrix product.

    Source: message passing, Gilmer et al. (2017), arXiv:1704.01212; adding, He et al. (2015), arXiv:1512.03385; the
    mean, Zaheer et al. (2017), arXiv:1703.06114.
    """

    def __init__(self, rules: Rules, rounds: int, width: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        # No buffer: it would be missing in a network on the meta device, into which weights are read from a file.
        self._lines = line_cells(rules, torch.device("cpu"))
        self.rounds = nn.ModuleList(MessageRound(width if number else 3, width) for number in range(rounds))
        widths = (width, *hidden, 1)
        self.mean = nn.Linear(width, widths[1], bias=False)
        *layers, output = (nn.Linear(*sizes) for sizes in pairwise(widths))
        self.hidden, self.output = nn.ModuleList(layers), output
        self._order = TIE_BREAK * torch.arange(rules.cells, dtype=torch.float32, device="cpu")

    def forward(self, observation: Tensor) -> Tensor:
        """Return the action values [B, A] of observations [B, 3A]."""
        if (self._lines.device, self._lines.dtype) != (observation.device, observation.dtype):
            self._lines, self._order = (table.to(observation) for table in (self._lines, self._order))
        cells = observation.view(-1, self._lines.shape[1], 3).transpose(0, 1).contiguous()
        for number, each in enumerate(self.rounds):
            learned = each(cells, self._lines)
            cells = cells + learned if number else learned
        first, *others = (*self.hidden, self.output)
        features: Tensor = first(cells) + self.mean(cells.mean(dim=0))
        for layer in others:
            features = layer(features.relu())
        return features.squeeze(2).t() - self._order


class MessageRound(nn.Module):
    """A map from the cells' features [A, B, inputs] to those that a round gives them, [A, B, width]."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.line = nn.Linear(inputs, width)
        self.message = nn.Linear(width, width, bias=False)
        self.cell = nn.Linear(inputs, width)

    def forward(self, cells: Tensor, lines: Tensor) -> Tensor:
        """Return what the cells know after the round; `lines` [L, A] is 1 where a cell is in a line."""
        count, boards, _ = cells.shape
        sums = (lines @ cells.view(count, -1)).view(lines.shape[0], boards, -1)
        messages = self.message(self.line(sums).relu()).view(lines.shape[0], -1)
        own: Tensor = self.cell(cells).view(count, -1)
        return own.addmm(lines.t(), messages).relu().view(count, boards, -1)


def empty_network(config: DQNConfig, device: torch.device) -> QNetwork | MessageNetwork:
    """Return the network that the settings describe, with weights that are still to be set.

    On the "meta" device it takes no memory. PyTorch's global random generator stays as it was. The weights are of 32
    bits, whatever PyTorch's default is.
    """
    with torch.random.fork_rng(devices=()), device:
        if config.message_rounds:
            network = MessageNetwork(config.rules, config.message_rounds, config.message_width, config.hidden)
            return network.float()
        return QNetwork(config.rules, config.hidden).float()


def make_network(
    config: DQNConfig, device: torch.device, generator: torch.Generator, factory: NetworkFactory | None = None
) -> nn.Module:
    """Return the network of these settings, or a custom one, with initial weights drawn from `generator`.

    Raises:
        UserError: the custom network does not fit the board.
    """
    if factory is None:
        network = empty_network(config, device)
        initialize(network, generator)
        return network
    with torch.random.fork_rng():  # a custom network draws from PyTorch's global generator: seed it by the run's
        torch.manual_seed(int(torch.randint(1 << 62, (), generator=generator, device=generator.device)))
        return custom_network(factory, config.rules).to(device)


@torch.no_grad()
def initialize(network: nn.Module, generator: torch.Generator) -> None:
    """Fill every layer as PyTorch does by default: uniformly in +-1/sqrt(inputs of a unit)."""
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            bound = layer.weight[0].numel() ** -0.5
            for parameter in layer.parameters():
                parameter.uniform_(-bound, bound, generator=generator)


def custom_network(factory: NetworkFactory, rules: Rules) -> nn.Module:
    """Return a custom network in evaluation mode, in which dropout and batch statistics do nothing.

    A module that is given in place of a function is copied, so that it stays as it is.

    Raises:
        UserError: it is not a module, cannot be trained, or does not map [B, 3A] to [B, A].
    """
    name = code_name(factory)
    network = copy.deepcopy(factory) if isinstance(factory, nn.Module) else factory(rules)
    if not isinstance(network, nn.Module):
        raise UserError(f"network {name}: must return a torch.nn.Module, got {type(network).__name__}")
    network.eval()
    shape = f"must map [B, {3 * rules.cells}] to [B, {rules.cells}] float32"
    try:
        values = network(torch.zeros((2, 3 * rules.cells)))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:  # anything that a wrong shape can cause
        raise UserError(f"network {name}: {shape}, and fails: {error}") from None
    if not isinstance(values, Tensor) or values.shape != (2, rules.cells) or values.dtype != torch.float32:
        got = f"{tuple(values.shape)} {values.dtype}" if isinstance(values, Tensor) else type(values).__name__
        raise UserError(f"network {name}: {shape}, got {got} for B = 2")
    parameters = list(network.parameters())
    if not parameters or not all(weights.requires_grad and weights.dtype == torch.float32 for weights in parameters):
        raise UserError(f"network {name}: must have parameters, all float32 and trainable")
    if len(parameters) < len(list(network.named_parameters(remove_duplicate=False))):
        raise UserError(f"network {name}: must not use the same parameter in two layers, which no file could hold")
    return network


def mask_illegal(values: Tensor, legal: Tensor | None) -> Tensor:
    """Return values [B, A] with illegal actions at minus infinity, below all numbers, or unchanged without `legal`."""
    if legal is None:
        return values
    return torch.where(legal, values, -torch.inf)


def line_cells(rules: Rules, device: torch.device) -> Tensor:
    """Return a tensor [L, A] that is 1 where a cell is in a line."""
    lines = [[line >> cell & 1 for cell in range(rules.cells)] for line in rules.lines]
    return torch.tensor(lines, dtype=torch.float32, device=device)


def legal_cells(observation: Tensor) -> Tensor:
    """Return the legal actions [B, A] bool of observations [B, 3A]: plane 0 marks the empty cells."""
    return observation[:, ::3] != 0


def of_mover(seat: Tensor, choices: Sequence[Tensor]) -> Tensor:
    """Return the choice of the seat that is to move, where each seat has one; a single one is for both seats."""
    first, *second = choices
    return torch.where(seat == 0, first, second[0]) if second else first
