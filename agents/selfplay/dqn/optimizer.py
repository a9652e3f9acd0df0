"""Adam on all weights of a network as one vector."""

import torch
from torch import Tensor, nn

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


@torch.no_grad()
def flatten_parameters(network: nn.Module) -> Tensor:
    """Make the parameters and gradients of a network views of one vector each, and return the parameters' vector.

    Its `grad` is the gradients' vector. An optimizer step, a target update and clearing the gradient are then one
    operation each instead of one per layer, which matters for networks as small as these.
    """
    parameters = list(network.parameters())
    weights = nn.Parameter(torch.cat([parameter.flatten() for parameter in parameters]))
    weights.grad = torch.zeros_like(weights)
    sizes = [parameter.numel() for parameter in parameters]
    parts = zip(parameters, torch.split(weights.data, sizes), torch.split(weights.grad, sizes), strict=True)
    for parameter, data, gradient in parts:
        parameter.data = data.view_as(parameter)
        parameter.grad = gradient.view_as(parameter)
    return weights


class Adam:
    """Take steps of Adam (Kingma and Ba 2015, algorithm 1), as `torch.optim.Adam` does but for rounding.

    On networks this small the preparations of `torch.optim.Adam` lengthen an update by more than a tenth, even fused.
    With `hold`, the learning rate stays as it is for `hold` steps and then falls as hold / steps.
    """

    def __init__(self, weights: Tensor, learning_rate: float, hold: int = 0) -> None:
        assert weights.grad is not None
        self.weights = weights
        self.gradient = weights.grad
        self.learning_rate = learning_rate
        self.hold = hold
        self.mean = torch.zeros_like(self.gradient)
        self.square = torch.zeros_like(self.gradient)
        self.steps = 0

    def zero_grad(self) -> None:
        """Clear the gradient in place, because the network's gradients are views of it."""
        self.gradient.zero_()

    @torch.no_grad()
    def step(self) -> None:
        """Move the weights against the gradient."""
        self.steps += 1
        mean_bias = 1 - BETA1**self.steps
        root_square_bias = (1 - BETA2**self.steps) ** 0.5
        rate = self.learning_rate * root_square_bias / mean_bias
        if self.hold:
            rate *= min(1, self.hold / self.steps)
        self.mean.lerp_(self.gradient, 1 - BETA1)
        self.square.mul_(BETA2).addcmul_(self.gradient, self.gradient, value=1 - BETA2)
        scale = self.square.sqrt().add_(EPSILON * root_square_bias)
        self.weights.addcdiv_(self.mean, scale, value=-rate)
