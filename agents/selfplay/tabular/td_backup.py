"""Afterstate values learned by self-play, one table for both seats, backed up from the end of each game.

A board after a move is worth 0 at first. With probability `exploit` the mover goes to the best-valued board,
one of the best at random if there are several, else anywhere at random. When the game is over each seat's own
afterstates are walked backwards, from r = 1 for the winner, 0 for the loser, and for a draw `draw_first` or
`draw_second`:

    V += alpha * (gamma * r - V),  then r = V

The published hash counts a cell as its mark + 1, so O is 0 and an empty cell 1. Here an empty cell is 0, as in
every table of this package: the rows are in another order and nothing else differs.
"""

import numpy as np
from numpy.typing import NDArray

from selfplay.tabular import kernels
from selfplay.tabular.boards import FloatArray, board_tables, reachable_positions
from selfplay.tabular.config import TDBackupConfig
from selfplay.tabular.players import AfterstatePlayer
from tictactoe import Rules


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
