"""The Q-network: a multilayer perceptron from a one-hot board to one value per cell."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class QNetwork(nn.Module):
    """Map observations [B, 3A] to action values [B, A].

    `hidden` are the widths of the layers between, each followed by a ReLU. A dueling network (Wang et
    al. 2016, equation 9) ends in two heads: Q(s, a) = V(s) + advantage(s, a) - mean advantage(s). The layers
    are applied as functions, because calling a module costs as much again as a layer of this size.
    """

    def __init__(
        self, cells: int, hidden: tuple[int, ...], dueling: bool = False, device: torch.device | None = None
    ) -> None:
        super().__init__()
        widths = (3 * cells, *hidden)
        self.hidden = nn.ModuleList(_linear(inputs, outputs, device) for inputs, outputs in pairwise(widths))
        self.advantage = _linear(widths[-1], cells, device)
        self.value = _linear(widths[-1], 1, device) if dueling else None

    def forward(self, observation: Tensor) -> Tensor:
        """Return the action values [B, A] of observations [B, 3A]."""
        features = observation
        for layer in cast("Iterable[nn.Linear]", self.hidden):
            features = linear(features, layer.weight, layer.bias).relu_()
        advantage = linear(features, self.advantage.weight, self.advantage.bias)
        if self.value is None:
            return advantage
        value = linear(features, self.value.weight, self.value.bias)
        return value + advantage - advantage.mean(dim=1, keepdim=True)


def _linear(inputs: int, outputs: int, device: torch.device | None) -> nn.Linear:
    """Return a layer with storage but no values yet, so that creating it draws no random number."""
    layer: nn.Linear = nn.utils.skip_init(  # type: ignore[no-untyped-call]
        nn.Linear, inputs, outputs, device=device or torch.device("cpu")
    )
    return layer


@torch.no_grad()
def initialize(network: nn.Module, generator: torch.Generator) -> None:
    """Fill every layer with PyTorch's default for linear layers, uniform in +-1/sqrt(inputs)."""
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            bound = layer.in_features**-0.5
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.uniform_(-bound, bound, generator=generator)


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
