"""Afterstate values learned by self-play, one table for both seats, backed up from the end of each game.

A board after a move is worth 0 at first. With probability `exploit` the mover goes to the best-valued board,
one of the best at random if there are several, else anywhere at random. When the game is over each seat's own
afterstates are walked backwards, from r = 1 for the winner, 0 for the loser, and for a draw `draw_first` or
`draw_second`:

    V += alpha * (gamma * r - V),  then r = V

The published hash counts a cell as its mark + 1, so O is 0 and an empty cell 1. Here an empty cell is 0, as in
every table of this package: the rows are in another order and nothing else differs.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import check_counts, check_fractions, check_seed, check_types, require
from selfplay.errors import UserError
from selfplay.tabular import kernels
from selfplay.tabular.afterstates import AfterstatePlayer
from selfplay.tabular.boards import FloatArray, board_tables, check_table_fits, reachable_positions
from tictactoe import Rules

MOST_GREEDY_GAMES = 100_000


@dataclass(frozen=True)
class TDBackupConfig:
    """Train afterstate values by self-play, on any board whose table fits."""

    algorithm: ClassVar[str] = "td-backup"

    seed: int = 0
    """Seed of every random draw of the run."""
    run_dir: Path | None = None
    """Folder of this run; it must be new or empty. Default: runs/ALGORITHM-BOARD-SEED-TIME."""
    rows: int = 3
    """Board height, cells."""
    cols: int = 3
    """Board width, cells."""
    k: int = 3
    """Marks in a row that win."""
    games: int = 100_000
    """Games of self-play with the probability `exploit`."""
    greedy_games: int = 2_500
    """Games after these that always exploit, and still learn."""
    eval_every: int = 10_000
    """Games between exact evaluations. Above 12 cells one takes up to some seconds."""
    exploit: float = 0.8
    """Probability of moving to the best-valued board instead of at random."""
    alpha: float = 0.35
    """Step size: the part of the way that a value moves to its target."""
    gamma: float = 0.9
    """Discount per move of one seat, the last one included."""
    draw_first: float = 0.1
    """What a draw is worth to the first seat between a loss, 0, and a win, 1."""
    draw_second: float = 0.5
    """What a draw is worth to the second seat."""

    def __post_init__(self) -> None:
        check_types(self)
        check_seed(self)
        check_counts(self, "games", "greedy_games", "eval_every")
        wanted = f"at most {MOST_GREEDY_GAMES:,}, which are reported one by one"
        require(self.greedy_games <= MOST_GREEDY_GAMES, "greedy_games", wanted, self.greedy_games)
        check_fractions(self, "exploit", "gamma", "draw_first", "draw_second")
        require(0 < self.alpha <= 1, "alpha", "above 0 and at most 1", self.alpha)
        try:
            rules = self.rules
        except ValueError as error:
            raise UserError(str(error)) from None
        check_table_fits(rules)

    @property
    def rules(self) -> Rules:
        """Return the rules of the board."""
        return Rules(self.rows, self.cols, self.k)

    @property
    def table_shape(self) -> tuple[int, ...]:
        """Return the shape of the table, [3^A]."""
        return (3**self.rules.cells,)


class TDBackup:
    """Hold the table, the random stream and the number of games played so far.

    `table` is [3^A] float64: the value of each board to the seat that has just moved. `greedy_outcomes` is how
    the games of the last call of `play_greedily` ended.
    """

    def __init__(self, config: TDBackupConfig) -> None:
        self.config = config
        self.rules = config.rules
        self.rng = np.random.Generator(np.random.PCG64(config.seed))
        self.table: FloatArray = np.zeros(config.table_shape)
        self.games_played = 0
        self.greedy_outcomes: NDArray[np.int8] = np.empty(0, dtype=np.int8)
        self._board = board_tables(self.rules)

    def play(self, games: int) -> NDArray[np.int8]:
        """Play and learn; return how each game ended, [games] int8: the winner's seat, or -1 for a draw.

        Calls in succession leave the same bits as one call with as many games.
        """
        return self._play(games, self.config.exploit)

    def play_greedily(self, games: int) -> NDArray[np.int8]:
        """Play as `play` does, but always exploit; ties are still broken at random, and values still learned."""
        self.greedy_outcomes = self._play(games, 1.0)
        return self.greedy_outcomes

    def _play(self, games: int, exploit: float) -> NDArray[np.int8]:
        config = self.config
        outcomes = np.empty(games, dtype=np.int8)
        kernels.play_td_backup(
            self.table,
            *self._board,
            float(config.alpha),
            float(config.gamma),
            float(exploit),
            float(config.draw_first),
            float(config.draw_second),
            self.rng,
            outcomes,
        )
        self.games_played += games
        return outcomes

    def player(self) -> AfterstatePlayer:
        """Return a greedy player that has the table as it is now; of equals it takes the first."""
        return AfterstatePlayer(self.rules, self.table.copy())


def learned_values(rules: Rules, table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the values of winning positions and those of all other positions, as two flat arrays.

    A winning position is one whose last move completed a line. Positions worth exactly 0 are left out: no game
    has passed through them, or every one that did was lost by the seat that had moved.
    """
    positions = reachable_positions(rules)
    values = table[positions.rows]
    learned = values != 0
    return values[learned & positions.lost], values[learned & ~positions.lost]
