"""Bitboards spread out to a byte a cell, for NumPy: looked up a few cells at a time instead of bit by bit.

A board is cut into chunks of at most nine cells. Two words of nine bits make an index of eighteen, and a table
row holds the bytes of those cells, so that tic-tac-toe takes one look-up and no board more than eight.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tictactoe.rules import Bitboard

CHUNK_CELLS = 9
"""The most cells a chunk has: its table of 2^18 rows takes 7 MB, of which a game touches little."""


def bits(cells: int, words: Bitboard) -> NDArray[np.bool_]:
    """Return which cells are set, [B, cells] bool, for words [B] int64."""
    chunk = _chunk_size(cells)
    return _looked_up(_bit_rows(chunk), _chunks(cells, words), cells, np.bool_)


def one_hot(cells: int, first: Bitboard, second: Bitboard) -> NDArray[np.int8]:
    """Return for each cell whether it is empty, the first's or the second's, [B, cells * 3] int8.

    `first` and `second` are words [B] int64 that share no bit.
    """
    chunk = _chunk_size(cells)
    index = _chunks(cells, first) | _chunks(cells, second) << chunk
    return _looked_up(_one_hot_rows(chunk), index, cells * 3, np.int8)


def _chunk_size(cells: int) -> int:
    """Return how many cells a chunk has: as few as that number of chunks allows."""
    number = -(-cells // CHUNK_CELLS)
    return -(-cells // number)


def _chunks(cells: int, words: Bitboard) -> Bitboard:
    """Return the chunks of each word, [B, chunks]; a word of one chunk is that chunk."""
    chunk = _chunk_size(cells)
    if chunk == cells:
        return words[:, None]
    found = np.empty((len(words), -(-cells // chunk)), np.int64)
    for number in range(found.shape[1]):  # a loop over all boards at once is quicker than one over their chunks
        np.bitwise_and(words >> number * chunk, (1 << chunk) - 1, out=found[:, number])
    return found


def _looked_up(rows: NDArray[np.void], index: Bitboard, width: int, dtype: type) -> NDArray[Any]:
    """Return the bytes of the rows at `index` [B, chunks], as [B, width] of a type of one byte."""
    # The indices are right by construction; in this mode NumPy copies without checking them beforehand.
    found: NDArray[Any] = rows.take(index, mode="clip").view(dtype).reshape(len(index), -1)
    return found if found.shape[1] == width else np.ascontiguousarray(found[:, :width])


@lru_cache(maxsize=CHUNK_CELLS)
def _bit_rows(chunk: int) -> NDArray[np.void]:
    return rows_of_bytes(_bits(np.arange(1 << chunk), chunk))


@lru_cache(maxsize=CHUNK_CELLS)
def _one_hot_rows(chunk: int) -> NDArray[np.void]:
    index = np.arange(1 << 2 * chunk)
    first, second = _bits(index, chunk), _bits(index >> chunk, chunk)
    return rows_of_bytes(np.stack([1 - (first | second), first, second], axis=-1))


def _bits(words: NDArray[np.int64], chunk: int) -> NDArray[np.int8]:
    return (words[:, None] >> np.arange(chunk) & 1).astype(np.int8)


def rows_of_bytes(table: NDArray[Any]) -> NDArray[np.void]:
    """Return each row of a table of bytes as one element, which NumPy copies whole; the result is read-only."""
    flat = np.ascontiguousarray(table.reshape(len(table), -1))
    rows = flat.view(np.dtype((np.void, flat.shape[1])))[:, 0]
    rows.flags.writeable = False
    return rows
