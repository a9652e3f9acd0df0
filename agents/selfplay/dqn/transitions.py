"""A transition as one row of numbers, so that remembering, sampling and turning it are one call each.

A row of `W` columns holds, all as float32: the observation [3A], the action one-hot [A], the observation
that the target bootstraps from [3A], the reward, and 1 if the game went on or 0 if it ended. The legal
actions are plane 0 of an observation, so no mask is stored, and none can be of the wrong time step.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from tictactoe.rules import Rules
from tictactoe.symmetry import symmetries


class Transitions(NamedTuple):
    """Hold a batch of transitions, each field float32."""

    observation: Tensor
    """[B, 3A]"""
    action: Tensor
    """[B, A] one-hot"""
    next_observation: Tensor
    """[B, 3A]: of the position that the target bootstraps from."""
    reward: Tensor
    """[B]"""
    goes_on: Tensor
    """[B]: 1, or 0 where the game has ended."""


@dataclass(frozen=True)
class Layout:
    """Know where the columns of a row are, for boards of `cells` cells."""

    cells: int

    @property
    def width(self) -> int:
        """Return the number of columns W."""
        return 7 * self.cells + 2

    def legal(self, observation: Tensor) -> Tensor:
        """Return the empty cells of observations [B, 3A] as [B, A] bool."""
        return observation[:, ::3] != 0

    def pack(self, transitions: Transitions) -> Tensor:
        """Return the transitions as rows [B, W]."""
        *arrays, reward, goes_on = transitions
        return torch.cat((*arrays, reward[:, None], goes_on[:, None]), dim=1)

    def unpack(self, rows: Tensor) -> Transitions:
        """Return views of the rows [B, W] by name."""
        n = self.cells
        observation, action, next_observation, reward, goes_on = torch.split(rows, [3 * n, n, 3 * n, 1, 1], dim=1)
        return Transitions(observation, action, next_observation, reward[:, 0], goes_on[:, 0])


class Symmetry:
    """Replace each transition of a batch by its image under a random symmetry of the board."""

    def __init__(self, rules: Rules, device: torch.device) -> None:
        cells = torch.from_numpy(symmetries(rules).copy())  # [G, A]
        planes = (3 * cells[:, :, None] + torch.arange(3)).flatten(1)  # [G, 3A]: where each number comes from
        n = rules.cells
        rest = torch.tensor([7 * n, 7 * n + 1]).expand(len(cells), 2)
        self._columns = torch.cat((planes, 3 * n + cells, 4 * n + planes, rest), dim=1).to(device)  # [G, W]

    def __call__(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """Return rows [B, W], each under a symmetry drawn for it alone."""
        drawn = torch.randint(len(self._columns), (len(rows),), generator=generator, device=rows.device)
        return rows.gather(1, self._columns[drawn])
