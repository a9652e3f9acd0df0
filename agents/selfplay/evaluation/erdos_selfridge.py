"""The Erdős-Selfridge weight of positions, compiled: of too many positions those of large weight are followed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tictactoe import Rules
from tictactoe.arrays import compiled
from tictactoe.tree import FloatArray, IntArray


def weights(rules: Rules, mine: IntArray, theirs: IntArray) -> FloatArray:
    """Return the sum of 2^-e over the lines without a mark of `mine`, with e empty cells each, for every position [n].

    Erdős and Selfridge (1973) bound by it what an opponent with the marks `theirs` can still win.
    """
    lines = np.array([line - (1 << 64) if line >> 63 else line for line in rules.lines], np.int64)
    result: FloatArray = np.zeros(len(mine))
    _fill(lines, mine, theirs, result)
    return result


@compiled
def _fill(lines: NDArray[np.int64], mine: IntArray, theirs: IntArray, result: Any) -> None:
    for number in range(len(mine)):
        weight = 0.0
        for line in lines:
            if not mine[number] & line:
                empty = line & ~theirs[number]
                share = 1.0
                while empty:
                    empty &= empty - 1
                    share *= 0.5
                weight += share
        result[number] = weight
