"""The games of the versus view on boards so small that a table holds every position, and every reply to it."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tictactoe.envs.backends.games import EVERY, Boards, Cells, Flags, Planes, Results
from tictactoe.envs.backends.tables import WIN, TabledGames, position_table
from tictactoe.envs.backends.versus_games import BatchOpponent, Seat, VersusGames, answers
from tictactoe.opponents import OPPONENTS
from tictactoe.planes import bits
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules
from tictactoe.tree import game_tree, read_only


class Replies(NamedTuple):
    """Hold where the moves of a built-in opponent lead; `P` is the number of rows of the position table."""

    number: NDArray[np.float64]
    """[P]: of cells among which it picks; 1 where the game is over."""
    after: Cells
    """[P * A]: the row behind each of its choices, in the order of the cells; the row itself where the game is over."""


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
    chosen = bits(rules.cells, OPPONENTS[opponent](rules, mover, opposite).astype(np.int64))
    number[decisions] = chosen.sum(axis=1)
    # The cells that are chosen first, each part in order.
    order = np.argsort(~chosen, axis=1, kind="stable")
    after[decisions] = table.following[decisions[:, None] * rules.cells + order]
    return Replies(read_only(number), read_only(after.ravel()))


class TabledVersus(VersusGames[TabledGames]):
    """Play one seat on boards of up to 9 cells; the state is that of `TabledGames`."""

    def __init__(self, rules: Rules, rewards: Rewards, perspective: str, seat: Seat, boards: int) -> None:
        super().__init__(TabledGames(rules, rewards, perspective), seat, boards)
        self._loss = rewards.loss
        self._by_seat = perspective == "mover"

    def set_opponent(self, opponent: str | BatchOpponent) -> None:
        """Play against another opponent from the next reply on."""
        self._opponent = replies(self._both.rules, opponent) if isinstance(opponent, str) else opponent

    def play(self, state: Cells, cells: Cells, over: Flags) -> Results:
        """Return what the agent's moves and the replies to them do."""
        both = self._both
        own = both.after(state, cells)
        after = self._replied(own, over)
        reward = both.reward[own]
        if np.count_nonzero(over):
            after[over] = self.start(own, over)[over]
        if self._loss:
            lost = (both.table.led_to[after] == WIN) & (after != own)
            reward = np.where(lost, reward + self._loss, reward)
        return both.results(after, reward)

    def _first_replies(self, state: Cells, due: Flags) -> tuple[Cells, Flags]:
        replied = np.where(due, self._replied(state, ~due), state)
        return replied, due & self._both.table.finished[replied]

    def _replied(self, state: Cells, spared: Flags) -> Cells:
        """Return the state in which the opponent has moved; what it says of the spared boards means nothing."""
        both, opponent = self._both, self._opponent
        if isinstance(opponent, Replies):
            choice = self.generator.random(len(state)) * opponent.number[state]
            replied: Cells = opponent.after[state * both.cells + choice.astype(np.int64)]
            return replied
        after = state.copy()
        due = ~(spared | both.table.finished[state])
        if due.any():
            asked = state[due]
            after[due] = both.after(asked, answers(opponent, *both.look(asked, spared)))
        return after

    def look(self, state: Cells, over: Flags, boards: Boards = EVERY) -> tuple[Planes, Planes]:
        """Return the one-hot planes as the agent's seat sees them, and the action masks."""
        if not self._by_seat:
            return self._both.look(state, over, boards)
        table = self._both.table
        rows, seats = state[boards], self.seats[boards]
        seen = table.seen.take(rows + seats * len(table.finished), 0, None, "clip")
        return seen, table.mask.take(rows, 0, None, "clip")
