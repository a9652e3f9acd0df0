"""A minimax-q table as CSV: a line of A numbers for each of the 3^A rows."""

import math
from pathlib import Path

import numpy as np

from selfplay.errors import UserError
from selfplay.files import read_small, write_csv
from selfplay.tabular.players import FloatArray, reachable_rows
from tictactoe import Rules
from tictactoe.tree import game_tree

RULES = Rules()
CSV_ROWS, CSV_COLUMNS = 3**RULES.cells, RULES.cells
LARGEST_CSV = 64 << 20
"""Upper bound for the bytes of a file; `write_table` writes four million."""


def one_table(table: FloatArray) -> FloatArray:
    """Return one table [3^A, A] that plays as the given one, [1, 3^A, A] or [2, 3^A, A], does.

    Each seat's rows come from its own table, those of unreachable positions from the first.
    """
    joined: FloatArray = table[0].copy()
    of_second = reachable_rows(RULES)[game_tree(RULES).ply % 2 == 1]
    joined[of_second] = table[-1, of_second]
    return joined


def write_table(path: Path, table: FloatArray) -> None:
    """Write one table [3^A, A] so that `read_table` reads it back exactly.

    Raises:
        UserError: the file cannot be written.
    """
    write_csv(path, table.tolist())


def read_table(path: Path) -> FloatArray:
    """Read one table [3^A, A] that `write_table`, or another program, has written.

    Raises:
        UserError: the file cannot be read, or is not 19,683 lines of 9 finite numbers.
    """
    try:
        lines = read_small(path, LARGEST_CSV).decode().splitlines()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not CSV ({error})") from None
    if len(lines) != CSV_ROWS:
        message = f"must have {CSV_ROWS:,} lines, one per position of 3,3,3, but has {len(lines):,}"
        raise UserError(f"{path}: {message}")
    return np.array([_numbers(line.split(","), f"{path}, line {row}") for row, line in enumerate(lines, start=1)])


def _numbers(fields: list[str], place: str) -> list[float]:
    if len(fields) != CSV_COLUMNS:
        raise UserError(f"{place}: must hold {CSV_COLUMNS} numbers, but holds {len(fields)}")
    numbers = []
    for text in fields:
        try:
            numbers.append(float(text))
        except ValueError:
            numbers.append(math.nan)
        if not math.isfinite(numbers[-1]):
            raise UserError(f"{place}: {text[:40]!r} is not a finite number")
    return numbers
