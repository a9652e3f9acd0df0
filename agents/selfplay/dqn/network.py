"""The Q-network: from a one-hot board to one value per cell, by dense layers, behind those that look at parts of it."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple, TypeAlias, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, linear

from selfplay.dqn.config import DQNConfig
from selfplay.dqn.lines import LineFeatures
from selfplay.errors import UserError
from tictactoe import Rules

NetworkFactory: TypeAlias = Callable[[Rules], nn.Module]
"""Makes a network of one's own for a board: a module from [B, 3A] float32 to [B, A] float32."""

SQUARE = 3
"""Side of what a unit of a convolutional layer sees of the layer before, in cells."""


class QNetwork(nn.Module):
    """Map observations [B, 3A] to action values [B, A].

    `convolution` are the channels of layers that look at the 3x3 cells around each, with zeros beyond the edge; `lines`
    are features of each cell that are read off the lines through it. `hidden` are the widths of the dense layers behind
    them, which see the board itself too where there are no convolutions. A ReLU follows each. A dueling network (Wang
    et al. 2016, equation 9) ends in two heads: Q(s, a) = V(s) + advantage(s, a) - mean advantage(s). The layers
    are applied as functions, because calling a module costs as much again as a layer of this size.
    """

    def __init__(
        self,
        rules: Rules,
        hidden: tuple[int, ...],
        convolution: tuple[int, ...] = (),
        dueling: bool = False,
        device: torch.device | None = None,
        lines: int = 0,
    ) -> None:
        super().__init__()
        self._planes = (-1, rules.rows, rules.cols, 3)
        channels = (3, *convolution)
        self.convolution = nn.ModuleList(_square(inputs, outputs, device) for inputs, outputs in pairwise(channels))
        self.lines = LineFeatures(rules, lines, device) if lines else None
        widths = ((channels[-1] + lines) * rules.cells, *hidden)
        self.hidden = nn.ModuleList(_linear(inputs, outputs, device) for inputs, outputs in pairwise(widths))
        self.advantage = _linear(widths[-1], rules.cells, device)
        self.value = _linear(widths[-1], 1, device) if dueling else None

    def forward(self, observation: Tensor) -> Tensor:
        """Return the action values [B, A] of observations [B, 3A]."""
        features = self._convolve(observation) if self.convolution else observation
        if self.lines is not None:
            features = torch.cat((features, self.lines(observation)), dim=1)
        for layer in cast("Iterable[nn.Linear]", self.hidden):
            features = linear(features, layer.weight, layer.bias).relu_()
        advantage = linear(features, self.advantage.weight, self.advantage.bias)
        if self.value is None:
            return advantage
        value = linear(features, self.value.weight, self.value.bias)
        return value + advantage - advantage.mean(dim=1, keepdim=True)

    def _convolve(self, observation: Tensor) -> Tensor:
        """Return the features [B, A * channels] of observations [B, 3A]."""
        features = observation.view(self._planes).permute(0, 3, 1, 2)
        for layer in cast("Iterable[nn.Conv2d]", self.convolution):
            features = conv2d(features, layer.weight, layer.bias, padding=SQUARE // 2).relu_()
        return features.permute(0, 2, 3, 1).flatten(1)


def _linear(inputs: int, outputs: int, device: torch.device | None) -> nn.Linear:
    """Return a layer whose values are still to be set; making it leaves PyTorch's own generator as it was."""
    # `skip_init`, which draws nothing, imports a system for symbolic mathematics, and that takes over a second.
    with torch.random.fork_rng(devices=()):
        return nn.Linear(inputs, outputs).to(device)


def _square(inputs: int, outputs: int, device: torch.device | None) -> nn.Conv2d:
    """Return the same for a convolutional layer."""
    with torch.random.fork_rng(devices=()):
        return nn.Conv2d(inputs, outputs, SQUARE).to(device)


@torch.no_grad()
def initialize(network: nn.Module, generator: torch.Generator) -> None:
    """Fill every layer with PyTorch's default, uniform in +-1/sqrt(inputs of a unit)."""
    for layer in network.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            bound = layer.weight[0].numel() ** -0.5
            for parameter in layer.parameters():
                parameter.uniform_(-bound, bound, generator=generator)


def make_network(
    config: DQNConfig,
    device: torch.device,
    generator: torch.Generator,
    own: NetworkFactory | None = None,
) -> nn.Module:
    """Return the network of these settings, or one's own, with the weights that it begins with.

    Raises:
        UserError: one's own does not fit the board.
    """
    if own is None:
        network: nn.Module = network_of(config, device)
        initialize(network, generator)
        return network
    with torch.random.fork_rng():  # it draws from PyTorch's own generator, which is seeded by the run's
        torch.manual_seed(int(torch.randint(1 << 62, (), generator=generator, device=generator.device)))
        return own_network(own, config.rules).to(device)


def network_of(config: DQNConfig, device: torch.device) -> QNetwork:
    """Return the network that settings describe, its values still to be set."""
    return QNetwork(config.rules, config.hidden, config.convolution, config.dueling, device, config.lines)


def own_network(make: NetworkFactory, rules: Rules) -> nn.Module:
    """Return a network of one's own, in evaluation mode, in which dropout and batch statistics do nothing.

    Raises:
        UserError: it is no module, cannot be trained, or does not lead from [B, 3A] to [B, A].
    """
    name = network_name(make)
    network = make(rules)
    if not isinstance(network, nn.Module):
        raise UserError(f"network {name}: must return a torch.nn.Module, got {type(network).__name__}")
    network.eval()
    inputs = torch.zeros((2, 3 * rules.cells))
    wanted = f"must lead from [B, {3 * rules.cells}] to [B, {rules.cells}] float32"
    try:
        values = network(inputs)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise UserError(f"network {name}: {wanted}, and fails: {error}") from None
    if not isinstance(values, Tensor) or values.shape != (2, rules.cells) or values.dtype != torch.float32:
        got = f"{tuple(values.shape)} {values.dtype}" if isinstance(values, Tensor) else type(values).__name__
        raise UserError(f"network {name}: {wanted}, got {got} for B = 2")
    parameters = list(network.parameters())
    if not parameters or not all(weights.requires_grad and weights.dtype == torch.float32 for weights in parameters):
        raise UserError(f"network {name}: must have parameters, all of them float32 and to be trained")
    return network


def network_name(make: NetworkFactory) -> str:
    """Return how a network of one's own is called in messages and in config.json."""
    return f"{getattr(make, '__module__', '?')}:{getattr(make, '__qualname__', type(make).__name__)}"


class FlatParameters(NamedTuple):
    """Hold all parameters of a network in one vector, and all gradients in another."""

    weights: nn.Parameter
    gradient: Tensor
    """The `grad` of `weights`."""


@torch.no_grad()
def flatten_parameters(network: nn.Module) -> FlatParameters:
    """Make the parameters and gradients of a network views of one vector each, and return those.

    An optimizer step, a target update and clearing the gradient are then one operation each instead of
    one per layer, which counts on the small networks that this game needs.
    """
    parameters = list(network.parameters())
    weights = nn.Parameter(torch.cat([parameter.flatten() for parameter in parameters]))
    gradient = torch.zeros_like(weights)
    weights.grad = gradient
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        parameter.data = weights.data[start:stop].view_as(parameter)
        parameter.grad = gradient[start:stop].view_as(parameter)
        start = stop
    return FlatParameters(weights, gradient)
