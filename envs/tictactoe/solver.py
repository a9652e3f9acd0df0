"""The exact solution of a small board, by retrograde analysis over all reachable states."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tictactoe.rules import Rules
from tictactoe.tree import GameTree, IntArray, game_tree, read_only


@dataclass(frozen=True)
class Solution:
    """Hold the game-theoretic value and the best moves of every reachable state, in the tree's order."""

    tree: GameTree
    value: IntArray
    """[S] int8: +1, 0 or -1 for the mover under perfect play of both seats."""
    optimal_moves: IntArray
    """[S] int32: the cells whose move keeps the value, as a bitboard; 0 in finished states."""

    def lookup(self, mover: int, opponent: int) -> tuple[int, tuple[int, ...]]:
        """Return the value and the optimal cells of one position given as two bitboards.

        Raises:
            ValueError: no legal game leads to this position.
        """
        cells = self.tree.rules.cells
        state = -1
        if 0 <= mover < 1 << cells and 0 <= opponent < 1 << cells and not mover & opponent:
            state = int(self.tree.find(np.array(mover), np.array(opponent)))
        if state < 0:
            raise ValueError(f"no legal game on {self.tree.rules} leads to mover={mover:#b}, opponent={opponent:#b}")
        moves = int(self.optimal_moves[state])
        return int(self.value[state]), tuple(cell for cell in range(cells) if moves >> cell & 1)


@lru_cache(maxsize=4)
def solve(rules: Rules) -> Solution:
    """Solve a board of up to 16 cells from its last ply back to the first.

    Raises:
        ValueError: the board has more than 16 cells.
    """
    tree = game_tree(rules)
    value = np.where(tree.lost, -1, 0).astype(np.int8)
    optimal_moves = np.zeros(len(tree), dtype=np.int32)
    for _, level in reversed(list(tree.plies())):
        states = np.flatnonzero(~tree.finished[level]) + level.start
        best = np.full(len(states), -2, dtype=np.int8)
        moves = np.zeros(len(states), dtype=np.int32)
        mover, opponent = tree.mover[states], tree.opponent[states]
        for cell in range(rules.cells):
            legal = np.flatnonzero(((mover | opponent) >> cell) & 1 == 0)
            bit = np.int32(1 << cell)
            reply = -value[tree.find(opponent[legal], mover[legal] | bit)]
            moves[legal] = np.where(reply > best[legal], 0, moves[legal]) | np.where(reply >= best[legal], bit, 0)
            best[legal] = np.maximum(best[legal], reply)
        value[states], optimal_moves[states] = best, moves
    return Solution(tree, read_only(value), read_only(optimal_moves))
