"""All reachable positions of a small board, and totals over all games that two policies can play.

Positions are stored as the mover sees them and sorted by ply (the number of marks), so that array operations can go
through the tree ply by ply. `S` is the number of reachable states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe.arrays import read_only
from tictactoe.rules import Rules, refuse_unknown_rules

IntArray: TypeAlias = NDArray[np.integer]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]

SOLVABLE_CELLS = 16


@dataclass(frozen=True)
class GameTree:
    """The reachable states of a board, sorted by ply."""

    rules: Rules
    """The rules of the board."""
    mover: IntArray
    """[S] int32: the marks of the seat to move."""
    opponent: IntArray
    """[S] int32: the marks of the other seat."""
    result: IntArray
    """[S] int8: the mover's result where the game is over, 1, 0 or -1; 0 elsewhere."""
    finished: BoolArray
    """[S]: a line is complete or the board is full."""
    ply_starts: tuple[int, ...]
    """The number of the first state of each ply, and S at the end."""
    state_numbers: IntArray
    """[3^A] int32: the number of the state with each ternary code, -1 if it cannot be reached."""

    def __len__(self) -> int:
        return len(self.mover)

    def plies(self) -> Iterator[tuple[int, slice]]:
        """Yield each ply and the slice of states with that many marks on the board."""
        for ply, (start, stop) in enumerate(pairwise(self.ply_starts)):
            yield ply, slice(start, stop)

    @property
    def ply(self) -> IntArray:
        """Return the number of marks on each state's board, [S] int64."""
        return np.repeat(np.arange(len(self.ply_starts) - 1), np.diff(self.ply_starts))

    @property
    def lost(self) -> BoolArray:
        """Return which states the mover has lost, [S]."""
        return self.result < 0

    @property
    def decisions(self) -> IntArray:
        """Return the numbers of the decision states (reachable and not finished), in order."""
        return np.flatnonzero(~self.finished)

    def find(self, mover: IntArray, opponent: IntArray) -> IntArray:
        """Return the numbers of the states with these marks, -1 where no legal game leads to them."""
        return self.state_numbers[ternary_code(self.rules, mover, opponent)]

    def successors(self, states: IntArray) -> IntArray:
        """Return the state after each action, [n, A] int32, -1 where the cell is taken.

        The states must be decision states.
        """
        cell = 1 << np.arange(self.rules.cells, dtype=np.int32)
        mover, opponent = self.mover[states, None], self.opponent[states, None]
        legal = cell & self.rules.legal_cells(mover, opponent)
        return np.where(legal, self.find(opponent, mover | legal), -1)


def ternary_code(rules: Rules, mover: IntArray, opponent: IntArray) -> IntArray:
    """Return the number in base 3 whose digit `a` is 1 if the mover has cell `a`, 2 if the opponent has it."""
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
    """Return all reachable states of a board, found ply by ply.

    Raises:
        ValueError: the board has more than 16 cells.
    """
    refuse_unknown_rules(rules, "the tree of positions")  # of which any mark may have been the last
    if rules.cells > SOLVABLE_CELLS:
        raise ValueError(
            f"only boards of up to {SOLVABLE_CELLS} cells can be solved: "
            f"a {rules.rows}x{rules.cols} board has {rules.cells}"
        )
    has_line = rules.has_line(np.arange(1 << rules.cells, dtype=np.int32))
    new_cells = _new_cells(has_line)

    mover = opponent = np.zeros(1, dtype=np.int32)
    plies: list[tuple[IntArray, IntArray, BoolArray]] = []
    starts = [0]
    while len(mover):
        starts.append(starts[-1] + len(mover))
        finished = has_line[opponent] | ((mover | opponent) == rules.full_board)
        plies.append((mover, opponent, finished))

        mover, opponent = mover[~finished], opponent[~finished]
        new = new_cells[mover] & ~opponent
        children: list[tuple[IntArray, IntArray]] = []
        for cell in range(rules.cells):
            bit = np.int32(1 << cell)
            parents = np.flatnonzero(new & bit)
            children.append((opponent[parents], mover[parents] | bit))
        mover, opponent = (np.concatenate(parts) for parts in zip(*children, strict=True))
    mover, opponent, finished = (np.concatenate(parts) for parts in zip(*plies, strict=True))
    result = np.where(has_line[opponent], -rules.line_result, 0).astype(np.int8)  # the opponent completed it
    state_numbers = np.full(3**rules.cells, -1, dtype=np.int32)
    state_numbers[ternary_code(rules, mover, opponent)] = np.arange(len(mover), dtype=np.int32)
    return GameTree(
        rules,
        read_only(mover),
        read_only(opponent),
        read_only(result),
        read_only(finished),
        tuple(starts),
        read_only(state_numbers),
    )


def _new_cells(has_line: BoolArray) -> IntArray:
    """Return for each set of marks [2^A] the cells to add so that every position is found exactly once.

    The mark that led to a position may be any without which the last mover has no line. Only the lowest of these cells
    counts, so no position has to be looked up among the known ones. `has_line` [2^A] says which marks hold a line.
    """
    new = np.zeros(len(has_line), dtype=np.int32)
    followed = np.zeros(len(has_line), dtype=np.bool_)
    for cell in range(len(has_line).bit_length() - 1):
        bit = np.int32(1 << cell)
        before = np.flatnonzero(~has_line & (np.arange(len(has_line)) & bit == 0))
        new[before] |= np.where(followed[before | bit], 0, bit)
        followed[before | bit] = True
    return new
