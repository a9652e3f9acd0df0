"""Muon: an optimizer of matrices, which moves them equally far in all directions.

Where Adam follows the few directions in which the gradient is large, Muon also follows the others. Vectors, such as
biases, are left to Adam.

Source: Jordan et al. (2024), https://kellerjordan.github.io/posts/muon; size of a step: Liu et al. (2025),
arXiv:2502.16982.
"""

from torch import Tensor

SMALLEST_MATRIX = 4
"""Least rows and columns of weights that suit Muon."""
MOMENTUM = 0.95
"""Fraction of Muon's momentum that an update keeps."""
LIKE_ADAM = 0.2
"""Root mean square of a step of Adam, divided by the learning rate."""
NEWTON_SCHULZ, NEWTON_SCHULZ_STEPS = (3.4445, -4.775, 2.0315), 5
"""Coefficients of x, x^3 and x^5 in the polynomial that takes singular values towards 1, and how often it is used."""


def suits_muon(weights: Tensor) -> bool:
    """Return whether weights suit Muon: all matrices do but those of a cell's three planes or of its one value."""
    return weights.ndim == 2 and min(weights.shape) >= SMALLEST_MATRIX


def muon(weights: Tensor, gradient: Tensor, momentum: Tensor, rate: float) -> None:
    """Take one step of Muon in place: along the momentum, with all its singular values made about equal.

    Steps have about the size of Adam's, so that one learning rate suits both.
    """
    momentum.lerp_(gradient, 1 - MOMENTUM)
    direction = orthogonalized(gradient.lerp(momentum, MOMENTUM))
    weights.sub_(direction, alpha=rate * LIKE_ADAM * max(weights.shape) ** 0.5)


def orthogonalized(matrix: Tensor) -> Tensor:
    """Return a matrix [M, N] with its singular values between about 0.7 and 1.2, by the iteration of Newton and Schulz.

    Very small ones may stay below.
    """
    upright = matrix.shape[0] > matrix.shape[1]
    wide: Tensor = matrix.t() if upright else matrix
    wide = wide / (wide.norm() + 1e-7)
    linear, cubic, quintic = NEWTON_SCHULZ
    for _ in range(NEWTON_SCHULZ_STEPS):
        squared = wide @ wide.t()
        wide = linear * wide + (cubic * squared + quintic * squared @ squared) @ wide
    return wide.t() if upright else wide
