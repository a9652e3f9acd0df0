"""The symmetries of the board, used in one of two ways.

"canonical": the network sees the same image of all turned and reflected positions. "augment": sampled transitions are
turned and reflected at random. `G` is the number of symmetries of the board.
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
    """The canonical image of each position."""

    observation: Tensor
    """[B, 3A]"""
    symmetry: Tensor
    """[B] int64: the row of `tictactoe.symmetry.symmetries` that maps the position to its image."""
    number: Tensor
    """[B] float64: the cells of the image as one number, or its last digits on boards of more than 33 cells."""


class BoardSymmetries:
    """The maps from positions to their images, canonical or random."""

    def __init__(self, rules: Rules, device: torch.device) -> None:
        origin = symmetries(rules)  # [G, A]: where each cell of an image comes from
        destination = np.argsort(origin, axis=1)  # [G, A]: where each cell goes
        self._origin = torch.from_numpy(origin.copy()).to(device)
        self._destination = torch.from_numpy(destination).to(device)
        # [G, 3A]: where each number of an image's observation comes from
        self._planes = (3 * self._origin[:, :, None] + torch.arange(3, device=device)).flatten(1)
        self._powers = [
            torch.from_numpy(_powers(destination, first)).to(device) for first in range(0, rules.cells, DIGITS)
        ]

    def canonical(self, observation: Tensor) -> Image:
        """Return the images of observations [B, 3A] whose cells, read as a number in base 3, are smallest."""
        exact = observation.double()
        numbers = exact @ self._powers[0]
        for powers in self._powers[1:]:  # a board with more digits: those that are equal so far are compared further
            tied = numbers == numbers.amin(dim=1, keepdim=True)
            numbers = torch.where(tied, exact @ powers, torch.inf)
        number, symmetry = numbers.min(dim=1)
        return Image(observation.gather(1, self._planes.index_select(0, symmetry)), symmetry, number)

    def distinct(self, image: Image) -> tuple[Tensor, Tensor]:
        """Return the distinct images [D, 3A] and which of them each position has, [B]; all images on large boards."""
        if len(self._powers) > 1:
            return image.observation, torch.arange(len(image.observation), device=image.observation.device)
        numbers, which = torch.unique(image.number, return_inverse=True)
        rows = torch.zeros(len(numbers), dtype=torch.int64, device=which.device)
        rows[which] = torch.arange(len(which), device=which.device)  # any of several equal images will do
        return image.observation[rows], which

    def cells(self, chosen: Tensor, symmetry: Tensor) -> Tensor:
        """Return the cells of the boards [B] for cells that were chosen on their images."""
        return self._origin.index_select(0, symmetry).gather(1, chosen[:, None])[:, 0]

    def image_cells(self, cells: Tensor, symmetry: Tensor) -> Tensor:
        """Return the cells of the images [B] for cells of their boards."""
        return self._destination.index_select(0, symmetry).gather(1, cells[:, None])[:, 0]

    def values(self, values: Tensor, symmetry: Tensor) -> Tensor:
        """Return the values [B, A] of the boards' cells, from the values of their images' cells."""
        return values.gather(1, self._destination.index_select(0, symmetry))

    def on_image(self, values: Tensor, symmetry: Tensor) -> Tensor:
        """Return the values [B, A] of the images' cells, from the values of their boards' cells."""
        return values.gather(1, self._origin.index_select(0, symmetry))

    def augment(
        self, observation: Tensor, action: Tensor, next_observation: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Turn and reflect each observation [B, 3A], action [B] and next observation [B, 3A] at random."""
        sampled = torch.randint(len(self._planes), (len(action),), generator=generator, device=action.device)
        planes = self._planes[sampled]
        cells = self._destination[sampled].gather(1, action[:, None])[:, 0]
        return observation.gather(1, planes), cells, next_observation.gather(1, planes)


def _powers(destination: IntArray, first: int) -> FloatArray:
    """Return what each number of an observation adds to the number of each image, [3A, G].

    Only the digits from `first` on count, as many as fit.
    """
    digit = destination.T - first
    fits = (digit >= 0) & (digit < DIGITS)
    power = np.where(fits, 3.0 ** np.where(fits, digit, 0), 0.0)
    marks = np.arange(3.0)  # an empty cell is the digit 0, a mark of plane 1 is 1, of plane 2 is 2
    added: FloatArray = (power[:, None, :] * marks[:, None]).reshape(-1, len(destination))
    return added
