"""The games of the versus view on bitboards, for boards of up to 64 cells."""

import numpy as np

from tictactoe import batch
from tictactoe.envs.backends.bitboards import BitboardGames
from tictactoe.envs.backends.games import EVERY, Boards, Cells, Flags, Planes, Results
from tictactoe.envs.backends.kernels import Kernels
from tictactoe.envs.backends.versus_games import BatchOpponent, Seat, VersusGames, answers
from tictactoe.opponents import OPPONENTS
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules


class BitboardVersus(VersusGames[BitboardGames]):
    """Play one seat on boards of up to 64 cells; the state is that of `tictactoe.batch`."""

    def __init__(self, rules: Rules, rewards: Rewards, perspective: str, seat: Seat, boards: int, by: Kernels) -> None:
        super().__init__(BitboardGames(rules, rewards, perspective, by), seat, boards)

    def set_opponent(self, opponent: str | BatchOpponent) -> None:
        """Play against another opponent from the next reply on."""
        self._opponent = opponent

    def play(self, state: batch.State, cells: Cells, over: Flags) -> Results:
        """Return what the agent's moves and the replies to them do."""
        own = self._both.play(state, cells, over)
        spared = own.terminated | over
        reply = self._reply(own.state, spared)
        lost = (reply.winner != self.seats) & reply.terminated & ~reply.illegal & (reply.winner >= 0)
        after = self.start(reply.state, over) if np.count_nonzero(over) else reply.state
        return Results(
            after,
            np.where(lost, own.reward + self._both.rewards.loss, own.reward),
            own.terminated | reply.terminated,
            np.maximum(own.winner, reply.winner),
            own.illegal | reply.illegal,
        )

    def look(self, state: batch.State, over: Flags, boards: Boards = EVERY) -> tuple[Planes, Planes]:
        """Return the one-hot planes as the agent's seat sees them, and the action masks."""
        # After a game's last move the opponent may be the one to move; the agent still sees its own marks as mine.
        first_seat = self.seats if self._both.perspective == "mover" else np.zeros(len(over), np.int64)
        return self._both.seen(state, first_seat, over, boards)

    def _first_replies(self, state: batch.State, due: Flags) -> tuple[batch.State, Flags]:
        reply = self._reply(state, ~due)
        return reply.state, reply.terminated

    def _reply(self, state: batch.State, spared: Flags) -> Results:
        """Let the opponent move on all boards but the spared ones, on which nothing happens."""
        both = self._both
        cells = self._opponents_cells(state, spared)
        return both.kernels.play(both.rules, both.rewards, state, cells, spared, False)

    def _opponents_cells(self, state: batch.State, spared: Flags) -> Cells:
        both, opponent = self._both, self._opponent
        if isinstance(opponent, str):
            choices = OPPONENTS[opponent](both.rules, state.mover, state.opponent).astype(np.int64, copy=False)
            chosen: Cells = both.kernels.choose(both.rules.cells, choices, self.generator.random(len(spared)))
            return chosen
        cells = np.zeros(len(spared), np.int64)
        asked = (~spared).nonzero()[0]
        if len(asked):
            cells[asked] = answers(opponent, *both.look(state, np.zeros(len(spared), bool), asked))
        return cells
