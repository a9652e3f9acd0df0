"""The games of a vector environment on boards so small that a table holds every position.

A ply is then a few look-ups, which take a third of the time of computing it on many boards, and a tenth on few.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tictactoe import planes
from tictactoe.envs.backends.games import EVERY, Boards, Cells, Flags, Planes, Results, Start
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules
from tictactoe.tree import game_tree, read_only

TABLED_CELLS = 9
"""Up to this board size there is a table: 5,478 positions of tic-tac-toe, each twice."""

ONGOING, ALLOW, DRAW, WIN, ILLEGAL = range(5)
"""What a move leads to, as numbers in `PositionTable.led_to`."""


class PositionTable(NamedTuple):
    """Hold every position of a board in which a move can be made or a game has ended, a row each.

    Row 0 is the empty board. From `first_over` on the positions come a second time: as what is left when a
    game ended there without a move, by a taken cell or a limit of steps. `P` is the number of rows.
    """

    first_over: int
    following: Cells
    """[P * A]: the row behind each move, which is row 0 behind a finished game."""
    led_to: NDArray[np.int8]
    """[P]: what the move that has led here led to; nothing has led to row 0 but a new game."""
    finished: Flags
    """[P]"""
    illegal: Flags
    """[P]: the game ended by a taken cell."""
    winner: Cells
    """[P]: 0, 1, or -1 for none."""
    to_play: Cells
    """[P]"""
    seen: Planes
    """[2 * P, R, C, 3]: the one-hot planes as seat 0 sees them, and then as seat 1 does."""
    mask: Planes
    """[P, A]"""
    x_marks: Cells
    """[P]: bitboards."""
    o_marks: Cells
    """[P]: bitboards."""


@lru_cache(maxsize=8)
def position_table(rules: Rules) -> PositionTable:
    """Return the table of a small board."""
    tree = game_tree(rules)
    mover, opponent = tree.mover.astype(np.int64), tree.opponent.astype(np.int64)
    number = len(tree)
    empty = rules.empty_cells(mover, opponent)
    finished = np.concatenate([tree.finished, np.ones(number, bool)])

    # A finished game leads to a new one, row 0; a taken cell leads to the position's second row.
    following = np.zeros((2 * number, rules.cells), np.int64)
    legal = tree.successors(tree.decisions)
    following[tree.decisions] = np.where(legal >= 0, legal, number + tree.decisions[:, None])
    can_win = (rules.winning_cells(mover) & empty) != 0
    led_to = np.where(tree.finished, np.where(tree.lost, WIN, DRAW), np.where(can_win, ALLOW, ONGOING))
    led_to[0] = ONGOING

    seat = tree.ply & 1
    x_marks, o_marks = np.where(seat == 0, mover, opponent), np.where(seat == 0, opponent, mover)
    seen = [planes.one_hot(rules.cells, *marks) for marks in ((x_marks, o_marks), (o_marks, x_marks))]
    all_empty = np.where(finished, rules.full_word, np.tile(empty, 2))
    return PositionTable(
        number,
        read_only(following.ravel()),
        read_only(np.concatenate([led_to, np.full(number, ILLEGAL)]).astype(np.int8)),
        read_only(finished),
        read_only(np.repeat([False, True], number)),
        read_only(np.concatenate([np.where(tree.lost, 1 - seat, -1), 1 - seat])),
        read_only(np.tile(seat, 2)),
        read_only(np.concatenate([seen[0], seen[0], seen[1], seen[1]]).reshape(-1, rules.rows, rules.cols, 3)),
        read_only(planes.bits(rules.cells, all_empty).view(np.int8)),
        read_only(np.tile(x_marks, 2)),
        read_only(np.tile(o_marks, 2)),
    )


class TabledGames:
    """Play both seats on boards of up to 9 cells; the state is the row of each position, [N] int64.

    On few boards the time goes into the number of NumPy's calls and not into their work, so each look-up is of the
    kind that costs least: an index for one number a row, and `take` for a row of bytes, told (`"clip"`) not to check
    beforehand what is right by construction.
    """

    def __init__(self, rules: Rules, rewards: Rewards, perspective: str) -> None:
        self.rules = rules
        self.table = table = position_table(rules)
        # As an array: NumPy takes twice as long for an array by a Python number as for one by another array.
        self.cells = np.array(rules.cells)
        values = np.array([0.0, rewards.allow, rewards.draw, rewards.win, rewards.illegal])
        self.reward = read_only(values[table.led_to])
        rows = len(table.finished)
        # What the mover sees: its own view where there are two.
        views = np.where(perspective == "mover", table.to_play, 0)
        self.seen_by_mover = read_only(table.seen[np.arange(rows) + rows * views])

    def empty_boards(self, number: int) -> Cells:
        """Return the state of so many empty boards."""
        return np.zeros(number, np.int64)

    def start(self, state: Cells, chosen: Flags, start: Start | None = None) -> Cells:
        """Return the state with new games on the chosen boards."""
        begun = state.copy()
        if start is None:
            begun[chosen] = 0
        else:
            begun[chosen] = game_tree(self.rules).find(start.position.mover, start.position.opponent)[chosen]
        return begun

    def after(self, state: Cells, cells: Cells) -> Cells:
        """Return the rows behind the moves."""
        behind: Cells = self.table.following[state * self.cells + cells]
        return behind

    def play(self, state: Cells, cells: Cells, over: Flags) -> Results:  # noqa: ARG002 (the table starts new games)
        """Return what the moves do."""
        after = self.after(state, cells)
        return self.results(after, self.reward[after])

    def results(self, after: Cells, reward: NDArray[np.float64]) -> Results:
        """Return the results of moves that led to these rows."""
        table = self.table
        return Results(
            after,
            reward,
            table.finished[after],
            table.winner[after],
            table.illegal[after],
        )

    def abandoned(self, state: Cells, chosen: Flags) -> Cells:
        """Return the state in which the chosen games are over without a result."""
        return np.where(chosen & (state < self.table.first_over), state + self.table.first_over, state)

    def look(self, state: Cells, over: Flags, boards: Boards = EVERY) -> tuple[Planes, Planes]:  # noqa: ARG002 (as above)
        """Return the one-hot planes and the action masks."""
        rows = state if boards is EVERY else state[boards]
        return self.seen_by_mover.take(rows, 0, None, "clip"), self.table.mask.take(rows, 0, None, "clip")

    def to_play(self, state: Cells) -> Cells:
        """Return the seat to move."""
        seat: Cells = self.table.to_play[state]
        return seat

    def marks(self, state: Cells) -> tuple[Cells, Cells]:
        """Return the bitboards of X and of O."""
        return self.table.x_marks[state], self.table.o_marks[state]
