"""The backend for small boards: a table holds every position and every reply of a built-in opponent.

A ply is then a few look-ups. That takes a third of the time of computing it on many boards, and a tenth on few.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tictactoe import batch, planes
from tictactoe.arrays import read_only
from tictactoe.gym.games import (
    EVERY,
    BatchOpponent,
    Boards,
    Cells,
    Flags,
    Games,
    Planes,
    Results,
    Seat,
    Start,
    ask,
)
from tictactoe.opponents import OPPONENTS
from tictactoe.rewards import Rewards
from tictactoe.rules import NOBODY, RESULTS, Event, Rules
from tictactoe.tree import game_tree

TABLE_CELLS = 9
"""Largest board with a table, in cells: tic-tac-toe has 5,478 positions, each twice in the table."""


class PositionTable(NamedTuple):
    """Every reachable position of a board, one row each.

    Row 0 is the empty board. The second half repeats the positions for games that a taken cell ended there. `P` is the
    number of rows.
    """

    following: Cells
    """[P * A]: the row after each move; row 0 after a finished game."""
    event: Cells
    """[P]: what the ply led to that made this position, numbers of `Event`."""
    finished: Flags
    """[P]: the game is over."""
    illegal: Flags
    """[P]: a taken cell ended the game."""
    winner: Cells
    """[P]: 0, 1, or -1 for none."""
    to_play: Cells
    """[P]: the seat to move."""
    seen: Planes
    """[2 * P, R, C, 3]: the one-hot planes as seat 0 sees them, then as seat 1 does."""
    mask: Planes
    """[P, A]: 1 for each empty cell, all ones when the game is over."""


@lru_cache(maxsize=8)
def position_table(rules: Rules) -> PositionTable:
    """Return the table of a small board: every move in every position, played by `tictactoe.batch`."""
    tree = game_tree(rules)
    number, decisions = len(tree), tree.decisions
    positions = batch.State(tree.mover.astype(np.int64), tree.opponent.astype(np.int64), tree.ply)
    before = batch.State(*(field[decisions] for field in positions))

    following = np.zeros((2 * number, rules.cells), np.int64)  # a finished game leads to a new one, row 0
    event = np.full(2 * number, Event.ONGOING, np.int64)
    winner = np.full(2 * number, NOBODY, np.int64)
    for cell in range(rules.cells):
        outcome = batch.play(rules, before, np.full(len(decisions), cell))
        after = tree.find(outcome.state.mover, outcome.state.opponent) + number * outcome.illegal
        following[decisions, cell] = after
        event[after] = outcome.event
        winner[after] = batch.winner(before.to_play, outcome)

    finished = event > Event.ALLOW
    empty = np.tile(rules.legal_cells(positions.mover, positions.opponent), 2)
    mask = planes.bits(rules.cells, np.where(finished, rules.full_word, empty)).view(np.int8)
    by_first = np.tile(batch.observe(rules, positions), (2, 1, 1, 1))
    return PositionTable(
        read_only(following.ravel()),
        read_only(event),
        read_only(finished),
        read_only(event == Event.ILLEGAL),
        read_only(winner),
        read_only(np.tile(positions.to_play, 2)),
        read_only(np.concatenate([by_first, by_first[..., [0, 2, 1]]])),
        read_only(mask),
    )


class Replies(NamedTuple):
    """The replies of a built-in opponent; `P` is the number of rows of the position table."""

    number: NDArray[np.float64]
    """[P]: the number of cells among which it chooses; 1 if the game is over."""
    after: Cells
    """[P * A]: the row after each of its choices, in the order of cells; the row itself if the game is over."""


@lru_cache(maxsize=32)
def replies(rules: Rules, opponent: str) -> Replies:
    """Return the replies of an opponent in every position of a small board."""
    table, tree = position_table(rules), game_tree(rules)
    rows = len(table.finished)
    number = np.ones(rows)
    after = np.zeros((rows, rules.cells), np.int64)
    after[:, 0] = np.arange(rows)
    decisions = tree.decisions
    mover, opposite = (marks[decisions].astype(np.int64) for marks in (tree.mover, tree.opponent))
    chosen = planes.bits(rules.cells, OPPONENTS[opponent].choices(rules, mover, opposite).astype(np.int64))
    number[decisions] = chosen.sum(axis=1)
    # The chosen cells first; both parts in the order of cells.
    order = np.argsort(~chosen, axis=1, kind="stable")
    after[decisions] = table.following[decisions[:, None] * rules.cells + order]
    return Replies(read_only(number), read_only(after.ravel()))


class TableGames(Games):
    """Games on boards of up to 9 cells; the state is the row of each position, [N] int64.

    On few boards the number of NumPy calls takes the time, not their work. So each look-up is the cheapest kind: an
    index for one number of each row, and `take` for a row of bytes. Its mode `"clip"` skips a check of the indices.
    """

    def __init__(
        self, rules: Rules, rewards: Rewards, perspective: str, num_envs: int, seat: Seat | None, truncates: bool
    ) -> None:
        super().__init__(rules, rewards, perspective, num_envs, seat, truncates)
        self.table = table = position_table(rules)
        # As an array: NumPy takes twice as long to multiply an array by a Python number.
        self.cells = np.array(rules.cells)
        both = np.array([rewards.of_event[event] for event in RESULTS])
        self.reward, self.other_reward = (read_only(of_seat[table.event]) for of_seat in both.T)
        self.replies_pay = bool(self.other_reward.any())
        """Whether some ply pays the seat that did not make it."""
        rows = len(table.finished)
        # What the mover sees; with perspective "mover" each seat has its own view.
        views = np.where(perspective == "mover", table.to_play, 0)
        self.seen_by_mover = read_only(table.seen[np.arange(rows) + rows * views])

    def set_opponent(self, opponent: str | BatchOpponent) -> None:
        """Set the opponent from the next reply on."""
        self.opponent = replies(self.rules, opponent) if isinstance(opponent, str) else opponent

    def empty_boards(self) -> Cells:
        """Return the state of empty boards."""
        return np.zeros(len(self.seats), np.int64)

    def place(self, state: Cells, chosen: Flags, start: Start | None) -> Cells:
        """Return the state with new games on the chosen boards."""
        begun = state.copy()
        begun[chosen] = 0 if start is None else game_tree(self.rules).find(*start.position[:2])[chosen]
        return begun

    def play(self, state: Cells, cells: Cells, over: Flags) -> Results:
        """Return the results of the moves and of the replies to them."""
        table = self.table
        own = after = table.following[state * self.cells + cells]
        if self.truncates:  # finished games lead to row 0 by themselves
            own[over] = 0
        reward = self.reward[own]
        if self.seat is not None:
            after = self._replied(own, over)
            if np.count_nonzero(over):
                after[over] = self.start(own, over)[over]
            if self.replies_pay:
                reward = reward + np.where(after != own, self.other_reward[after], 0.0)
        return Results(after, reward, table.finished[after], table.winner[after], table.illegal[after])

    def reply(self, state: Cells, due: Flags) -> tuple[Cells, Flags]:
        """Return the state after the opponent's moves where they are due, and which games they ended."""
        replied = np.where(due, self._replied(state, ~due), state)
        return replied, due & self.table.finished[replied]

    def _replied(self, state: Cells, spared: Flags) -> Cells:
        """Return the state after the opponent's moves; it has no meaning on the spared boards."""
        opponent = self.opponent
        if isinstance(opponent, Replies):
            choice = self.generator.random(len(state)) * opponent.number[state]
            replied: Cells = opponent.after[state * self.cells + choice.astype(np.int64)]
            return replied
        after = state.copy()
        due = ~(spared | self.table.finished[state])
        if due.any():
            rows = state[due]
            cells = ask(opponent, self.seen_by_mover[rows], self.table.mask[rows])
            after[due] = self.table.following[rows * self.cells + cells]
        return after

    def look(self, state: Cells, over: Flags, boards: Boards = EVERY) -> tuple[Planes, Planes]:  # noqa: ARG002 (rows tell)
        """Return the one-hot planes and the action masks."""
        table = self.table
        rows = state if boards is EVERY else state[boards]
        if self.seat is None or self.perspective == "absolute":
            seen = self.seen_by_mover.take(rows, 0, None, "clip")
        else:
            seen = table.seen.take(rows + self.seats[boards] * len(table.finished), 0, None, "clip")
        return seen, table.mask.take(rows, 0, None, "clip")

    def to_play(self, state: Cells) -> Cells:
        """Return the seat to move."""
        seat: Cells = self.table.to_play[state]
        return seat

    def position(self, state: Cells) -> batch.State:
        """Return the bitboards of the boards."""
        tree = game_tree(self.rules)
        states = state % len(tree)
        return batch.State(tree.mover[states], tree.opponent[states], self.to_play(state))
