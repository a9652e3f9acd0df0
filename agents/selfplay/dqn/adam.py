"""Adam on one flat vector of weights."""

import torch
from torch import Tensor

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Take steps of Adam (Kingma and Ba 2015, algorithm 1), the same as `torch.optim.Adam` takes.

    PyTorch's own class spends about 80 microseconds a step on finding out what to do, a tenth of a whole
    step of the published DQN; on one vector there is nothing to find out. Steps are counted on the
    weights' device, so that a step may be recorded as part of a CUDA graph.

    After `hold` steps the learning rate falls as hold / steps; 0 keeps it constant.
    """

    def __init__(self, weights: Tensor, gradient: Tensor, learning_rate: float, hold: int = 0) -> None:
        self.weights = weights
        self.gradient = gradient
        self.learning_rate = learning_rate
        self.hold = hold
        self.mean = torch.zeros_like(weights)
        self.square = torch.zeros_like(weights)
        self.steps = torch.zeros((), dtype=torch.int64, device=weights.device)
        # On a CPU numbers cost less than tensors; a GPU would have to be waited for to read the count.
        self._in_numbers = weights.device.type == "cpu"

    @torch.no_grad()
    def step(self) -> None:
        """Move the weights against the gradient."""
        self.steps += 1
        steps = self.steps.item() if self._in_numbers else self.steps.double()
        mean_bias = 1 - BETA1**steps
        root_square_bias = (1 - BETA2**steps) ** 0.5
        rate = self.learning_rate * root_square_bias / mean_bias
        if self.hold:
            fallen = self.hold / steps
            rate *= fallen.clamp_(max=1) if isinstance(fallen, Tensor) else min(1, fallen)
        self.mean.lerp_(self.gradient, 1 - BETA1)
        self.square.mul_(BETA2).addcmul_(self.gradient, self.gradient, value=1 - BETA2)
        scale = self.square.sqrt().add_(EPSILON * root_square_bias)
        if isinstance(rate, Tensor):
            self.weights.addcdiv_(self.mean, scale.div_(-rate))
        else:
            self.weights.addcdiv_(self.mean, scale, value=-rate)
