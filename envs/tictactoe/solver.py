"""The exact solution of a small board, by backward induction over all reachable states."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tictactoe.arrays import read_only
from tictactoe.rules import Rules
from tictactoe.tree import GameTree, IntArray, game_tree, ternary_code


@dataclass(frozen=True)
class Solution:
    """The game-theoretic value and the best moves of every reachable state, in the tree's order."""

    tree: GameTree
    """The states; the arrays below are in their order."""
    value: IntArray
    """[S] int8: the mover's result if both seats play perfectly: +1, 0 or -1."""
    optimal_moves: IntArray
    """[S] int32: the cells whose move keeps the value, as a bitboard; 0 in finished states."""

    def lookup(self, mover: int, opponent: int) -> tuple[int, tuple[int, ...]]:
        """Return the value and the optimal cells of one position, given as two bitboards.

        Raises:
            ValueError: no legal game leads to this position.
        """
        rules, state = self.tree.rules, -1
        if rules.on_board(mover, opponent):
            state = int(self.tree.find(np.array(mover), np.array(opponent)))
        if state < 0:
            raise ValueError(f"no legal game on {rules} leads to mover={mover:#b}, opponent={opponent:#b}")
        return int(self.value[state]), rules.cells_of(int(self.optimal_moves[state]))


@lru_cache(maxsize=4)
def solve(rules: Rules) -> Solution:
    """Solve a board of up to 16 cells, which may take a few seconds.

    Raises:
        ValueError: the board has more than 16 cells.
    """
    tree = game_tree(rules)
    value, optimal_moves = values_and_moves(tree)
    return Solution(tree, read_only(value), read_only(optimal_moves))


def values_and_moves(tree: GameTree) -> tuple[IntArray, IntArray]:
    """Return the value and the optimal moves of every state, found from the last ply back to the first."""
    rules = tree.rules
    value = tree.result.copy()
    optimal_moves = np.zeros(len(tree), dtype=np.int32)
    value_of_code = np.zeros(3**rules.cells, dtype=np.int8)
    for _, level in reversed(list(tree.plies())):
        mover, opponent = tree.mover[level], tree.opponent[level]
        legal = np.where(tree.finished[level], 0, rules.legal_cells(mover, opponent)).astype(np.int32)
        after_nothing = ternary_code(rules, opponent, mover)  # the seats change even before a mark is added
        wins, draws = np.zeros((2, len(mover)), dtype=np.int32)
        for cell in range(rules.cells):
            bit = np.int32(1 << cell)
            states = np.flatnonzero(legal & bit)
            reply = value_of_code[after_nothing[states] + np.int32(2 * 3**cell)]
            wins[states[reply < 0]] |= bit
            draws[states[reply == 0]] |= bit
        best = np.where(wins, 1, np.where(draws, 0, -1))
        value[level] = np.where(legal, best, value[level])
        optimal_moves[level] = np.where(wins, wins, np.where(draws, draws, legal))
        value_of_code[ternary_code(rules, mover, opponent)] = value[level]
    return value, optimal_moves
