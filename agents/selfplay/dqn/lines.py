"""What lies on the lines through a cell, as features of it: one small network that looks at each line in turn.

Who wins is decided on lines of k cells, and a line means the same wherever it lies. A layer between all cells has to
learn this of each line anew. Here the same two layers look at all of them, in the order of `Rules.lines`, and what they
find in a line is added up in each of its cells.
"""

import torch
from torch import Tensor, nn

from selfplay.dqn.config import LINE_WIDTH
from tictactoe import Rules


class LineFeatures(nn.Module):
    """Map observations [B, 3A] to features [B, A * features].

    The batch is the last axis inside, so that all boards are one large product of matrices.
    """

    def __init__(self, rules: Rules, features: int, device: torch.device | None = None) -> None:
        super().__init__()
        cells = torch.tensor([list(rules.cells_of(line)) for line in rules.lines])
        count, k = cells.shape
        self._shapes = (count, 3 * k, -1), (count * k, -1), (rules.cells * features, -1)
        # No buffers: they would be missing in a network that is made without numbers, to read its weights from a file.
        self._numbers = (3 * cells[:, :, None] + torch.arange(3)).flatten()  # [L * 3k]: of an observation
        self._belongs = (cells.flatten() == torch.arange(rules.cells)[:, None]).float()  # [A, L * k]
        self.widest = count * max(3 * k, LINE_WIDTH * features, k * features)
        """Numbers of its widest layer, of one board."""
        with torch.random.fork_rng(devices=()):
            self.line = nn.Linear(3 * k, LINE_WIDTH * features).to(device)
            self.cell = nn.Linear(LINE_WIDTH * features, k * features).to(device)

    def forward(self, observation: Tensor) -> Tensor:
        """Return the features of each cell."""
        if self._numbers.device != observation.device:
            self._numbers, self._belongs = (table.to(observation.device) for table in (self._numbers, self._belongs))
        of_lines, of_their_cells, of_cells = self._shapes
        seen = observation.t().contiguous().index_select(0, self._numbers).view(of_lines)
        found = torch.matmul(self.line.weight, seen).add_(self.line.bias[:, None]).relu_()
        told = torch.matmul(self.cell.weight, found).add_(self.cell.bias[:, None]).view(of_their_cells)
        return (self._belongs @ told).relu_().view(of_cells).t()
