"""The backend for small boards: a table holds every position and every reply of a built-in opponent.

A ply is then a few look-ups. That takes a third of the time of computing it on many boards, and a tenth on few.
"""

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tictactoe import batch, planes
from tictactoe.arrays import read_only
from tictactoe.gym.games import Cells, Games, Planes, Reply, State
from tictactoe.opponents import OPPONENTS
from tictactoe.rewards import Rewards
from tictactoe.rules import Event, Rules
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
    to_play: Cells
    """[P]: the seat to move."""
    seen: Planes
    """[2 * P, R, C, 3]: the one-hot planes as seat 0 sees them, then as seat 1 does."""
    mask: Planes
    """[P, A]: 1 for each legal cell, all ones when the game is over."""


@lru_cache(maxsize=8)
def position_table(rules: Rules) -> PositionTable:
    """Return the table of a small board: every move in every position, played by `tictactoe.batch`."""
    tree = game_tree(rules)
    number, decisions = len(tree), tree.decisions
    positions = batch.State(tree.mover.astype(np.int64), tree.opponent.astype(np.int64), tree.ply)
    before = batch.State(*(field[decisions] for field in positions))

    following = np.zeros((2 * number, rules.cells), np.int64)  # a finished game leads to a new one, row 0
    event = np.full(2 * number, Event.ONGOING, np.int64)
    for cell in range(rules.cells):
        outcome = batch.play(rules, before, np.full(len(decisions), cell))
        after = tree.find(outcome.state.mover, outcome.state.opponent) + number * outcome.illegal
        following[decisions, cell] = after
        event[after] = outcome.event

    legal = np.tile(rules.legal_cells(positions.mover, positions.opponent), 2)
    mask = planes.bits(rules.cells, np.where(event > Event.ALLOW, rules.full_word, legal)).view(np.int8)
    by_first = np.tile(batch.observe(rules, positions), (2, 1, 1, 1))
    return PositionTable(
        read_only(following.ravel()),
        read_only(event),
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
    rows = len(table.event)
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
    """Games on boards of up to 9 cells; the state is the row of each position, [N], which is its code as well.

    On few boards the number of NumPy calls takes the time, not their work. So each look-up is the cheapest kind: an
    index for one number of each row, and `take` for a row of bytes. Its mode `"clip"` skips a check of the indices.
    """

    def __init__(self, rules: Rules, rewards: Rewards, perspective: str) -> None:
        self.table = table = position_table(rules)
        super().__init__(rules, rewards, perspective, table.event, table.to_play)
        # As an array: NumPy takes twice as long to multiply an array by a Python number.
        self.cells = np.array(rules.cells)
        rows = len(table.event)
        # What the mover sees; with perspective "mover" each seat has its own view.
        views = np.where(perspective == "mover", table.to_play, 0)
        self.seen_by_mover = read_only(table.seen[np.arange(rows) + rows * views])

    def code(self, state: State) -> Cells:
        """Return the code of each board: the state itself."""
        return state

    def at(self, position: batch.State) -> State:
        """Return the state of unfinished positions."""
        return game_tree(self.rules).find(position.mover, position.opponent).astype(np.int64)

    def position(self, state: State) -> batch.State:
        """Return the bitboards of the boards."""
        tree = game_tree(self.rules)
        states = state % len(tree)
        return batch.State(tree.mover[states], tree.opponent[states], self.to_play[state])

    def move(self, state: State, cells: Cells) -> State:
        """Return the state after one ply on each board."""
        after: State = self.table.following[state * self.cells + cells]
        return after

    def built_in(self, opponent: str) -> Reply:
        """Return how a built-in opponent replies."""
        return partial(self._replied, replies(self.rules, opponent))

    def _replied(self, known: Replies, state: State, generator: np.random.Generator) -> State:
        choice = generator.random(len(state)) * known.number[state]
        after: State = known.after[state * self.cells + choice.astype(np.int64)]
        return after

    def look(self, state: State, seats: Cells | None) -> tuple[Planes, Planes]:
        """Return the one-hot planes and the action masks."""
        if seats is None or self.perspective == "absolute":
            seen = self.seen_by_mover.take(state, 0, None, "clip")
        else:
            seen = self.table.seen.take(state + seats * len(self.finished), 0, None, "clip")
        return seen, self.table.mask.take(state, 0, None, "clip")
