"""Bitboards expanded to one number or three for each cell."""

import numpy as np

from tictactoe.arrays import Array, device, library, on_device
from tictactoe.rules import Bitboard


def bits(cells: int, words: Bitboard) -> Array:
    """Return which cells are set, [B, cells] bool, for words [B] of any integer type."""
    if library(words) is np:
        octets = np.ascontiguousarray(words, "<i8").view(np.uint8).reshape(len(words), 8)
        return np.unpackbits(octets, axis=1, count=cells, bitorder="little").view(np.bool_)
    return words[:, None] & _words_of_cells(cells, words) != 0


def words(bits: Array) -> Bitboard:
    """Return the words [B] int64 in which the cells of `bits` are set, [B, cells] bool or numbers 0 and 1."""
    xp = library(bits)
    return (xp.asarray(bits, dtype=xp.int64) * _words_of_cells(bits.shape[1], bits)).sum(axis=1)


def one_hot(cells: int, first: Bitboard, second: Bitboard) -> Array:
    """Return three numbers for each cell, [B, cells * 3] int8: whether it is empty, in `first`, in `second`.

    `first` and `second` are words [B] that share no bit.
    """
    xp = library(first)
    ours, theirs = bits(cells, first), bits(cells, second)
    return xp.stack([~(ours | theirs), ours, theirs], -1).reshape(len(first), 3 * cells).view(xp.int8)


def _words_of_cells(cells: int, like: Array) -> Bitboard:
    """Return the word of each cell, [cells] int64, in the library and on the device of another array."""
    return 1 << library(like).arange(cells, **on_device(device(like)))
