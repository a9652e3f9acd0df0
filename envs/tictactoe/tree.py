"""Every reachable position of a small board, enumerated once, and games played out over all of them.

Positions are stored from the mover's view and sorted by ply, so that the tree can be walked a ply at a
time with array operations. `S` is the number of reachable states.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe.arrays import read_only
from tictactoe.rules import Rules

IntArray: TypeAlias = NDArray[np.integer]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]

SOLVABLE_CELLS = 16


@dataclass(frozen=True)
class GameTree:
    """Hold the reachable states of a board, sorted by ply."""

    rules: Rules
    """Of the board."""
    mover: IntArray
    """[S] int32: the marks of the seat to move."""
    opponent: IntArray
    """[S] int32: the marks of the other seat."""
    lost: BoolArray
    """[S]: the opponent's last move completed a line."""
    finished: BoolArray
    """[S]: a line is complete or the board is full."""
    ply_starts: tuple[int, ...]
    """The first state of each ply, and S behind the last."""
    state_numbers: IntArray
    """[3^A] int32: the state of each position's ternary code, -1 where it cannot be reached."""

    def __len__(self) -> int:
        return len(self.mover)

    def plies(self) -> Iterator[tuple[int, slice]]:
        """Yield each ply and the states in which that many marks are on the board."""
        for ply, (start, stop) in enumerate(pairwise(self.ply_starts)):
            yield ply, slice(start, stop)

    @property
    def ply(self) -> IntArray:
        """Return the number of marks on each state's board, [S] int64."""
        return np.repeat(np.arange(len(self.ply_starts) - 1), np.diff(self.ply_starts))

    @property
    def decisions(self) -> IntArray:
        """Return the numbers of the decision states, in order."""
        return np.flatnonzero(~self.finished)

    def find(self, mover: IntArray, opponent: IntArray) -> IntArray:
        """Return the states with these marks, -1 where no legal game leads to them."""
        return self.state_numbers[ternary_code(self.rules, mover, opponent)]

    def successors(self, states: IntArray) -> IntArray:
        """Return the state behind each action, [n, A] int32, and -1 where the cell is taken.

        The states must be decision states.
        """
        cell = 1 << np.arange(self.rules.cells, dtype=np.int32)
        mover, opponent = self.mover[states, None], self.opponent[states, None]
        empty = cell & ~(mover | opponent)
        return np.where(empty, self.find(opponent, mover | empty), -1)


def ternary_code(rules: Rules, mover: IntArray, opponent: IntArray) -> IntArray:
    """Return the number in base 3 whose digit `a` is 1 for a mark of the mover in cell `a`, 2 for the opponent's."""
    digits = _ternary_digits(rules.cells)
    return digits[mover] + 2 * digits[opponent]


@lru_cache(maxsize=8)
def _ternary_digits(cells: int) -> IntArray:
    """Return the sum of 3^a over the cells `a` of every bitboard, [2^A] int32."""
    boards = np.arange(1 << cells)
    code = np.zeros(1 << cells, dtype=np.int32)
    for cell in range(cells):
        code += ((boards >> cell) & 1).astype(np.int32) * np.int32(3**cell)
    return code


