"""Bitboards expanded to one byte per cell, by look-ups of several cells at a time instead of bit by bit.

A board is cut into chunks of at most nine cells. Two words of nine bits make an index of eighteen, and a table
row holds the bytes of those cells, so that tic-tac-toe takes one look-up and no board more than eight.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe.arrays import Array, device, library, on_device, read_only
from tictactoe.rules import Bitboard

MakeTable: TypeAlias = Callable[[int], NDArray[Any]]
"""Returns the table of chunks of a number of cells, [number of indices, bytes of a chunk]."""

CHUNK_CELLS = 9
"""Largest number of cells in a chunk: its table of 2^18 rows takes 7 MB, and a game touches little of it."""


def bits(cells: int, words: Bitboard) -> Array:
    """Return which cells are set, [B, cells] bool, for words [B] int64."""
    chunk = _chunk_size(cells)
    return _looked_up(_bit_table, chunk, _chunks(cells, words), cells)


def words(bits: Array) -> Bitboard:
    """Return the words [B] int64 in which the cells of `bits`, [B, cells] bool, are set."""
    xp = library(bits)
    shifts = xp.arange(bits.shape[1], **on_device(device(bits)))
    return (xp.asarray(bits, dtype=xp.int64) << shifts).sum(axis=1)


def one_hot(cells: int, first: Bitboard, second: Bitboard) -> Array:
    """Return three numbers for each cell, [B, cells * 3] int8: whether it is empty, in `first`, in `second`.

    `first` and `second` are words [B] int64 that share no bit.
    """
    chunk = _chunk_size(cells)
    index = _chunks(cells, first) | _chunks(cells, second) << chunk
    return _looked_up(_one_hot_table, chunk, index, cells * 3)


def _chunk_size(cells: int) -> int:
    """Return the number of cells in a chunk: the smallest that gives no more chunks."""
    number = -(-cells // CHUNK_CELLS)
    return -(-cells // number)


def _chunks(cells: int, words: Bitboard) -> Bitboard:
    """Return the chunks of each word, [B, chunks]."""
    chunk = _chunk_size(cells)
    if chunk == cells:
        return words[:, None]
    xp, shape = library(words), (len(words), -(-cells // chunk))
    chunks = np.empty(shape, np.int64) if xp is np else words.new_empty(shape)
    for number in range(shape[1]):  # a loop over all boards at once is quicker than one over their chunks
        xp.bitwise_and(words >> number * chunk, (1 << chunk) - 1, out=chunks[:, number])
    return chunks


def _looked_up(make_table: MakeTable, chunk: int, index: Bitboard, width: int) -> Array:
    """Return the table's rows at `index` [B, chunks] side by side, [B, width]."""
    if library(index) is not np:
        values = _table_on(device(index), make_table, chunk).index_select(0, index.flatten()).view(len(index), -1)
        return values[:, :width].contiguous()
    # The indices are right by construction; in this mode NumPy copies without checking them beforehand.
    rows, dtype = _rows(make_table, chunk)
    values = rows.take(index, mode="clip").view(dtype)
    return values if values.shape[1] == width else np.ascontiguousarray(values[:, :width])


@lru_cache(maxsize=64)
def _table_on(place: Any, make_table: MakeTable, chunk: int) -> Array:
    """Return the table as a tensor of a device."""
    return library(place).as_tensor(make_table(chunk), device=place)


@lru_cache(maxsize=2 * CHUNK_CELLS)
def _rows(make_table: MakeTable, chunk: int) -> tuple[NDArray[np.void], np.dtype[Any]]:
    """Return the table with each row of bytes as one element, which NumPy copies whole, and the type of a byte."""
    table = np.ascontiguousarray(make_table(chunk))
    rows = read_only(table.view(np.dtype((np.void, table.strides[0])))[:, 0])
    return rows, table.dtype


def _bit_table(chunk: int) -> NDArray[np.bool_]:
    return _bits(np.arange(1 << chunk), chunk).astype(np.bool_)


def _one_hot_table(chunk: int) -> NDArray[np.int8]:
    index = np.arange(1 << 2 * chunk)
    first, second = _bits(index, chunk), _bits(index >> chunk, chunk)
    return np.stack([1 - (first | second), first, second], axis=-1).reshape(len(index), -1)


def _bits(words: NDArray[np.int64], chunk: int) -> NDArray[np.int8]:
    return (words[:, None] >> np.arange(chunk) & 1).astype(np.int8)
