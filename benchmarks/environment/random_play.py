"""Choose random legal cells so cheaply that a measurement compares environments and not choosers.

A random order of all cells, played until the game ends, is a uniformly random legal game: each move is the next
cell of the order, which is uniform among those still empty. So games are drawn before the clock starts. `PreDrawn`
does the same for many boards at once; `FromMask` draws from the delivered masks instead, as a program would.
`B` is the number of boards, `A` the number of cells.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

CELLS = 9
"""Cells of 3,3,3."""
COLUMNS = math.lcm(*range(1, CELLS + 1))
POOL = 4_096
"""Orders in the pool that many boards draw their games from."""

Flags: TypeAlias = NDArray[np.bool_]
Cells: TypeAlias = NDArray[np.int64]


def orders(cells: int, count: int, rng: np.random.Generator) -> Cells:
    """Return random orders of all cells, [count, A] int64."""
    return rng.permuted(np.tile(np.arange(cells), (count, 1)), axis=1)


def games(cells: int, plies: int, rng: np.random.Generator) -> list[list[int]]:
    """Return orders for games of about so many plies together, or some more."""
    drawn: list[list[int]] = orders(cells, max(1, plies // cells), rng).tolist()
    return drawn


class Stream:
    """Hold a pool of orders one after the other, and where a board that reads it goes next.

    A board stands at a cursor. While its game goes on it takes the next place; when the game ends, the next order.
    """

    def __init__(self, cells: int, num_boards: int, rng: np.random.Generator) -> None:
        pool = orders(cells, POOL, rng)
        self.cells: Cells = pool.ravel()
        """The cell to play at each cursor, [POOL * A] int64."""
        self.next_order: Cells = np.repeat((np.arange(POOL) + 1) % POOL * cells, cells)
        """Where the order after the one at each cursor begins, [POOL * A] int64."""
        self.start: Cells = rng.integers(POOL, size=num_boards) * cells
        """The cursor of each board at first, [B] int64."""


class PreDrawn:
    """Read every board's cells from a stream of orders; the masks are not looked at."""

    def __init__(self, cells: int, num_boards: int, rng: np.random.Generator) -> None:
        self._stream = Stream(cells, num_boards, rng)
        self._cursor = self._stream.start

    def choose(self, mask: NDArray[np.int8]) -> Cells:  # noqa: ARG002 (the other way of choosing needs it)
        """Return a cell for each board, [B] int64."""
        return self._stream.cells.take(self._cursor)

    def advance(self, ended: Flags, idle: Flags | None) -> None:
        """Go on to the next cell, or the next order where a game has ended; an idle board stays."""
        moved = self._cursor + 1 if idle is None else self._cursor + ~idle
        self._cursor = np.where(ended, self._stream.next_order.take(self._cursor), moved)


class FromMask:
    """Draw uniformly from the cells that the masks of 3,3,3 leave, by look-ups in small tables.

    All masks are packed into bits at once, so the nine bits of a board begin anywhere in a byte and reach into the
    next one. Of the c cells that they leave, the cell of number floor(u * c / 2520) is played: u is uniform in
    0..2519, and each c from 1 to 9 divides 2520, so the draw is exactly uniform.
    """

    def __init__(self, num_boards: int, rng: np.random.Generator) -> None:
        self._rng = rng
        bits = np.arange(num_boards) * CELLS
        self._byte, self._shift = bits // 8, (bits % 8).astype(np.uint16)
        left = [[cell for cell in range(CELLS) if word >> cell & 1] for word in range(1 << CELLS)]
        self._count = np.array([len(cells) for cells in left], np.int32)
        self._cell: Cells = np.array([cells + [0] * (CELLS - len(cells)) for cells in left]).ravel()

    def choose(self, mask: NDArray[np.int8]) -> Cells:
        """Return a cell for each board, [B] int64, from masks [B, 9] int8; no mask may be all zeros."""
        packed = np.packbits(mask, bitorder="little").astype(np.uint16)
        two_bytes = packed.take(self._byte) | packed.take(self._byte + 1) << 8
        word = two_bytes >> self._shift & (1 << CELLS) - 1
        drawn = self._rng.integers(COLUMNS, size=len(word), dtype=np.uint16)
        number = drawn * self._count.take(word) // COLUMNS
        return self._cell.take(word * np.int32(CELLS) + number)

    def advance(self, ended: Flags, idle: Flags | None) -> None:
        """Do nothing: the next masks say all."""


Chooser: TypeAlias = PreDrawn | FromMask
