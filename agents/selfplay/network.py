"""The Q-network: a multilayer perceptron from a one-hot board to one value per cell."""

import torch
from torch import Tensor, nn


class QNetwork(nn.Module):
    """Map observations [B, 3A] to action values [B, A].

    `hidden` are the widths of the layers between, each followed by a ReLU. A dueling network (Wang et
    al. 2016, equation 9) ends in two heads: Q(s, a) = V(s) + advantage(s, a) - mean advantage(s).
    """

    def __init__(self, cells: int, hidden: tuple[int, ...], dueling: bool = False) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = 3 * cells
        for size in hidden:
            layers += [_linear(width, size), nn.ReLU()]
            width = size
        self.body = nn.Sequential(*layers)
        self.advantage = _linear(width, cells)
        self.value = _linear(width, 1) if dueling else None

    def forward(self, observation: Tensor) -> Tensor:
        features = self.body(observation)
        advantage: Tensor = self.advantage(features)
        if self.value is None:
            return advantage
        value: Tensor = self.value(features)
        return value + advantage - advantage.mean(dim=1, keepdim=True)


def _linear(inputs: int, outputs: int) -> nn.Linear:
    """Return a layer with storage but no values yet, so that creating it draws no random number."""
    return nn.utils.skip_init(nn.Linear, inputs, outputs)


@torch.no_grad()
def initialize(network: nn.Module, generator: torch.Generator) -> None:
    """Fill every layer with PyTorch's default for linear layers, uniform in +-1/sqrt(inputs)."""
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            bound = layer.in_features**-0.5
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.uniform_(-bound, bound, generator=generator)


@torch.no_grad()
def flatten_parameters(network: nn.Module) -> nn.Parameter:
    """Move all parameters and gradients of a network into one vector and return it as a parameter.

    The network's own parameters become views of it. An optimizer step, a target update and clearing the
    gradient are then one operation each instead of one per layer, which halves the time of an update on
    the small networks that this game needs.
    """
    parameters = list(network.parameters())
    flat = nn.Parameter(torch.cat([parameter.flatten() for parameter in parameters]))
    flat.grad = torch.zeros_like(flat)
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        parameter.data = flat.data[start:stop].view_as(parameter)
        parameter.grad = flat.grad[start:stop].view_as(parameter)
        start = stop
    return flat
