"""The games of a vector environment: how the state of `N` boards is held, moved and looked at.

`BitboardGames` computes a ply on bitboards. `TabledGames` looks it up, which takes a third of the time, for boards
of so few cells that all their positions fit a small table. Both answer the same questions, and what they
answer is tested equal at every ply.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe import batch, planes
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules
from tictactoe.tree import game_tree, read_only

Flags: TypeAlias = NDArray[np.bool_]
Cells: TypeAlias = NDArray[np.int64]
Planes: TypeAlias = NDArray[np.int8]

Boards: TypeAlias = slice | NDArray[np.intp]
"""Every board, or the numbers of some."""
EVERY = slice(None)

TABLED_CELLS = 9
"""Up to this board size `TabledGames` holds every position: 5,478 of tic-tac-toe, each twice."""


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


class Games(Protocol):
    """Answer what a vector environment asks of its boards; a `state` is whatever the implementation holds."""

    def empty_boards(self, number: int) -> Any:
        """Return the state of so many empty boards."""

    def start(self, state: Any, chosen: Flags) -> Any:
        """Return the state with new games on the `chosen` boards, [N]."""

    def play(self, state: Any, cells: Cells, over: Flags) -> Results:
        """Return what the moves [N] do; on boards whose game was over already, a new one starts instead."""

    def observe(self, state: Any, boards: Boards = EVERY) -> Planes:
        """Return the one-hot planes of some boards, [len(boards), R, C, 3]."""

    def action_mask(self, state: Any, over: Flags) -> Planes:
        """Return the empty cells, [N, A], and every cell of the boards whose game is over."""

    def to_play(self, state: Any) -> Cells:
        """Return the seat to move, [N]."""

    def marks(self, state: Any) -> tuple[Cells, Cells]:
        """Return the bitboards of X and of O, [N] each."""


def restarted(results: Results, over: Flags, state: Any) -> Results:
    """Return the results where the game was not over, and elsewhere the `state` of a new game and no reward."""
    going_on = ~over
    return Results(
        state,
        np.where(over, 0.0, results.reward),
        results.terminated & going_on,
        results.winner,
        results.illegal & going_on,
    )


@dataclass(frozen=True)
class BitboardGames:
    """Play both seats on boards of up to 64 cells; the state is that of `tictactoe.batch`."""

    rules: Rules
    rewards: Rewards
    perspective: str

    def empty_boards(self, number: int) -> batch.State:
        """Return the state of so many empty boards."""
        return batch.reset(self.rules, number, np)

    def start(self, state: batch.State, chosen: Flags) -> batch.State:
        """Return the state with new games on the chosen boards."""
        return batch.restart(state, chosen)

    def play(self, state: batch.State, cells: Cells, over: Flags) -> Results:
        """Return what the moves do."""
        outcome = batch.play(self.rules, state, cells)
        results = Results(
            outcome.state,
            batch.reward(self.rewards, outcome),
            outcome.terminated,
            batch.winner(state.to_play, outcome),
            outcome.illegal,
        )
        return restarted(results, over, batch.restart(outcome.state, over)) if over.any() else results

    def observe(self, state: batch.State, boards: Boards = EVERY) -> Planes:
        """Return the one-hot planes."""
        chosen = batch.State(*(field[boards] for field in state))
        seen: Planes = batch.observe(self.rules, chosen, self.perspective)
        return seen

    def action_mask(self, state: batch.State, over: Flags) -> Planes:
        """Return the action masks."""
        empty = self.rules.empty_cells(state.mover, state.opponent)
        mask: Planes = planes.bits(self.rules.cells, np.where(over, self.rules.full_word, empty)).view(np.int8)
        return mask

    def to_play(self, state: batch.State) -> Cells:
        """Return the seat to move."""
        seat: Cells = state.to_play
        return seat

    def marks(self, state: batch.State) -> tuple[Cells, Cells]:
        """Return the bitboards of X and of O."""
        x_first = batch.where(state.to_play == 1, batch.State(state.opponent, state.mover, state.ply), state)
        return x_first.mover, x_first.opponent


class TabledGames:
    """Play both seats on boards of up to 9 cells; the state is the row of each position, [N] int64."""

    def __init__(self, rules: Rules, rewards: Rewards, perspective: str) -> None:
        self._cells = rules.cells
        self._shape = (-1, rules.rows, rules.cols, 3)
        self._table = position_table(rules, perspective)
        values = np.array([0.0, rewards.allow, rewards.draw, rewards.win, rewards.illegal])
        self._reward = read_only(values[self._table.led_to])

    def empty_boards(self, number: int) -> Cells:
        """Return the state of so many empty boards."""
        return np.zeros(number, np.int64)

    def start(self, state: Cells, chosen: Flags) -> Cells:
        """Return the state with new games on the chosen boards."""
        return np.where(chosen, 0, state)

    def play(self, state: Cells, cells: Cells, over: Flags) -> Results:  # noqa: ARG002 (the table starts new games)
        """Return what the moves do."""
        table = self._table
        move = state * self._cells
        move += cells
        # Rows and cells are right by construction; in this mode NumPy takes them without a check beforehand.
        after = table.following.take(move, mode="clip").astype(np.int64)
        return Results(
            after,
            self._reward.take(after, mode="clip"),
            table.finished.take(after, mode="clip"),
            table.winner.take(after, mode="clip"),
            after >= table.first_illegal,
        )

    def observe(self, state: Cells, boards: Boards = EVERY) -> Planes:
        """Return the one-hot planes."""
        return self._table.seen.take(state[boards], mode="clip").view(np.int8).reshape(self._shape)

    def action_mask(self, state: Cells, over: Flags) -> Planes:  # noqa: ARG002 (the row knows whether it is over)
        """Return the action masks."""
        return self._table.mask.take(state, mode="clip").view(np.int8).reshape(-1, self._cells)

    def to_play(self, state: Cells) -> Cells:
        """Return the seat to move."""
        return self._table.to_play.take(state, mode="clip")

    def marks(self, state: Cells) -> tuple[Cells, Cells]:
        """Return the bitboards of X and of O."""
        return self._table.x_marks.take(state, mode="clip"), self._table.o_marks.take(state, mode="clip")


ONGOING, ALLOW, DRAW, WIN, ILLEGAL = range(5)
"""What a move leads to, as numbers in `PositionTable.led_to`."""


class PositionTable(NamedTuple):
    """Hold every position of a board in which a move can be made or a game has ended, a row each.

    Row 0 is the empty board. From `first_illegal` on the positions come a second time: as what is left when a
    game ended there by a taken cell. `P` is the number of rows.
    """

    first_illegal: int
    following: NDArray[np.uint16]
    """[P * A]: the row behind each move, which is row 0 behind a finished game."""
    led_to: NDArray[np.int8]
    """[P]: what the move that has led here led to; nothing has led to row 0 but a new game."""
    finished: Flags
    """[P]"""
    winner: Cells
    """[P]: 0, 1, or -1 for none."""
    to_play: Cells
    """[P]"""
    seen: NDArray[np.void]
    """[P]: the one-hot planes, the bytes of a row as one element."""
    mask: NDArray[np.void]
    """[P]: the action mask, the bytes of a row as one element."""
    x_marks: Cells
    """[P]: bitboards."""
    o_marks: Cells
    """[P]: bitboards."""


@lru_cache(maxsize=8)
def position_table(rules: Rules, perspective: str) -> PositionTable:
    """Return the table of a small board."""
    tree = game_tree(rules)
    mover, opponent = tree.mover.astype(np.int64), tree.opponent.astype(np.int64)
    number = len(tree)
    empty = rules.empty_cells(mover, opponent)
    finished = np.concatenate([tree.finished, np.ones(number, bool)])

    # A finished game leads to a new one, row 0; a taken cell leads to the position's second row.
    following = np.zeros((2 * number, rules.cells), np.uint16)
    legal = tree.successors(tree.decisions)
    following[tree.decisions] = np.where(legal >= 0, legal, number + tree.decisions[:, None])
    can_win = (rules.winning_cells(mover) & empty) != 0
    led_to = np.where(tree.finished, np.where(tree.lost, WIN, DRAW), np.where(can_win, ALLOW, ONGOING))
    led_to[0] = ONGOING

    seat = tree.ply & 1
    lost = np.where(tree.lost, 1 - seat, -1)
    state = batch.State(mover, opponent, tree.ply)
    all_empty = np.where(finished, rules.full_word, np.tile(empty, 2))
    return PositionTable(
        number,
        read_only(following.ravel()),
        read_only(np.concatenate([led_to, np.full(number, ILLEGAL)]).astype(np.int8)),
        read_only(finished),
        read_only(np.concatenate([lost, 1 - seat])),
        read_only(np.tile(seat, 2)),
        planes.rows_of_bytes(np.tile(batch.observe(rules, state, perspective), (2, 1, 1, 1))),
        planes.rows_of_bytes(planes.bits(rules.cells, all_empty)),
        read_only(np.tile(np.where(seat == 0, mover, opponent), 2)),
        read_only(np.tile(np.where(seat == 0, opponent, mover), 2)),
    )
