"""The greedy player of a learner's networks, as it is evaluated."""

from typing import Any

import numpy as np
import torch
from torch import nn

from tictactoe.tree import IntArray


class GreedyPlayer:
    """The player that marks the cell of the highest value, of one network for both seats or of one for each.

    The networks take mover's views [B, 27]. If `masked`, only empty cells count.
    """

    def __init__(self, *networks: nn.Module, masked: bool) -> None:
        self.networks, self.masked = networks, masked

    @torch.no_grad()
    def act(self, observation: Any, action_mask: Any = None) -> IntArray:
        """Return the cells [B] for mover's views [B, 3, 3, 3]; plane 0 says which are empty."""
        del action_mask
        planes = torch.as_tensor(np.asarray(observation)).reshape(-1, 9, 3).float()
        values = [network(planes.flatten(1)) for network in self.networks]
        second = planes[..., 1].sum(dim=1) != planes[..., 2].sum(dim=1)
        chosen = torch.where(second[:, None], values[-1], values[0])
        if self.masked:
            chosen = chosen.masked_fill(planes[..., 0] == 0, -torch.inf)
        cells: IntArray = chosen.argmax(dim=1).numpy()
        return cells
