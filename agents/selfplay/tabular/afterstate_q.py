"""Afterstate values learned in games against a random opponent, backed up from the end of each game.

A position reached by one's own move is worth 0 until a game has passed through it. The learner plays the move
to the best one, the first of equals, or with some probability any move at random. When the game is over it
walks its own afterstates backwards, from r = +1 for a win, -1 for a loss, `draw_reward` for a draw:

    V += alpha * (gamma * r - V),  then r = V
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from selfplay.tabular import kernels
from selfplay.tabular.boards import FloatArray, IntArray, board_tables
from selfplay.tabular.config import AfterstateQConfig
from selfplay.tabular.outcomes import cumulative_counts
from selfplay.tabular.players import AfterstatePlayer

MATCH_UPS: Mapping[str, Literal[0, 1, "none"]] = MappingProxyType(
    {"random against random": "none", "learner against random": 0, "random against learner": 1}
)
"""The learner's seat in each of the published match-ups of afterstate-q; the first seat is named first."""


class AfterstateQ:
    """Hold the table, the random stream and the number of games played so far.

    `table` is [3^A] float64: the value of each position after the learner's own move, 0 at first. Of the other
    seat's positions nothing is ever learned.
    """

    def __init__(self, config: AfterstateQConfig) -> None:
        self.config = config
        self.rules = config.rules
        self.rng = np.random.Generator(np.random.PCG64(config.seed))
        self.table: FloatArray = np.zeros(config.table_shape)
        self.games_played = 0
        self._board = board_tables(self.rules)

    def play(self, games: int) -> NDArray[np.int8]:
        """Play and learn; return how each game ended, [games] int8: the winner's seat, or -1 for a draw.

        Calls in succession leave the same bits as one call with as many games.
        """
        config = self.config
        outcomes = np.empty(games, dtype=np.int8)
        kernels.play_afterstate_q(
            self.table,
            *self._board,
            -1 if config.seat == "none" else config.seat,
            float(config.alpha),
            float(config.gamma),
            float(config.exploration),
            float(config.draw_reward),
            self.rng,
            outcomes,
        )
        self.games_played += games
        return outcomes

    def player(self) -> AfterstatePlayer:
        """Return a greedy player that has the table as it is now; in a seat it never had it knows nothing."""
        return AfterstatePlayer(self.rules, self.table.copy())


def match_up_curves(config: AfterstateQConfig, seeds: Iterable[int]) -> dict[str, IntArray]:
    """Play the three match-ups of afterstate-q; return cumulative counts by match-up, [seeds, games, 3]."""
    seeds = list(seeds)
    return {
        name: np.stack(
            [cumulative_counts(AfterstateQ(replace(config, seat=seat, seed=seed)).play(config.games)) for seed in seeds]
        )
        for name, seat in MATCH_UPS.items()
    }
