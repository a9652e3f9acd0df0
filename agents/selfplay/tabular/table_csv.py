"""A minimax-q table from a CSV file: a line of 9 numbers for each of the 3^9 rows, as in a run's table.csv."""

from pathlib import Path

import numpy as np

from selfplay.errors import UserError
from selfplay.files import read_small
from selfplay.tabular.config import LARGEST_VALUE
from tictactoe import Rules
from tictactoe.tree import FloatArray

CELLS = Rules().cells
LARGEST_CSV = 64_000_000
"""Upper bound for the bytes of a file; a run's table.csv has four million."""


def read_table(path: Path) -> FloatArray:
    """Read a table [3^A, A] that a run, or another program, has written.

    Raises:
        UserError: the file cannot be read, or is not 19,683 lines of 9 numbers.
    """
    try:
        lines = read_small(path, LARGEST_CSV).decode(errors="replace").splitlines()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if len(lines) != 3**CELLS:
        raise UserError(f"{path}: must have {3**CELLS:,} lines, one per position of 3,3,3, but has {len(lines):,}")
    table = np.empty((3**CELLS, CELLS))
    for row, line in enumerate(lines):
        try:
            numbers = [float(field) for field in line.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) != CELLS or not all(abs(number) <= LARGEST_VALUE for number in numbers):
            wanted = f"{CELLS} numbers between -{LARGEST_VALUE:g} and {LARGEST_VALUE:g}"
            raise UserError(f"{path}, line {row + 1}: must hold {wanted}, but is {line!r:.80}")
        table[row] = numbers
    return table
