"""The symmetries of a board: turns and reflections that map lines onto lines."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tictactoe.rules import Rules
from tictactoe.tree import read_only


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
    table = np.stack([image.ravel() for turn in turned for image in (turn, turn[:, ::-1])])
    return read_only(table)
