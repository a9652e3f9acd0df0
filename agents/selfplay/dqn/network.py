"""The Q-network: from a one-hot board to one value per cell.

Dense layers do the work. On larger boards line features before them help.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeAlias, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.learner import code_name
from tictactoe import Rules

NetworkFactory: TypeAlias = Callable[[Rules], nn.Module]
"""Makes a custom network for a board: a module from [B, 3A] float32 to [B, A] float32."""

LINE_WIDTH = 4
"""Units that look at a line, for each feature of a cell."""


class QNetwork(nn.Module):
    """A map from observations [B, 3A] to action values [B, A].

    `hidden` lists the widths of the dense layers, each followed by a ReLU. `lines` is the number of line features of
    each cell (see `LineFeatures`), which the first layer sees next to the board itself.

    Layers are applied as functions, because calling a module costs as much again as a layer of this size.
    """

    def __init__(self, rules: Rules, hidden: tuple[int, ...], lines: int = 0) -> None:
        super().__init__()
        self.lines = LineFeatures(rules, lines) if lines else None
        widths = ((3 + lines) * rules.cells, *hidden)
        self.hidden = nn.ModuleList(nn.Linear(*sizes) for sizes in pairwise(widths))
        self.output = nn.Linear(widths[-1], rules.cells)

    def forward(self, observation: Tensor) -> Tensor:
        """Return the action values [B, A] of observations [B, 3A]."""
        features = observation
        if self.lines is not None:
            features = torch.cat((observation, self.lines(observation)), dim=1)
        for layer in cast("Iterable[nn.Linear]", self.hidden):
            features = linear(features, layer.weight, layer.bias).relu_()
        return linear(features, self.output.weight, self.output.bias)


class LineFeatures(nn.Module):
    """A map from observations [B, 3A] to features [B, A * features] that are read off the lines of k cells.

    A line means the same wherever it lies on the board, but a dense layer has to learn this for each line anew. Here
    the same two layers look at every line, and what they find in a line is added up in each of its cells. Inside, the
    batch is the last axis, so that all lines of all boards are one matrix product.
    """

    def __init__(self, rules: Rules, features: int) -> None:
        super().__init__()
        cells = torch.tensor([list(rules.cells_of(line)) for line in rules.lines], device="cpu")
        count, k = cells.shape
        self._shapes = (count, 3 * k, -1), (count * k, -1), (rules.cells * features, -1)
        # No buffers: they would be missing in a network on the meta device, into which weights are read from a file.
        self._inputs = (3 * cells[:, :, None] + torch.arange(3, device="cpu")).flatten()  # [L * 3k]
        self._members = (cells.flatten() == torch.arange(rules.cells, device="cpu")[:, None]).float()  # [A, L * k]
        self.line = nn.Linear(3 * k, LINE_WIDTH * features)
        self.cell = nn.Linear(LINE_WIDTH * features, k * features)

    def forward(self, observation: Tensor) -> Tensor:
        """Return the features of each cell."""
        if self._inputs.device != observation.device:
            self._inputs, self._members = (table.to(observation.device) for table in (self._inputs, self._members))
        line_shape, cell_shape, board_shape = self._shapes
        lines = observation.t().contiguous().index_select(0, self._inputs).view(line_shape)
        features = torch.matmul(self.line.weight, lines).add_(self.line.bias[:, None]).relu_()
        of_cells = torch.matmul(self.cell.weight, features).add_(self.cell.bias[:, None]).view(cell_shape)
        return (self._members @ of_cells).relu_().view(board_shape).t()


def empty_network(config: DQNConfig, device: torch.device) -> QNetwork:
    """Return the network that the settings describe, with weights that are still to be set.

    On the "meta" device it takes no memory. PyTorch's global random generator stays as it was.
    """
    with torch.random.fork_rng(devices=()), device:
        return QNetwork(config.rules, config.hidden, config.lines)


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

    Raises:
        UserError: it is not a module, cannot be trained, or does not map [B, 3A] to [B, A].
    """
    name = code_name(factory)
    network = factory(rules)
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
