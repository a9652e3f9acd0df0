"""Minimax Q-learning by self-play: one table of action values, which one seat raises and the other lowers.

The reward is +1 if the first seat wins, -1 if the second does, 0 for a tie. After every ply

    Q(s, a) += alpha * (target - Q(s, a))

where the target is the reward if the game is over, else gamma times the highest Q(s', a') if the first seat
is to move in s', the lowest if the second is. All cells are open in every position, and a taken one loses.

With separate tables each seat keeps the positions in which it is to move, and the target looks s' up with the
seat whose turn it is. Since a position tells whose turn it is, no row is ever used by both seats: separate
tables learn what one table learns, and differ from it in their initial numbers alone.
"""

import csv
import io
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import UserError
from selfplay.files import read_small, write_csv
from selfplay.tabular import kernels
from selfplay.tabular.boards import FloatArray, board_tables, reachable_positions
from selfplay.tabular.config import MinimaxQConfig
from selfplay.tabular.players import MinimaxQPlayer
from tictactoe import Rules

RULES = Rules()
CSV_ROWS, CSV_COLUMNS = 3**RULES.cells, RULES.cells
LARGEST_CSV = 64 << 20
"""Bytes; what `write_table` writes has four millions."""


class MinimaxQ:
    """Hold the table, the random stream and the number of games played so far.

    `table` is [1, 3^A, A] float64, or [2, 3^A, A] with a table per seat, standard normal at first or as in the
    CSV file that the settings name.

    Raises:
        UserError: that file cannot be read or holds no such table.
    """

    def __init__(self, config: MinimaxQConfig) -> None:
        self.config = config
        self.rules = config.rules
        self.rng = np.random.Generator(np.random.PCG64(config.seed))
        self.table = self.rng.standard_normal(config.table_shape)
        if config.from_table:
            self.table[:] = read_table(config.from_table)
        self.games_played = 0
        self._board = board_tables(self.rules)

    def play(self, games: int) -> NDArray[np.int8]:
        """Play and learn; return how each game ended, [games] int8.

        That is the winner's seat, -1 for a tie, or 2 + the seat that lost by playing a taken cell. Calls in
        succession leave the same bits as one call with as many games.
        """
        config = self.config
        outcomes = np.empty(games, dtype=np.int8)
        kernels.play_minimax_q(
            self.table,
            *self._board,
            float(config.alpha),
            float(config.gamma),
            float(config.epsilon),
            self.rng,
            outcomes,
        )
        self.games_played += games
        return outcomes

    def player(self) -> MinimaxQPlayer:
        """Return a greedy player that has the table as it is now."""
        return MinimaxQPlayer(self.table.copy())


def one_table(table: FloatArray) -> FloatArray:
    """Return one table [3^A, A] that plays as the given one, [1, 3^A, A] or [2, 3^A, A], does.

    Each seat's rows are taken from its own table; those of positions that no game reaches from the first.
    """
    positions = reachable_positions(RULES)
    joined: FloatArray = table[0].copy()
    second_to_move = positions.rows[positions.ply % 2 == 1]
    joined[second_to_move] = table[-1, second_to_move]
    return joined


def write_table(path: Path, table: FloatArray) -> None:
    """Write one table [3^A, A] as CSV: 3^A lines of A numbers, which `read_table` reads back exactly.

    Raises:
        UserError: the file cannot be written.
    """
    write_csv(path, table.tolist())


def read_table(path: Path) -> FloatArray:
    """Read one table [3^A, A] that `write_table`, or another program, has written.

    Raises:
        UserError: the file cannot be read, or is not 19,683 lines of 9 finite numbers.
    """
    table = np.empty((CSV_ROWS, CSV_COLUMNS))
    count = 0
    try:
        text = read_small(path, LARGEST_CSV).decode()
        for count, fields in enumerate(csv.reader(io.StringIO(text, newline="")), start=1):
            if count > CSV_ROWS:
                break
            table[count - 1] = _numbers(fields, f"{path}, line {count}")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}, after line {count}: is not CSV ({error})") from None
    if count != CSV_ROWS:
        found = f"more than {CSV_ROWS:,}" if count > CSV_ROWS else f"{count:,}"
        raise UserError(f"{path}: must have {CSV_ROWS:,} lines, one per position of 3,3,3, but has {found}")
    return table


def _numbers(fields: list[str], place: str) -> list[float]:
    if len(fields) != CSV_COLUMNS:
        raise UserError(f"{place}: must hold {CSV_COLUMNS} numbers, but holds {len(fields)}")
    numbers = []
    for text in fields:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise UserError(f"{place}: {text[:40]!r} is not a finite number")
        numbers.append(number)
    return numbers
