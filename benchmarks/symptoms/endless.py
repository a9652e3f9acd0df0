"""What endless learning ends in: the exact best values under a reward, and the player that plays each best cell.

Nothing is trained here. A game of tic-tac-toe lasts nine plies at most, so nine sweeps over all positions say what
every move is worth.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import selfplay
from tictactoe import Rewards, Rules, batch
from tictactoe.tree import BoolArray, FloatArray, game_tree

RULES = Rules()
TREE = game_tree(RULES)
HERE = TREE.decisions
PLIES = 9

Paid: TypeAlias = Callable[[batch.Outcome], FloatArray]
"""What a ply pays to the seat that makes it, [B]."""


@dataclass(frozen=True)
class Moves:
    """Hold what each cell does in each of the 4,520 positions in which somebody has to move."""

    outcomes: list[batch.Outcome]
    """Of each cell."""
    legal: BoolArray
    """[4520, 9]"""
    goes_on: BoolArray
    """[4520, 9]"""
    after: Any
    """[4520, 9]: the number of the position that a cell leads to."""


def moves() -> Moves:
    """Return what each cell does."""
    state = batch.State(*(marks[HERE].astype(np.int64) for marks in (TREE.mover, TREE.opponent, TREE.ply)))
    outcomes = [batch.play(RULES, state, np.full(len(HERE), cell)) for cell in range(RULES.cells)]
    return Moves(
        outcomes,
        np.stack([~outcome.illegal for outcome in outcomes], axis=1),
        np.stack([~outcome.terminated for outcome in outcomes], axis=1),
        np.stack([TREE.find(outcome.state.mover, outcome.state.opponent) for outcome in outcomes], axis=1),
    )


MOVES = moves()


def paid(rewards: Rewards) -> Paid:
    """Return what the environment pays."""
    return lambda outcome: np.asarray(batch.reward(rewards, outcome))


def won_on_the_last_cell_is_drawn(outcome: batch.Outcome) -> FloatArray:
    """Pay 1 for a line, but look first whether the board is full."""
    return np.where(outcome.win & (outcome.state.ply < PLIES), 1.0, 0.0)


def against_the_best(pay: Paid, future: float = 1.0, barred: bool = True) -> FloatArray:
    """Return what each cell is worth, [4520, 9], if what one seat gets the other pays.

    Taken cells are `barred`, or end the game as the reward says.
    """
    rewards = np.stack([pay(outcome) for outcome in MOVES.outcomes], axis=1)
    values = np.zeros(MOVES.legal.shape)
    for _ in range(PLIES):
        worth = np.zeros(len(TREE))
        worth[HERE] = (np.where(MOVES.legal, values, -np.inf) if barred else values).max(axis=1)
        values = rewards - future * MOVES.goes_on * worth[MOVES.after]
    return np.where(MOVES.legal, values, -np.inf) if barred else values


def against_random(pay: Paid, lost: float) -> FloatArray:
    """Return what each cell is worth, [4520, 9], to a seat whose opponent marks a random empty cell.

    If that completes a line, the seat gets `lost`.
    """
    rewards = np.stack([pay(outcome) for outcome in MOVES.outcomes], axis=1)
    replies = MOVES.legal / MOVES.legal.sum(axis=1, keepdims=True)
    wins = np.stack([outcome.win for outcome in MOVES.outcomes], axis=1)
    values = np.zeros(MOVES.legal.shape)
    draws = np.stack([outcome.draw for outcome in MOVES.outcomes], axis=1)
    for _ in range(PLIES):
        worth = np.zeros(len(TREE))  # at the seat's own turn
        worth[HERE] = np.where(MOVES.legal, values, -np.inf).max(axis=1)
        replied = np.zeros(len(TREE))  # at the opponent's turn
        results = np.where(wins, lost, np.where(draws, rewards, 0.0)) + MOVES.goes_on * worth[MOVES.after]
        replied[HERE] = (replies * results).sum(axis=1)
        values = rewards + MOVES.goes_on * replied[MOVES.after]
    return np.where(MOVES.legal, values, -np.inf)


class EveryBest:
    """Play each of the best cells with the same probability, so that a proof follows all of them."""

    def __init__(self, values: FloatArray) -> None:
        best = values > values.max(axis=1, keepdims=True) - 1e-9
        self.chances = best / best.sum(axis=1, keepdims=True)

    def probabilities(self, observation: Any, action_mask: Any = None) -> FloatArray:
        """Return the probability of each cell, [B, 9], for observations [B, 3, 3, 3] of the mover's view."""
        del action_mask
        planes = np.asarray(observation).reshape(-1, RULES.cells, 3).astype(np.int64)
        mine, theirs = planes[..., 1] @ (1 << np.arange(RULES.cells)), planes[..., 2] @ (1 << np.arange(RULES.cells))
        chances: FloatArray = self.chances[np.searchsorted(HERE, TREE.find(mine, theirs))]
        return chances


def judged(values: FloatArray) -> selfplay.Verdict:
    """Return the exact evaluation of whoever plays any of the best cells."""
    return selfplay.evaluate(EveryBest(values), RULES, perspective="mover")


def opening(values: FloatArray) -> dict[str, float]:
    """Return what the corner, the edge and the centre are worth on the empty board."""
    first = values[np.searchsorted(HERE, TREE.find(np.array([0]), np.array([0])))[0]]
    return {f"worth of the {name}": float(first[cell]) for name, cell in (("corner", 0), ("edge", 1), ("centre", 4))}
