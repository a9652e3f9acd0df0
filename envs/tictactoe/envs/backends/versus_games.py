"""What the versus view asks of its games, however their boards are held: an opponent inside answers one seat."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import gymnasium
import numpy as np

from tictactoe.actions import checked_cells
from tictactoe.envs.backends.games import Cells, Flags, Games, Planes, Start

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


Both = TypeVar("Both", bound=Games)


class VersusGames(Games, Generic[Both]):
    """Play one seat on every board and let an opponent answer; the state is that of `both`, which play both seats."""

    def __init__(self, both: Both, seat: Seat, boards: int) -> None:
        self.generator = np.random.default_rng()
        self.seats: Cells = np.zeros(boards, np.int64)
        self._both = both
        self._seat = seat
        self.set_opponent("random")

    @abstractmethod
    def set_opponent(self, opponent: str | BatchOpponent) -> None:
        """Play against another opponent from the next reply on."""

    @abstractmethod
    def _first_replies(self, state: Any, due: Flags) -> tuple[Any, Flags]:
        """Return the state in which the opponent has moved on the boards that are due, and where that ended a game."""

    def empty_boards(self, number: int) -> Any:
        """Return the state of so many empty boards."""
        return self._both.empty_boards(number)

    def start(self, state: Any, chosen: Flags, start: Start | None = None) -> Any:
        """Return the state with new games on the chosen boards, in which an opponent that is to move has moved."""
        begun = self._both.start(state, chosen, start)
        if start is None and self._seat == 0 and not np.count_nonzero(self.seats):
            return begun
        seats = seats_of_new_games(self._seat, self.seats, chosen, start, self.generator)
        due = chosen & (self._both.to_play(begun) != seats)
        if due.any():
            begun, ended = self._first_replies(begun, due)
            check_going_on(ended)
        self.seats = seats  # only now, for an opponent that fails leaves every game as it was
        return begun

    def abandoned(self, state: Any, chosen: Flags) -> Any:
        """Return the state in which the chosen games are over without a result."""
        return self._both.abandoned(state, chosen)

    def to_play(self, state: Any) -> Cells:
        """Return the seat to move, the agent's while the game goes on."""
        return self._both.to_play(state)

    def marks(self, state: Any) -> tuple[Cells, Cells]:
        """Return the bitboards of X and of O."""
        return self._both.marks(state)
