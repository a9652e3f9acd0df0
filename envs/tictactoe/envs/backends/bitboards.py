"""The games of a vector environment on bitboards, for boards of up to 64 cells."""

from dataclasses import dataclass

import numpy as np

from tictactoe import batch
from tictactoe.envs.backends.games import EVERY, Boards, Cells, Flags, Planes, Results, Start
from tictactoe.envs.backends.kernels import Kernels
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules


@dataclass(frozen=True)
class BitboardGames:
    """Play both seats; the state is that of `tictactoe.batch`."""

    rules: Rules
    rewards: Rewards
    perspective: str
    kernels: Kernels

    def empty_boards(self, number: int) -> batch.State:
        """Return the state of so many empty boards."""
        return batch.reset(self.rules, number, np)

    def start(self, state: batch.State, chosen: Flags, start: Start | None = None) -> batch.State:
        """Return the state with new games on the chosen boards."""
        return batch.restart(state, chosen) if start is None else batch.where(chosen, start.position, state)

    def play(self, state: batch.State, cells: Cells, over: Flags) -> Results:
        """Return what the moves do."""
        return self.kernels.play(self.rules, self.rewards, state, cells, over, True)

    def abandoned(self, state: batch.State, chosen: Flags) -> batch.State:  # noqa: ARG002 (the caller keeps which)
        """Return the state as it is: whose game is over is told to each call that needs it."""
        return state

    def look(self, state: batch.State, over: Flags, boards: Boards = EVERY) -> tuple[Planes, Planes]:
        """Return the one-hot planes and the action masks."""
        first_seat = state.to_play if self.perspective == "mover" else np.zeros(len(over), np.int64)
        return self.seen(state, first_seat, over, boards)

    def seen(self, state: batch.State, first_seat: Cells, over: Flags, boards: Boards) -> tuple[Planes, Planes]:
        """Return the planes with the marks of `first_seat` [N] in plane 1, and the action masks."""
        if boards is not EVERY:
            state, first_seat, over = batch.State(*(field[boards] for field in state)), first_seat[boards], over[boards]
        return self.kernels.look(self.rules, state, first_seat, over)

    def to_play(self, state: batch.State) -> Cells:
        """Return the seat to move."""
        seat: Cells = state.to_play
        return seat

    def marks(self, state: batch.State) -> tuple[Cells, Cells]:
        """Return the bitboards of X and of O."""
        x_first = batch.where(state.to_play == 1, batch.State(state.opponent, state.mover, state.ply), state)
        return x_first.mover, x_first.opponent
