"""One of a position's symmetric images, the same for all of them, and from it back to the board.

The images of a board under turns and reflections are one position to play, and as many to a network. A canonical player
looks at one of them, chooses a cell there, and turns the cell back. `G` is the number of symmetries of the board.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tictactoe.rules import Rules
from tictactoe.symmetry import symmetries
from tictactoe.tree import FloatArray, IntArray

DIGITS = 33
"""Digits in base 3 that a 64-bit float holds exactly."""


class Image(NamedTuple):
    """Hold the image of each position and how it came about."""

    inputs: Tensor
    """[B, 3A]"""
    symmetry: Tensor
    """[B] int64: the row of `tictactoe.symmetry.symmetries` that maps the position to its image."""
    number: Tensor
    """[B] float64: the least number, or on boards of more than 33 cells what follows its first digits."""


class Canonical:
    """Map positions to their canonical images: those whose cells, read as one number in base 3, are least."""

    def __init__(self, rules: Rules, device: torch.device) -> None:
        origin = symmetries(rules)  # [G, A]: where each cell of an image comes from
        destination = np.argsort(origin, axis=1)  # [G, A]: where each cell goes
        planes = (3 * origin[:, :, None] + np.arange(3)).reshape(len(origin), -1)
        self._origin, self._destination, self._planes = (
            torch.from_numpy(table.copy()).to(device) for table in (origin, destination, planes)
        )
        self._powers = [
            torch.from_numpy(_powers(destination, first)).to(device) for first in range(0, rules.cells, DIGITS)
        ]

    def image(self, inputs: Tensor) -> Image:
        """Return the canonical images of inputs [B, 3A]."""
        exact = inputs.double()
        numbers = exact @ self._powers[0]
        for powers in self._powers[1:]:  # of a board with more digits, those that are equal so far go on
            tied = numbers == numbers.amin(dim=1, keepdim=True)
            numbers = torch.where(tied, exact @ powers, torch.inf)
        number, symmetry = numbers.min(dim=1)
        return Image(inputs.gather(1, self._planes.index_select(0, symmetry)), symmetry, number)

    def distinct(self, image: Image) -> tuple[Tensor, Tensor]:
        """Return the distinct images [D, 3A], and which of them each position has, [B]; all of them on large boards."""
        if len(self._powers) > 1:
            return image.inputs, torch.arange(len(image.inputs), device=image.inputs.device)
        numbers, which = torch.unique(image.number, return_inverse=True)
        rows = torch.zeros(len(numbers), dtype=torch.int64, device=which.device)
        rows[which] = torch.arange(len(which), device=which.device)  # of equal images any will do
        return image.inputs[rows], which

    def cells(self, chosen: Tensor, symmetry: Tensor) -> Tensor:
        """Return the cells of the boards [B] that were chosen on their images."""
        return self._origin.index_select(0, symmetry).gather(1, chosen[:, None])[:, 0]

    def values(self, values: Tensor, symmetry: Tensor) -> Tensor:
        """Return the values [B, A] of the boards' cells, from those of their images."""
        return values.gather(1, self._destination.index_select(0, symmetry))


def _powers(destination: IntArray, first: int) -> FloatArray:
    """Return what each input adds to the number of each image, [3A, G]: of its digits, those from `first` on."""
    digit = destination.T - first
    held = (digit >= 0) & (digit < DIGITS)
    power = np.where(held, 3.0 ** np.where(held, digit, 0), 0.0)
    marks = np.arange(3.0)  # an empty cell is the digit 0, a mark of plane 1 is 1, of plane 2 is 2
    added: FloatArray = (power[:, None, :] * marks[:, None]).reshape(-1, len(destination))
    return added
