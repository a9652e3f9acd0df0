"""What the backends of the vector environments share: what the last ply of each board led to."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe import batch
from tictactoe.arrays import read_only
from tictactoe.rewards import Rewards
from tictactoe.rules import RESULTS, WINNERS, Event, Rules

Flags: TypeAlias = NDArray[np.bool_]
Cells: TypeAlias = NDArray[np.int64]
Planes: TypeAlias = NDArray[np.int8]
Amounts: TypeAlias = NDArray[np.float64]

State: TypeAlias = NDArray[np.int64]
"""`N` boards as a backend holds them, [N] or [n, N]; zeros are empty boards."""
Reply: TypeAlias = Callable[[State, np.random.Generator], State]
"""A function that returns the state after the opponent's moves; a finished game stays as it is."""


class Games(ABC):
    """Games on many boards of the same rules.

    Each board of a state has a code, and the arrays below say by code what its last ply led to. `event` and `to_play`
    have an element for each code; code 0 is that of an empty board.
    """

    def __init__(self, rules: Rules, rewards: Rewards, perspective: str, event: Cells, to_play: Cells) -> None:
        self.rules = rules
        self.perspective = perspective
        self.to_play = to_play
        """The seat to move."""
        self.finished: Flags = read_only(event > Event.ALLOW)
        """Whether the game is over."""
        self.illegal: Flags = read_only(event == Event.ILLEGAL)
        """Whether a taken cell ended the game."""
        acted = np.where(self.illegal, to_play, 1 - to_play)
        self.winner: Cells = read_only(np.array(WINNERS)[event, acted])
        """0, 1, or -1 for none."""
        both = np.array([rewards.of_event[event] for event in RESULTS])
        self.reward, self.other_reward = (read_only(of_seat[event]) for of_seat in both.T)
        """The rewards of the seat that made the ply and of the other one."""
        self.replies_pay = bool(self.other_reward.any())
        """Whether some ply pays the seat that did not make it."""

    @abstractmethod
    def code(self, state: State) -> Cells:
        """Return the code of each board, [N]."""

    @abstractmethod
    def at(self, position: batch.State) -> State:
        """Return the state of unfinished positions."""

    @abstractmethod
    def position(self, state: State) -> batch.State:
        """Return the bitboards of the boards, also of games that are over."""

    @abstractmethod
    def move(self, state: State, cells: Cells) -> State:
        """Return the state after one ply on each board, [N]; the board of a finished game is emptied instead."""

    @abstractmethod
    def built_in(self, opponent: str) -> Reply:
        """Return how a built-in opponent replies."""

    @abstractmethod
    def look(self, state: State, seats: Cells | None) -> tuple[Planes, Planes]:
        """Return what these seats see, [N, R, C, 3], and the action masks, [N, A], all ones where the game is over.

        If `seats` is None, return what the seats to move see.
        """