@lru_cache(maxsize=4)
def game_tree(rules: Rules) -> GameTree:
    """Enumerate the reachable states, a ply at a time.

    Raises:
        ValueError: the board has more than 16 cells.
    """
    if rules.cells > SOLVABLE_CELLS:
        raise ValueError(
            f"only boards of up to {SOLVABLE_CELLS} cells can be solved: "
            f"a {rules.rows}x{rules.cols} board has {rules.cells}"
        )
    has_line = rules.has_line(np.arange(1 << rules.cells, dtype=np.int32))
    new_cells = _new_cells(has_line)

    mover = opponent = np.zeros(1, dtype=np.int32)
    plies: list[tuple[IntArray, IntArray, BoolArray, BoolArray]] = []
    starts = [0]
    while len(mover):
        starts.append(starts[-1] + len(mover))
        lost = has_line[opponent]
        finished = lost | ((mover | opponent) == rules.full_board)
        plies.append((mover, opponent, lost, finished))

        mover, opponent = mover[~finished], opponent[~finished]
        new = new_cells[mover] & ~opponent
        children: list[tuple[IntArray, IntArray]] = []
        for cell in range(rules.cells):
            bit = np.int32(1 << cell)
            parents = np.flatnonzero(new & bit)
            children.append((opponent[parents], mover[parents] | bit))
        mover, opponent = (np.concatenate(parts) for parts in zip(*children, strict=True))
    mover, opponent, lost, finished = (np.concatenate(parts) for parts in zip(*plies, strict=True))
    state_numbers = np.full(3**rules.cells, -1, dtype=np.int32)
    state_numbers[ternary_code(rules, mover, opponent)] = np.arange(len(mover), dtype=np.int32)
    return GameTree(
        rules,
        read_only(mover),
        read_only(opponent),
        read_only(lost),
        read_only(finished),
        tuple(starts),
        read_only(state_numbers),
    )


def _new_cells(has_line: BoolArray) -> IntArray:
    """Return the cells by which a seat that has these marks leads to a position that no lower cell leads to, [2^A].

    A position follows from several, one for each of the last mover's marks without which it has no line. It is
    enumerated by the lowest of them, so that no position has to be looked for among those that are known.
    `has_line` is [2^A]: which marks hold a line.
    """
    new = np.zeros(len(has_line), dtype=np.int32)
    followed = np.zeros(len(has_line), dtype=np.bool_)
    for cell in range(len(has_line).bit_length() - 1):
        bit = np.int32(1 << cell)
        before = np.flatnonzero(~has_line & (np.arange(len(has_line)) & bit == 0))
        new[before] |= np.where(followed[before | bit], 0, bit)
        followed[before | bit] = True
    return new


Policy: TypeAlias = Callable[[IntArray], FloatArray]
"""Maps decision states [n] to the weight of each action [n, A]: probabilities, or 1 for each move to follow."""


class Totals(NamedTuple):
    """Hold the weight of all games by how they end."""

    first_wins: float
    second_wins: float
    draws: float
    illegal: tuple[float, float]
    """By the seat that played the taken cell."""


def uniform_legal(tree: GameTree) -> Policy:
    """Return the policy of a player who picks among the empty cells at random."""
    cells = np.arange(tree.rules.cells)

    def policy(states: IntArray) -> FloatArray:
        occupied = tree.mover[states] | tree.opponent[states]
        empty: BoolArray = (occupied[:, None] >> cells) & 1 == 0
        normalized: FloatArray = empty / empty.sum(axis=1, keepdims=True)
        return normalized

    return policy


def play_out(tree: GameTree, first: Policy, second: Policy) -> Totals:
    """Follow every game that two policies can play, visiting each distinct state once.

    A weight flows from the empty board along the actions in proportion to the policies' weights. With
    probabilities the totals are exact probabilities; with weights of 1 they count distinct games,
    exactly while there are fewer than 2^53 of them.
    """
    wins, draws, illegal = [0.0, 0.0], 0.0, [0.0, 0.0]
    flow: FloatArray = np.ones(1)
    for ply, level in tree.plies():
        lost, finished = tree.lost[level], tree.finished[level]
        seat = ply % 2
        wins[1 - seat] += float(flow[lost].sum())
        draws += float(flow[finished & ~lost].sum())
        reached = np.flatnonzero(~finished & (flow > 0))
        if not len(reached):
            break
        states = reached + level.start
        following = tree.successors(states)
        weights = (first, second)[seat](states) * flow[reached, None]
        taken = following < 0
        illegal[seat] += float(weights[taken].sum())
        next_start, next_stop = tree.ply_starts[ply + 1 : ply + 3]
        flow = np.bincount(
            following[~taken] - next_start, weights=weights[~taken], minlength=next_stop - next_start
        ).astype(np.float64)
    return Totals(wins[0], wins[1], draws, (illegal[0], illegal[1]))
