"""The positions at which some games of self-play begin: those in which the last proof found the player wrong."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from selfplay.evaluation.lessons import MOST
from tictactoe import batch, planes
from tictactoe.rules import Rules

ENOUGH = 64
"""With fewer positions than this, fewer games begin at them, or they would fill the memory."""
EARLIER = 256
"""Positions that earlier proofs have found, of which the latest are kept."""


class Beginnings:
    """Begin a part of the new games at given positions; with none of them all begin on the empty board.

    `fraction` is that part. These are the positions that the last proof found; where they are fewer than `ENOUGH` they
    begin in proportion fewer games, and those of the proofs before begin the others, lest they be forgotten. Everything
    lies on the device in memory that stays, so that a recorded CUDA graph finds it.
    """

    def __init__(self, rules: Rules, fraction: float, device: torch.device) -> None:
        self._rules = rules
        self._fraction = fraction
        # In the first row those of the last proof, in the second those of the proofs before, the latest first.
        self._mover = torch.zeros((2, MOST), dtype=torch.int64, device=device)
        self._opponent, self._ply = torch.zeros_like(self._mover), torch.zeros_like(self._mover)
        self._number = torch.zeros(2, dtype=torch.int64, device=device)

    def replace(self, mover: Any, opponent: Any) -> None:
        """Begin at these positions from now on: bitboards [n] int64 of at most `MOST`."""
        last, earlier = self._number.tolist()
        for kept, new in ((self._mover, mover), (self._opponent, opponent)):
            before = torch.cat((kept[0, :last], kept[1, :earlier]))[:EARLIER]
            kept[1, : len(before)] = before
            kept[0, : len(new)] = torch.as_tensor(new, device=kept.device)
        self._number.copy_(torch.tensor([len(mover), min(last + earlier, EARLIER)]))
        self._count()

    def _count(self) -> None:
        bits = planes.bits(self._rules.cells, (self._mover | self._opponent).flatten())
        self._ply.copy_(bits.sum(dim=1).view_as(self._ply))

    def begin(self, boards: batch.State, ended: Tensor, generator: torch.Generator) -> batch.State:
        """Return the boards with some of those that have `ended` [B] at one of the positions."""
        drawn = torch.rand((3, len(ended)), generator=generator, device=ended.device)
        row = (drawn[2] * ENOUGH >= self._number[0]).long()
        number = self._number.index_select(0, row)
        chosen = ended & (drawn[0] < self._fraction) & (number > 0)
        which = row * MOST + (drawn[1] * number).long()  # a 32-bit fraction times at most 4,096 stays below it
        positions = (self._mover, self._opponent, self._ply)
        begun = [
            torch.where(chosen, kept.flatten().index_select(0, which), torch.as_tensor(field))
            for kept, field in zip(positions, boards, strict=True)
        ]
        return batch.State(
            *(new if isinstance(old, Tensor) else new.numpy() for new, old in zip(begun, boards, strict=True))
        )

    def state(self) -> dict[str, Tensor]:
        """Return the positions by names and of shapes that are always the same."""
        return {"mover": self._mover, "opponent": self._opponent, "number": self._number}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Become what `state` said earlier."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])
        self._count()
