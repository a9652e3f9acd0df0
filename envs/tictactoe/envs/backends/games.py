"""The interface of the backends, and what they share: how new games start and how an opponent is asked."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from tictactoe import batch
from tictactoe.actions import checked_cells
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules

Flags: TypeAlias = NDArray[np.bool_]
Cells: TypeAlias = NDArray[np.int64]
Planes: TypeAlias = NDArray[np.int8]

Boards: TypeAlias = slice | NDArray[np.intp]
"""Every board, or the numbers of some."""
EVERY = slice(None)

Seat: TypeAlias = int | Literal["random"]
BatchOpponent: TypeAlias = Callable[[Planes, Planes], Any]
"""Maps what the opponent sees on M boards, [M, R, C, 3] and action masks [M, A], to its cells, [M]."""


class Results(NamedTuple):
    """Hold what one step did on every board, before any of them starts a new game."""

    state: Any
    reward: NDArray[np.float64]
    """[N]: to the seat or agent that acted."""
    terminated: Flags
    """[N]"""
    winner: Cells
    """[N]: 0, 1, or -1 for none."""
    illegal: Flags
    """[N]: the game ended by a taken cell."""


class Start(NamedTuple):
    """Say from where new games start."""

    position: batch.State
    """The positions; those of boards without a new game are ignored."""
    seats: Cells | None
    """[N]: the agent's seat in a versus environment; None leaves it to the setting."""


class Games(ABC):
    """Play `N` games: both seats as told, or one seat as told while an opponent plays the other.

    The vector environment keeps the `state`, which each backend defines, and passes it to every call.
    """

    def __init__(
        self, rules: Rules, rewards: Rewards, perspective: str, num_envs: int, seat: Seat | None, truncates: bool
    ) -> None:
        self.rules = rules
        self.rewards = rewards
        self.perspective = perspective
        self.seat = seat
        """The setting: the agent's seat, or None where the caller plays both."""
        self.truncates = truncates
        """Whether games can be over that are not finished."""
        self.seats: Cells = np.zeros(num_envs, np.int64)
        """[N]: the agent's seat in each game."""
        self.generator = np.random.default_rng()
        self.opponent: Any = None

    def set_opponent(self, opponent: str | BatchOpponent) -> None:
        """Play against another opponent from the next reply on."""
        self.opponent = opponent

    @abstractmethod
    def empty_boards(self) -> Any:
        """Return the state of empty boards."""

    @abstractmethod
    def place(self, state: Any, chosen: Flags, start: Start | None) -> Any:
        """Return the state with new games on the chosen boards, [N], in which no opponent has moved yet."""

    @abstractmethod
    def play(self, state: Any, cells: Cells, over: Flags) -> Results:
        """Return what the moves [N], and the replies to them, do; where a game was `over`, [N], a new one starts."""

    @abstractmethod
    def reply(self, state: Any, due: Flags) -> tuple[Any, Flags]:
        """Return the state in which the opponent has moved on the boards that are due, [N], and which games it ended.

        Games that are over are never due.
        """

    @abstractmethod
    def look(self, state: Any, over: Flags, boards: Boards = EVERY) -> tuple[Planes, Planes]:
        """Return the one-hot planes [M, R, C, 3] and the action masks [M, A], all ones where the game is over, [N]."""

    @abstractmethod
    def to_play(self, state: Any) -> Cells:
        """Return the seat to move, [N]."""

    @abstractmethod
    def position(self, state: Any) -> batch.State:
        """Return the bitboards of the boards, which also the games that are over leave behind."""

    def start(self, state: Any, chosen: Flags, start: Start | None = None) -> Any:
        """Return the state with new games on the chosen boards, [N]; an opponent that is to move has moved.

        Raises:
            gymnasium.error.InvalidAction: the opponent's first move ended a game; nothing changes.
        """
        begun = self.place(state, chosen, start)
        if self.seat is None or (start is None and self.seat == 0 and not np.count_nonzero(self.seats)):
            return begun
        new: Any = self.seat
        if start is not None and start.seats is not None:
            new = start.seats
        elif self.seat == "random":
            new = self.generator.integers(2, size=len(chosen))
        seats = np.where(chosen, new, self.seats)
        due = chosen & (self.to_play(begun) != seats)
        if due.any():
            begun, ended = self.reply(begun, due)
            if ended.any():
                raise InvalidAction(
                    f"the opponent's first action is a taken cell for board {ended.argmax()}, "
                    "and reset cannot return a finished game"
                )
        self.seats = seats  # only now: an opponent that fails leaves every game as it was
        return begun


def ask(opponent: BatchOpponent, seen: Planes, mask: Planes) -> Cells:
    """Return the cells of an opponent that is a function, [M] int64.

    Raises:
        gymnasium.error.InvalidAction: they are not one cell for each board.
    """
    boards, cells = mask.shape
    try:
        return checked_cells(cells, opponent(seen, mask), boards)
    except InvalidAction as error:
        raise InvalidAction(f"the opponent's {error}") from None
