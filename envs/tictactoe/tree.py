"""Every reachable position of a small board, enumerated once, and games played out over all of them.

Positions are stored from the mover's view and sorted by ply, so that the tree can be walked a ply at a
time with array operations. `S` is the number of reachable states.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tictactoe.rules import Rules

IntArray: TypeAlias = NDArray[np.integer]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]

AnyScalar = TypeVar("AnyScalar", bound=np.generic)

SOLVABLE_CELLS = 16


@dataclass(frozen=True)
class GameTree:
    """Hold the reachable states of a board, sorted by ply."""

    rules: Rules
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
        return self.state_numbers[_ternary_code(self.rules, mover, opponent)]

    def successors(self, states: IntArray) -> IntArray:
        """Return the state behind each action, [n, A] int32, and -1 where the cell is taken.

        The states must be decision states.
        """
        cell = 1 << np.arange(self.rules.cells, dtype=np.int32)
        mover, opponent = self.mover[states, None], self.opponent[states, None]
        empty = cell & ~(mover | opponent)
        return np.where(empty, self.find(opponent, mover | empty), -1)


def _ternary_code(rules: Rules, mover: IntArray, opponent: IntArray) -> IntArray:
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
    state_numbers = np.full(3**rules.cells, -1, dtype=np.int32)
    boards = np.arange(1 << rules.cells, dtype=np.int32)
    line_table = rules.has_line(boards)
    digits = _ternary_digits(rules.cells)

    mover = opponent = code = np.zeros(1, dtype=np.int32)
    plies: list[tuple[IntArray, IntArray, BoolArray, BoolArray]] = []
    starts = [0]
    while len(mover):
        state_numbers[code] = np.arange(starts[-1], starts[-1] + len(code), dtype=np.int32)
        starts.append(starts[-1] + len(code))
        lost = line_table[opponent]
        finished = lost | ((mover | opponent) == rules.full_board)
        plies.append((mover, opponent, lost, finished))

        mover, opponent = mover[~finished], opponent[~finished]
        children: list[tuple[IntArray, IntArray, IntArray]] = []
        for cell in range(rules.cells):
            # Two parents never share a child by the same cell, so each cell needs only the check
            # against the children that other cells have led to.
            legal = np.flatnonzero(((mover | opponent) >> cell) & 1 == 0)
            moved = mover[legal] | np.int32(1 << cell)
            code = digits[opponent[legal]] + 2 * digits[moved]
            new = state_numbers[code] < 0
            code = code[new]
            state_numbers[code] = 0
            children.append((opponent[legal][new], moved[new], code))
        mover, opponent, code = (np.concatenate(parts) for parts in zip(*children, strict=True))
    movers, opponents, losses, ends = zip(*plies, strict=True)
    return GameTree(
        rules,
        read_only(np.concatenate(movers)),
        read_only(np.concatenate(opponents)),
        read_only(np.concatenate(losses)),
        read_only(np.concatenate(ends)),
        tuple(starts),
        read_only(state_numbers),
    )


def read_only(array: NDArray[AnyScalar]) -> NDArray[AnyScalar]:
    """Make an array that callers share unwritable and return it."""
    array.flags.writeable = False
    return array


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
    every = every_legal(tree)

    def policy(states: IntArray) -> FloatArray:
        weights = every(states)
        normalized: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return normalized

    return policy


def every_legal(tree: GameTree) -> Policy:
    """Return weight 1 for every empty cell, which makes `play_out` count games instead of averaging them."""
    cells = np.arange(tree.rules.cells)

    def policy(states: IntArray) -> FloatArray:
        occupied = tree.mover[states] | tree.opponent[states]
        empty: BoolArray = (occupied[:, None] >> cells) & 1 == 0
        return empty.astype(np.float64)

    return policy


def play_out(tree: GameTree, first: Policy, second: Policy) -> Totals:
    """Follow every game that two policies can play, visiting each distinct state once.

    A weight flows from the empty board along the actions in proportion to the policies' weights. With
    probabilities the totals are exact probabilities; with weights of 1 they count distinct game lines,
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
