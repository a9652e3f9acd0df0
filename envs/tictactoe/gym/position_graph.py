"""A graph of positions that grows as games are played: the rules work each position out once.

A node holds all that an environment delivers at its position, so a ply follows one reference and copies a few arrays.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe.arrays import read_only
from tictactoe.rewards import Rewards
from tictactoe.rules import NOBODY, WINNERS, Event, Rules, refuse_unknown_rules

Planes: TypeAlias = NDArray[np.int8]
Flag: TypeAlias = NDArray[np.bool_]

KEPT_POSITIONS = 6_000
"""Number of positions that a graph keeps: all of tic-tac-toe, or the first ones met on a larger board."""

# The values in `info` have a shape and a dtype, because TorchRL needs them.
SEATS = (np.int64(0), np.int64(1))
NO_WINNER = np.int64(NOBODY)
# Arrays without axes: Gymnasium's vectors of single environments would store NumPy's booleans as objects.
LEGAL, ILLEGAL = read_only(np.array(False)), read_only(np.array(True))


@dataclass(slots=True, eq=False)
class Node:
    """A position and what is delivered there.

    A kept node is shared by all games and never changes, but for `after` and `choices`, which fill up. Any other node
    belongs to one game, and its moves are made in place.
    """

    marks: list[int]
    """Bitboards by seat."""
    completing: list[int]
    """By seat: the cells that complete a line, taken or not."""
    legal: int
    """The bitboard of the cells that may be marked."""
    seen: Planes
    """The view of the seat to move, [rows, cols, 3]."""
    seen_by_other: Planes
    """The view of the other seat; with absolute planes the same array."""
    mask: Planes
    """[rows * cols]: 1 for each legal cell; all ones when the game is over."""
    to_play: np.int64 = SEATS[0]
    """The seat to move."""
    rewards: tuple[float, float] = (0.0, 0.0)
    """The rewards of the move that led here: of the seat that made it, and of the other seat."""
    over: bool = False
    winner: np.int64 = NO_WINNER
    illegal: Flag = field(default_factory=lambda: LEGAL)
    """Whether a taken cell ended the game, an array without axes."""
    kept: bool = False
    after: dict[int, "Node"] = field(default_factory=dict)
    """The kept nodes that moves have led to, by cell; empty unless this node is kept."""
    choices: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The cells that a built-in opponent samples its move from, by its name."""

    def __reduce__(self) -> Any:
        # So a copy of an environment gets a node of its own, without all the positions behind it.
        board = (self.marks, self.completing, self.legal, self.seen, self.seen_by_other, self.mask, self.to_play)
        return Node, (*board, self.rewards, self.over, self.winner, self.illegal)

    def copy(self) -> "Node":
        """Return a node of the same position that belongs to one game."""
        seen = self.seen.copy()
        other = seen if self.seen_by_other is self.seen else self.seen_by_other.copy()
        return Node(self.marks.copy(), self.completing.copy(), self.legal, seen, other, self.mask.copy(), self.to_play)

    def mark(self, rules: Rules, rewards: Rewards, cell: int) -> None:
        """Put the mark of the seat to move on a legal cell, in place."""
        seat = int(self.to_play)
        self.to_play = SEATS[1 - seat]
        bit = 1 << cell
        marks = self.marks[seat] = self.marks[seat] | bit
        self.legal ^= bit
        self.mask[cell] = 0
        row, col = divmod(cell, rules.cols)
        own, other = self.seen, self.seen_by_other
        own[row, col, 0] = 0
        if other is own:
            own[row, col, 1 + seat] = 1
        else:
            own[row, col, 1] = 1
            other[row, col, 0] = 0
            other[row, col, 2] = 1
            self.seen, self.seen_by_other = other, own

        # Only lines through the cell have changed, so the whole board need not be searched.
        lacking = ~marks
        completed = False
        for line in rules.lines_through(cell):
            missing = line & lacking
            if not missing:
                completed = True
            elif not missing & (missing - 1):
                self.completing[seat] |= missing
        event = rules.event(completed, not self.legal, self.completing[1 - seat] & self.legal)
        self.rewards = rewards.of_event[event]
        if event > Event.ALLOW:
            self.end(WINNERS[event][seat])

    def refuse(self, rewards: Rewards) -> None:
        """End the game, in place, because the seat to move chose a taken cell."""
        self.rewards = rewards.of_event[Event.ILLEGAL]
        self.illegal = ILLEGAL
        self.end(WINNERS[Event.ILLEGAL][self.to_play])

    def end(self, winner: int = NOBODY) -> None:
        """End the game here, in place."""
        self.over = True
        self.winner = np.int64(winner)
        self.mask.fill(1)


class PositionGraph:
    """The positions of a board with these rewards, from the empty board on."""

    def __init__(self, rules: Rules, rewards: Rewards, perspective: str) -> None:
        self._settings = (rules, rewards, perspective)
        first = np.zeros((rules.rows, rules.cols, 3), np.int8)
        first[..., 0] = 1
        second = first if perspective == "absolute" else first.copy()
        completing = rules.completing_cells(0)  # with k=1 every cell, else none
        root = Node([0, 0], [completing, completing], rules.full_board, first, second, np.ones(rules.cells, np.int8))
        self._kept: dict[tuple[int, int], Node] = {}
        self._keep((0, 0), root)

    def __reduce__(self) -> Any:
        return position_graph, self._settings

    def at(self, marks: tuple[int, int]) -> Node:
        """Return a node of a position, bitboards by seat, from which a game can continue."""
        kept = self._kept.get(marks)
        if kept is not None:
            return kept
        rules, rewards, _ = self._settings
        node = self._kept[0, 0].copy()
        for turn in zip_longest(*map(rules.cells_of, marks)):
            for cell in turn:
                if cell is not None:
                    node.mark(rules, rewards, cell)
        return node

    def play(self, node: Node, cell: int) -> Node:
        """Return the node that a move leads to; keep it if there is room and its game has left no kept node."""
        if cell in node.after:
            return node.after[cell]
        rules, rewards, _ = self._settings
        if not node.legal >> cell & 1:
            after = node.copy()
            after.refuse(rewards)
            return after
        if not node.kept:
            node.mark(rules, rewards, cell)
            return node
        first, second = node.marks
        marks = (first, second | 1 << cell) if node.to_play else (first | 1 << cell, second)
        if marks not in self._kept:
            after = node.copy()
            after.mark(rules, rewards, cell)
            if len(self._kept) >= KEPT_POSITIONS:
                return after
            self._keep(marks, after)
        after = node.after[cell] = self._kept[marks]
        return after

    def _keep(self, marks: tuple[int, int], node: Node) -> None:
        self._kept[marks] = node
        node.kept = True


@lru_cache(maxsize=16)
def position_graph(rules: Rules, rewards: Rewards, perspective: str) -> PositionGraph:
    """Return the graph that all environments with these settings share."""
    refuse_unknown_rules(rules, "the environment")  # in which every empty cell may be marked
    return PositionGraph(rules, rewards, perspective)
