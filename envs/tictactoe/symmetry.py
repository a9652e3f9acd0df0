"""The symmetries of a board: turns and reflections that map lines onto lines."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tictactoe.arrays import read_only
from tictactoe.rules import Rules
from tictactoe.tree import IntArray


@lru_cache(maxsize=64)
def symmetries(rules: Rules) -> NDArray[np.int64]:
    """Return the cell permutations of the board, [G, A] int64, the identity first.

    Row `g` maps a board to its image: cell `a` of the image is cell `table[g, a]` of the original. A
    square board has 8 symmetries, any other 4.
    """
    board = np.arange(rules.cells).reshape(rules.rows, rules.cols)
    turned = [board, board[::-1, ::-1]]
    if rules.rows == rules.cols:
        turned += [np.rot90(board), np.rot90(board, 3)]
    return read_only(np.stack([image.ravel() for turn in turned for image in (turn, turn[:, ::-1])]))


CHUNK_CELLS = 9
"""Number of cells of a bitboard that one look-up maps."""


def representatives(rules: Rules, mover: IntArray, opponent: IntArray) -> tuple[IntArray, IntArray]:
    """Return the symmetric image of each position [B] that has the smallest bitboards, the same for all its images."""
    least_mover, least_opponent = mover, opponent
    for tables in _turned(rules)[1:]:
        one, other = _image(tables, mover), _image(tables, opponent)
        less = (one < least_mover) | ((one == least_mover) & (other < least_opponent))
        least_mover, least_opponent = np.where(less, one, least_mover), np.where(less, other, least_opponent)
    return least_mover, least_opponent


def _image(tables: NDArray[np.int64], words: IntArray) -> NDArray[np.int64]:
    """Return the words [B] under one symmetry."""
    image: NDArray[np.int64] = tables[0].take(words & (1 << CHUNK_CELLS) - 1)
    for number, table in enumerate(tables[1:], 1):
        image |= table.take(words >> number * CHUNK_CELLS & (1 << CHUNK_CELLS) - 1)
    return image


@lru_cache(maxsize=16)
def _turned(rules: Rules) -> NDArray[np.int64]:
    """Return the images of every chunk of a bitboard under every symmetry, [G, chunks, 512]."""
    origin = symmetries(rules)
    chunks = -(-rules.cells // CHUNK_CELLS)
    bits = np.arange(1 << CHUNK_CELLS)[:, None] >> np.arange(CHUNK_CELLS) & 1  # [512, 9]
    tables = np.zeros((len(origin), chunks, 1 << CHUNK_CELLS), np.int64)
    for symmetry, cells in enumerate(np.argsort(origin, axis=1)):  # where each cell goes
        for chunk in range(chunks):
            goes_to = cells[chunk * CHUNK_CELLS : (chunk + 1) * CHUNK_CELLS]
            tables[symmetry, chunk] = (bits[:, : len(goes_to)] << goes_to).sum(axis=1)
    return read_only(tables)
