"""What an evaluation during training finds wrong, as positions to begin games at."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.evaluation.counterexamples import of_play
from selfplay.evaluation.evaluation import Proof, evaluate_tree
from selfplay.evaluation.judge import Judge
from selfplay.evaluation.reach import POSITIONS, WHOLE_TREE_CELLS, Unproved
from tictactoe import solve
from tictactoe.tree import SOLVABLE_CELLS, IntArray, game_tree

MOST = 4_096
"""Positions that are handed to training."""
NOTHING = np.zeros(0, np.int64), np.zeros(0, np.int64)
PART, FEW, WHOLE = 50_000, 16, 1_000_000
"""Positions of each ply that are looked at: first a part, and where that is beaten in fewer than a few, the whole."""


class Lessons(NamedTuple):
    """Hold an evaluation and the positions in which the player was found wrong."""

    evaluation: Proof | Unproved
    mover: IntArray
    """[n] int64: bitboards."""
    opponent: IntArray
    """[n] int64"""
    number: int
    """Of the positions that were found; of many a random part is kept."""


def examine(judge: Judge, every_state: bool, generator: np.random.Generator) -> Lessons:
    """Evaluate a player as `assess` does, and say where it is wrong.

    Wrong are the counterexamples; with `every_state`, which asks for an optimal player, the decision states of the
    whole board in which its move does not keep the game-theoretic value.
    """
    rules = judge.rules
    if rules.cells > (SOLVABLE_CELLS if every_state else WHOLE_TREE_CELLS):
        found = of_play(judge, PART, generator)
        if not found.whole and len(found.mover) < FEW:  # what a part does not find the whole may
            found = of_play(judge, WHOLE, generator)
        return _some(found.evaluation, found.mover, found.opponent, generator)
    known = _Known(judge)
    of_tree = evaluate_tree(known)
    if every_state:
        return _some(of_tree, *known.not_optimal(), generator)
    if of_tree.unbeatable:
        return _some(of_tree, *NOTHING, generator)
    found = of_play(known, POSITIONS, generator)
    return _some(of_tree, found.mover, found.opponent, generator)


def _some(evaluation: Proof | Unproved, mover: IntArray, opponent: IntArray, generator: np.random.Generator) -> Lessons:
    number = len(mover)
    if number > MOST:
        part = generator.choice(number, MOST, replace=False)
        mover, opponent = mover[part], opponent[part]
    return Lessons(evaluation, mover, opponent, number)


class _Known:
    """Answer for a player that has been asked once for its move in every decision state of a small board."""

    draws = False

    def __init__(self, judge: Judge) -> None:
        self.rules = judge.rules
        self.symmetric, self.legal = judge.symmetric, judge.legal
        self._tree = game_tree(judge.rules)
        decisions = self._tree.decisions
        self._actions: NDArray[np.int64] = np.zeros(len(self._tree), np.int64)
        self._actions[decisions] = judge.cells(self._tree.mover[decisions], self._tree.opponent[decisions])

    def cells(self, mover: IntArray, opponent: IntArray) -> NDArray[np.int64]:
        """Return the cell that it chooses in each position, [n]."""
        chosen: NDArray[np.int64] = self._actions[self._tree.find(mover, opponent)]
        return chosen

    def chances(self, mover: IntArray, opponent: IntArray) -> NDArray[np.float64]:
        """Return the probability of each cell, [n, A]."""
        certain: NDArray[np.float64] = np.eye(self.rules.cells)[self.cells(mover, opponent)]
        return certain

    def not_optimal(self) -> tuple[IntArray, IntArray]:
        """Return the decision states in which its move does not keep the game-theoretic value."""
        decisions = self._tree.decisions
        best = solve(self.rules).optimal_moves[decisions]
        wrong = decisions[best >> self._actions[decisions] & 1 == 0]
        return self._tree.mover[wrong].astype(np.int64), self._tree.opponent[wrong].astype(np.int64)
