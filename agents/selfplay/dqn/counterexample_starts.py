"""Start some games of self-play at counterexamples: positions in which the last evaluation beat the player."""

from collections.abc import Mapping

import torch
from torch import Tensor

from selfplay.evaluation.counterexamples import MOST_FOR_TRAINING
from tictactoe import batch, planes
from tictactoe.rules import Rules
from tictactoe.tree import IntArray

ENOUGH = 64
"""With fewer positions than this, fewer games start at them, so that they do not fill the memory."""
EARLIER = 256
"""Number of positions from earlier evaluations that are remembered."""


class CounterexampleStarts:
    """Start a `fraction` of the new games at counterexamples; without any, all games start on the empty board.

    If the last evaluation gave fewer than `ENOUGH` positions, proportionally fewer games start at them, and positions
    from earlier evaluations start the rest of the fraction, so that they are not forgotten.
    """

    def __init__(self, rules: Rules, fraction: float) -> None:
        self._rules = rules
        self._fraction = fraction
        # Row 0 holds the positions of the last evaluation, row 1 those of the evaluations before, the newest first.
        self._mover = torch.zeros((2, MOST_FOR_TRAINING), dtype=torch.int64)
        self._opponent = torch.zeros((2, MOST_FOR_TRAINING), dtype=torch.int64)
        self._ply = torch.zeros((2, MOST_FOR_TRAINING), dtype=torch.int64)
        self._count = torch.zeros(2, dtype=torch.int64)

    def replace(self, mover: IntArray, opponent: IntArray) -> None:
        """Set the positions of the last evaluation: bitboards [n] int64, at most `MOST`."""
        last, earlier = self._count.tolist()
        for positions, new in ((self._mover, mover), (self._opponent, opponent)):
            before = torch.cat((positions[0, :last], positions[1, :earlier]))[:EARLIER]
            positions[1, : len(before)] = before
            positions[0, : len(new)] = torch.as_tensor(new)
        self._count = torch.tensor([len(mover), min(last + earlier, EARLIER)])
        self._count_plies()

    def start_games(self, boards: batch.State, ended: IntArray, generator: torch.Generator) -> batch.State:
        """Return the boards with some of those marked in `ended` [B] bool at one of the positions."""
        numbers = torch.rand((3, len(ended)), generator=generator, device=generator.device).cpu()
        row = (numbers[2] * ENOUGH >= self._count[0]).long()
        count = self._count[row]
        chosen = (torch.from_numpy(ended) & (numbers[0] < self._fraction) & (count > 0)).numpy()
        which = (numbers[1] * count).long()  # a 32-bit fraction times a count stays below the count
        starts = batch.State(*(field[row, which].numpy() for field in (self._mover, self._opponent, self._ply)))
        return batch.where(chosen, starts, boards)

    def state(self) -> dict[str, Tensor]:
        """Return the positions as tensors whose names and shapes never change."""
        return {"mover": self._mover, "opponent": self._opponent, "count": self._count}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore a state returned by `state`."""
        self._mover, self._opponent, self._count = state["mover"], state["opponent"], state["count"]
        self._count_plies()

    def _count_plies(self) -> None:
        bits = planes.bits(self._rules.cells, (self._mover | self._opponent).flatten())
        self._ply = bits.sum(dim=1).view_as(self._mover)
