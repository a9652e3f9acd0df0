"""Starts of games: positions in which the last evaluation beat the player, and the replies that did."""

import numpy as np
import torch

from selfplay.judge.teach import ANY, MOST_FOR_TRAINING
from tictactoe import batch, planes
from tictactoe.rules import Rules
from tictactoe.tree import IntArray


class CounterexampleStarts:
    """The positions at which a `fraction` of the new games starts; without any, all start on the empty board.

    The newest `kept` positions from earlier evaluations are remembered. If the last evaluation gave fewer than a
    quarter as many, proportionally fewer games start at its positions, so that they do not fill the memory, and
    positions from earlier evaluations start the rest of the fraction, so that they are not forgotten.
    """

    def __init__(self, rules: Rules, fraction: float, kept: int) -> None:
        self._cells = rules.cells
        self._fraction = fraction
        self._kept = kept
        self.positions = torch.zeros((3, 2, max(kept, MOST_FOR_TRAINING)), dtype=torch.int64)
        """Bitboards of mover and opponent and the cell to be marked next, each of the last evaluation and of earlier
        ones, the newest first."""
        self.count = torch.zeros(2, dtype=torch.int64)
        """Number of positions of the last evaluation, and of earlier ones."""

    def teach(self, mover: IntArray, opponent: IntArray, move: IntArray) -> None:
        """Take the positions of a new evaluation, [n] int64 each, at most `MOST_FOR_TRAINING`.

        They are two bitboards, and the cell to be marked next or `ANY`. Those of the evaluation before join the earlier
        ones, of which the newest are kept.
        """
        last, earlier = self.count.tolist()
        before = torch.cat((self.positions[:, 0, :last], self.positions[:, 1, :earlier]), dim=1)[:, : self._kept]
        self.positions[:, 1, : before.shape[1]] = before
        self.positions[:, 0, : len(mover)] = torch.from_numpy(np.stack((mover, opponent, move)))
        self.count[:] = torch.tensor([len(mover), before.shape[1]])

    def start_games(
        self, boards: batch.State, ended: IntArray, generator: torch.Generator
    ) -> tuple[batch.State, torch.Tensor]:
        """Return the boards with some of those marked in `ended` [B] bool at one of the positions, and next moves.

        The moves are [B] int64: the cell to be marked next on each board, or `ANY`.
        """
        numbers = torch.rand((3, len(ended)), generator=generator, device=generator.device).cpu()
        row = (numbers[2] * (self._kept / 4) >= self.count[0]).long()
        count = self.count[row]
        chosen = (torch.from_numpy(ended) & (numbers[0] < self._fraction) & (count > 0)).numpy()
        which = (numbers[1] * count).long()  # a 32-bit fraction times a count stays below the count
        mover, opponent, move = self.positions[:, row, which].numpy()
        ply = planes.bits(self._cells, mover | opponent).sum(axis=1)
        started = batch.where(chosen, batch.State(mover, opponent, ply), boards)
        return started, torch.from_numpy(np.where(chosen, move, ANY))
