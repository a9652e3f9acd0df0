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
Amounts: TypeAlias = NDArray[np.float64]

Boards: TypeAlias = slice | NDArray[np.intp]
"""All boards, or the numbers of some."""
EVERY = slice(None)

Seat: TypeAlias = int | Literal["random"]
BatchOpponent: TypeAlias = Callable[[Planes, Planes], Any]
"""A function from the opponent's observations of M boards, [M, R, C, 3], and action masks [M, A] to cells [M]."""


class Results(NamedTuple):
    """The results of one step on all boards, before any of them starts a new game."""

    state: Any
    reward: Amounts
    """[N]: the reward of the seat or agent that moved."""
    terminated: Flags
    """[N]: the game is over."""
    winner: Cells
    """[N]: 0, 1, or -1 for none."""
    illegal: Flags
    """[N]: a taken cell ended the game."""


class Start(NamedTuple):
    """Where new games start."""

    position: batch.State
    """The positions; ignored on boards without a new game."""
    seats: Cells | None
    """[N]: the agent's seat in a versus environment; None for the seat of the settings."""


class Games(ABC):
    """`N` games: the caller plays both seats, or one seat while an opponent plays the other.

    The vector environment keeps the `state`, which each backend defines, and passes it to every call.
    """

    def __init__(
        self, rules: Rules, rewards: Rewards, perspective: str, num_envs: int, seat: Seat | None, truncates: bool
    ) -> None:
        self.rules = rules
        self.rewards = rewards
        self.perspective = perspective
        self.seat = seat
        """The setting: the agent's seat, or None if the caller plays both seats."""
        self.truncates = truncates
        """Whether games can be truncated."""
        self.seats: Cells = np.zeros(num_envs, np.int64)
        """[N]: the agent's seat in each game."""
        self.generator = np.random.default_rng()
        self.opponent: Any = None

    def set_opponent(self, opponent: str | BatchOpponent) -> None:
        """Set the opponent from the next reply on."""
        self.opponent = opponent

    @abstractmethod
    def empty_boards(self) -> Any:
        """Return the state of empty boards."""

    @abstractmethod
    def place(self, state: Any, chosen: Flags, start: Start | None) -> Any:
        """Return the state with new games on the chosen boards, [N], before any move of the opponent."""

    @abstractmethod
    def play(self, state: Any, cells: Cells, over: Flags) -> Results:
        """Return the results of the moves [N] and of the replies; where a game was `over`, [N], a new one starts."""

    @abstractmethod
    def reply(self, state: Any, due: Flags) -> tuple[Any, Flags]:
        """Return the state after the opponent's moves on the boards that are due, [N], and which games they ended.

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
        """Return the bitboards of the boards, also of games that are over."""

    def start(self, state: Any, chosen: Flags, start: Start | None = None) -> Any:
        """Return the state with new games on the chosen boards, [N], after the opponent's first moves.

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
        self.seats = seats  # only now: an opponent that fails must leave every game as it was
        return begun


def ask(opponent: BatchOpponent, seen: Planes, mask: Planes) -> Cells:
    """Return the cells, [M] int64, that an opponent's function chooses.

    Raises:
        gymnasium.error.InvalidAction: they are not one cell for each board.
    """
    boards, cells = mask.shape
    try:
        return checked_cells(cells, opponent(seen, mask), boards)
    except InvalidAction as error:
        raise InvalidAction(f"the opponent's {error}") from None
