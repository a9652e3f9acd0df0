"""The positions at which some games of self-play begin: those in which the last proof found the player wrong."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from selfplay.proof.lessons import ENOUGH, MOST
from tictactoe import batch, planes
from tictactoe.rules import Rules


class Beginnings:
    """Begin a part of the new games at given positions; with none of them all begin on the empty board.

    `fraction` is that part; of fewer positions than `ENOUGH` it is in proportion less, or they would fill the memory.
    Everything lies on the device in memory that stays, so that a recorded CUDA graph finds it.
    """

    def __init__(self, rules: Rules, fraction: float, device: torch.device) -> None:
        self._rules = rules
        self._fraction = fraction
        self._mover = torch.zeros(MOST, dtype=torch.int64, device=device)
        self._opponent, self._ply = torch.zeros_like(self._mover), torch.zeros_like(self._mover)
        self._number = torch.zeros((), dtype=torch.int64, device=device)

    def replace(self, mover: Any, opponent: Any) -> None:
        """Begin at these positions from now on: bitboards [n] int64 of at most `MOST`."""
        for kept, new in ((self._mover, mover), (self._opponent, opponent)):
            kept[: len(new)] = torch.as_tensor(new, device=kept.device)
        self._number.fill_(len(mover))
        self._count()

    def _count(self) -> None:
        self._ply.copy_(planes.bits(self._rules.cells, self._mover | self._opponent).sum(dim=1))

    def begin(self, boards: batch.State, ended: Tensor, generator: torch.Generator) -> batch.State:
        """Return the boards with some of those that have `ended` [B] at one of the positions."""
        share = self._fraction * (self._number / ENOUGH).clamp(max=1)
        drawn = torch.rand((2, len(ended)), generator=generator, device=ended.device)
        chosen = ended & (drawn[0] < share)
        which = (drawn[1] * self._number).long()  # a 32-bit fraction times at most 4,096 stays below it
        positions = (self._mover, self._opponent, self._ply)
        begun = [
            torch.where(chosen, kept.index_select(0, which), torch.as_tensor(field))
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
