"""The games of the versus view on many boards: one seat is played, and an opponent inside answers."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np

from tictactoe import batch
from tictactoe.actions import checked_cells
from tictactoe.faces.boards.bitboards import BitboardGames
from tictactoe.faces.boards.games import EVERY, Boards, Cells, Flags, Planes, Results, Start
from tictactoe.faces.boards.kernels import Kernels
from tictactoe.opponents import OPPONENTS
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules

BatchOpponent: TypeAlias = Callable[[Planes, Planes], Any]
"""Maps what the opponent sees on M boards, [M, R, C, 3] and action masks [M, A], to its cells, [M]."""

Seat: TypeAlias = int | Literal["random"]


def answers(opponent: BatchOpponent, seen: Planes, mask: Planes) -> Cells:
    """Return the cells of an opponent that is a function, [M] int64.

    Raises:
        gymnasium.error.InvalidAction: they are not one cell for each board.
    """
    boards, cells = mask.shape
    try:
        return checked_cells(cells, opponent(seen, mask), boards)
    except gymnasium.error.InvalidAction as error:
        raise gymnasium.error.InvalidAction(f"the opponent's {error}") from None


def check_going_on(ended: Flags) -> None:
    """Refuse first replies that ended a game.

    Raises:
        gymnasium.error.InvalidAction: one did, by a taken cell: no game starts where another could.
    """
    if ended.any():
        raise gymnasium.error.InvalidAction(
            f"the opponent's first action is a taken cell for board {ended.argmax()}, "
            "and reset cannot return a finished game"
        )


def seats_of_new_games(
    seat: Seat, seats: Cells, chosen: Flags, start: Start | None, generator: np.random.Generator
) -> Cells:
    """Return the agent's seat on each board, [N], once new games have begun on the chosen ones."""
    if start is not None and start.seats is not None:
        new = start.seats
    elif seat == "random":
        new = generator.integers(2, size=len(chosen))
    else:
        new = np.full(len(chosen), seat)
    return np.where(chosen, new, seats)


class VersusGames:
    """Play one seat on every board and let an opponent answer; the state is that of `tictactoe.batch`."""

    def __init__(self, rules: Rules, rewards: Rewards, perspective: str, seat: Seat, boards: int, by: Kernels) -> None:
        self._opponent: str | BatchOpponent = "random"
        self.generator = np.random.default_rng()
        self.seats: Cells = np.zeros(boards, np.int64)
        self._seat = seat
        self._both = BitboardGames(rules, rewards, perspective, by)

    def set_opponent(self, opponent: str | BatchOpponent) -> None:
        """Play against another opponent from the next reply on."""
        self._opponent = opponent

    def empty_boards(self, number: int) -> batch.State:
        """Return the state of so many empty boards."""
        return self._both.empty_boards(number)

    def start(self, state: batch.State, chosen: Flags, start: Start | None = None) -> batch.State:
        """Return the state with new games on the chosen boards, in which an opponent that is to move has moved."""
        seats = seats_of_new_games(self._seat, self.seats, chosen, start, self.generator)
        begun = self._both.start(state, chosen, start)
        due = chosen & (begun.to_play != seats)
        if due.any():
            reply = self._reply(begun, ~due)
            check_going_on(reply.terminated)
            begun = reply.state
        self.seats = seats  # only now, for an opponent that fails leaves every game as it was
        return begun

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

    def abandoned(self, state: batch.State, chosen: Flags) -> batch.State:
        """Return the state in which the chosen games are over without a result."""
        return self._both.abandoned(state, chosen)

    def look(self, state: batch.State, over: Flags, boards: Boards = EVERY) -> tuple[Planes, Planes]:
        """Return the one-hot planes as the agent's seat sees them, and the action masks."""
        # After a game's last move the opponent may be the one to move; the agent still sees its own marks as mine.
        first_seat = self.seats if self._both.perspective == "mover" else np.zeros(len(over), np.int64)
        return self._both.seen(state, first_seat, over, boards)

    def to_play(self, state: batch.State) -> Cells:
        """Return the seat to move, the agent's while the game goes on."""
        return self._both.to_play(state)

    def marks(self, state: batch.State) -> tuple[Cells, Cells]:
        """Return the bitboards of X and of O."""
        return self._both.marks(state)

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
