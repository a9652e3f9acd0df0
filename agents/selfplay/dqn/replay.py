"""Replay memory: a ring buffer of transitions, preallocated on the device."""

import torch
from torch import Tensor


class ReplayMemory:
    """Keep the newest `capacity` rows and sample among them with replacement.

    The number of rows stored is counted on the device, so that neither `add` nor `sample` ever waits
    for it. Rows marked invalid are written to a spare row behind the ring that is never sampled.
    """

    def __init__(self, capacity: int, width: int, device: torch.device) -> None:
        self.capacity = capacity
        self.table = torch.zeros((capacity + 1, width), device=device)
        self.added = torch.zeros((), dtype=torch.int64, device=device)
        """Rows ever added."""
        self._count = torch.arange(capacity, device=device)

    def add(self, rows: Tensor, valid: Tensor | None = None) -> None:
        """Store the rows [B, W], or those with `valid` [B] bool, over the oldest ones.

        Raises:
            ValueError: more rows at once than the memory holds.
        """
        if len(rows) > self.capacity:
            raise ValueError(f"a memory of {self.capacity} rows cannot take {len(rows)} at once")
        if valid is None:
            slots = (self.added + self._count[: len(rows)]) % self.capacity
            self.added += len(rows)
        else:
            order = valid.cumsum(0)
            slots = torch.where(valid, (self.added + order - 1) % self.capacity, self.capacity)
            self.added += order[-1]
        self.table.index_copy_(0, slots, rows)

    def sample(self, batch_size: int, generator: torch.Generator) -> Tensor:
        """Draw rows [batch_size, W] uniformly; from an empty memory come rows of zeros.

        A row of zeros is a finished game worth nothing. It is met only where a seat has not finished a move
        yet, or never does, as the second on a board on which one mark wins.
        """
        # The remainder of a 62-bit draw is uniform to within one part in 10^11 for any memory that fits a machine.
        draws = torch.randint(1 << 62, (batch_size,), generator=generator, device=self.table.device)
        return self.table.index_select(0, draws % self.added.clamp(1, self.capacity))
