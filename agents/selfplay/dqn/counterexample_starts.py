"""Counterexamples as starts of games: positions in which the last evaluation beat the player."""

import numpy as np
import torch

from selfplay.judging.counterexamples import MOST_FOR_TRAINING
from tictactoe import batch, planes
from tictactoe.rules import Rules
from tictactoe.tree import IntArray

ENOUGH = 64
"""With fewer positions than this, fewer games start at them, so that they do not fill the memory."""
EARLIER = 256
"""Number of positions from earlier evaluations that are remembered."""


class CounterexampleStarts:
    """The positions at which a `fraction` of the new games starts; without any, all start on the empty board.

    If the last evaluation gave fewer than `ENOUGH` positions, proportionally fewer games start at them, and positions
    from earlier evaluations start the rest of the fraction, so that they are not forgotten.
    """

    def __init__(self, rules: Rules, fraction: float) -> None:
        self._cells = rules.cells
        self._fraction = fraction
        self.marks = torch.zeros((2, 2, MOST_FOR_TRAINING), dtype=torch.int64)
        """Bitboards of mover and opponent, each of the last evaluation and of earlier ones, the newest first."""
        self.count = torch.zeros(2, dtype=torch.int64)
        """Number of positions of the last evaluation, and of earlier ones."""

    def replace(self, mover: IntArray, opponent: IntArray) -> None:
        """Set the positions of the last evaluation: bitboards [n] int64, at most `MOST_FOR_TRAINING`."""
        last, earlier = self.count.tolist()
        before = torch.cat((self.marks[:, 0, :last], self.marks[:, 1, :earlier]), dim=1)[:, :EARLIER]
        self.marks[:, 1, : before.shape[1]] = before
        self.marks[:, 0, : len(mover)] = torch.from_numpy(np.stack((mover, opponent)))
        self.count[:] = torch.tensor([len(mover), before.shape[1]])

    def start_games(self, boards: batch.State, ended: IntArray, generator: torch.Generator) -> batch.State:
        """Return the boards with some of those marked in `ended` [B] bool at one of the positions."""
        numbers = torch.rand((3, len(ended)), generator=generator, device=generator.device).cpu()
        row = (numbers[2] * ENOUGH >= self.count[0]).long()
        count = self.count[row]
        chosen = (torch.from_numpy(ended) & (numbers[0] < self._fraction) & (count > 0)).numpy()
        which = (numbers[1] * count).long()  # a 32-bit fraction times a count stays below the count
        mover, opponent = self.marks[:, row, which].numpy()
        ply = planes.bits(self._cells, mover | opponent).sum(axis=1)
        return batch.where(chosen, batch.State(mover, opponent, ply), boards)
