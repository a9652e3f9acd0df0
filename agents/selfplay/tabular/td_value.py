"""The temporal-difference player of Sutton and Barto, Reinforcement Learning, chapter 1.

From a learner's own seat a position that it has won is worth 1, one that is lost or full 0, and every other
0.5 at first. It plays the move to the best afterstate, the first of equals, or with the exploration rate a
random one. After each move that was not random

    V(s) += alpha * (V(s') - V(s))

where s' is the afterstate of the move and s the one of the learner's move before; its first move has none.
With `back_up_losses` its last afterstate is also moved towards the lost position that the opponent's winning
move leads to, whether or not that afterstate was reached by a random move. A draw that the opponent's move
completes is never backed up.

The learner takes the two seats in turn, the first seat first, with a table for each. In self-play (the book's
exercise 1.1) two learners, one per seat, play every game and both learn from it.

The published description leaves open alpha, the exploration rate and the number of games; the defaults are ours.
"""

import numpy as np
from numpy.typing import NDArray

from selfplay.tabular import kernels
from selfplay.tabular.boards import FloatArray, IntArray, all_boards, board_tables, reachable_positions
from selfplay.tabular.config import TDValueConfig
from selfplay.tabular.players import AfterstatePlayer
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS


class TDValue:
    """Hold the tables, the random stream and the number of games played so far.

    `table` is [2, 3^A] float64: the value of every position from the first and from the second seat.
    """

    def __init__(self, config: TDValueConfig) -> None:
        self.config = config
        self.rules = config.rules
        self.rng = np.random.Generator(np.random.PCG64(config.seed))
        self.table = initial_values(self.rules)
        self.games_played = 0
        self._board = board_tables(self.rules)
        self._choices = choice_table(self.rules, "random" if config.opponent == "self" else config.opponent)

    def play(self, games: int) -> NDArray[np.int8]:
        """Play and learn; return how each game ended, [games] int8: the winner's seat, or -1 for a draw.

        Calls in succession leave the same bits as one call with as many games.
        """
        config = self.config
        outcomes = np.empty(games, dtype=np.int8)
        kernels.play_td_value(
            self.table,
            *self._board,
            self._choices,
            self.games_played,
            config.opponent == "self",
            float(config.alpha),
            float(config.exploration),
            config.back_up_losses,
            self.rng,
            outcomes,
        )
        self.games_played += games
        return outcomes

    def player(self) -> AfterstatePlayer:
        """Return a greedy player that has the tables as they are now."""
        return AfterstatePlayer(self.rules, self.table.copy())


def initial_values(rules: Rules) -> FloatArray:
    """Return the values [2, 3^A] before the first game: 1 if won, else 0 if lost or full, else 0.5."""
    marks = all_boards(rules)
    full = marks[0] | marks[1] == rules.full_board
    lines = [rules.has_line(seat_marks) for seat_marks in marks]
    return np.stack(
        [
            np.where(own_line, 1.0, np.where(other_line | full, 0.0, 0.5))
            for own_line, other_line in (lines, reversed(lines))
        ]
    )


def choice_table(rules: Rules, opponent: str) -> IntArray:
    """Return the cells among which a built-in opponent picks, as a bitboard per row [3^A], 0 if it has no move."""
    positions = reachable_positions(rules)
    table: IntArray = np.zeros(3**rules.cells, dtype=np.int64)
    going_on = zip(*(column[~positions.finished].tolist() for column in positions[:3]), strict=True)
    for row, mover, other in going_on:
        table[row] = OPPONENTS[opponent](rules, mover, other)
    return table
