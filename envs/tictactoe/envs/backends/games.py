"""What a vector environment asks of its games: how the state of `N` boards is started, moved and looked at.

`bitboards.py` computes a ply on bitboards, for boards of up to 64 cells. `tables.py` looks it up on boards
so small that a table holds all positions. What both answer is tested equal at every ply. `versus_games.py` and the two
beside it let an opponent answer in them.
"""

from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe import batch

Flags: TypeAlias = NDArray[np.bool_]
Cells: TypeAlias = NDArray[np.int64]
Planes: TypeAlias = NDArray[np.int8]

Boards: TypeAlias = slice | NDArray[np.intp]
"""Every board, or the numbers of some."""
EVERY = slice(None)


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
    """Say from where new games start, where that is not an empty board."""

    position: batch.State
    """The positions, those of boards without a new game included."""
    seats: Cells | None
    """[N]: the seat that the agent plays in the versus view; None leaves it to the setting."""


class Games(Protocol):
    """Answer what a vector environment asks of its boards; a `state` is whatever the implementation holds."""

    def empty_boards(self, number: int) -> Any:
        """Return the state of so many empty boards."""

    def start(self, state: Any, chosen: Flags, start: Start | None = None) -> Any:
        """Return the state with new games on the `chosen` boards, [N]."""

    def play(self, state: Any, cells: Cells, over: Flags) -> Results:
        """Return what the moves [N] do; on boards whose game was over already, a new one starts instead."""

    def abandoned(self, state: Any, chosen: Flags) -> Any:
        """Return the state in which the game of each chosen board, [N], is over without a result."""

    def look(self, state: Any, over: Flags, boards: Boards = EVERY) -> tuple[Planes, Planes]:
        """Return the one-hot planes and the action masks of some boards; all cells where the game is over, [N].

        Of `M` boards, [M, R, C, 3] and [M, A].
        """

    def to_play(self, state: Any) -> Cells:
        """Return the seat to move, [N]."""

    def marks(self, state: Any) -> tuple[Cells, Cells]:
        """Return the bitboards of X and of O, [N] each."""
