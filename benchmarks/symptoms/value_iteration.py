"""What learning without end converges to: the exact best values under a reward, by value iteration.

A game of tic-tac-toe lasts nine plies at most, so nine sweeps over all positions settle every value.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import selfplay
from tictactoe import Rewards, Rules, batch
from tictactoe.tree import FloatArray, game_tree

RULES = Rules()
TREE = game_tree(RULES)
DECISIONS = TREE.decisions
PLIES = 9
PayOff: TypeAlias = Callable[[batch.Outcome], FloatArray]
"""Reward of the mover for a ply, [B]."""

STATE = batch.State(*(marks[DECISIONS].astype(np.int64) for marks in (TREE.mover, TREE.opponent, TREE.ply)))
OUTCOMES = [batch.play(RULES, STATE, np.full(len(DECISIONS), cell)) for cell in range(RULES.cells)]
LEGAL = np.stack([~outcome.illegal for outcome in OUTCOMES], axis=1)
"""[4520, 9], as are the next two."""
GOES_ON = np.stack([~outcome.terminated for outcome in OUTCOMES], axis=1)
AFTER: Any = np.stack([TREE.find(outcome.state.mover, outcome.state.opponent) for outcome in OUTCOMES], axis=1)
"""Number of the position that a cell leads to."""


def environment_reward(rewards: Rewards) -> PayOff:
    """Return the environment's own rewards."""
    return lambda outcome: np.asarray(batch.reward(rewards, outcome))


def last_cell_draws(outcome: batch.Outcome) -> FloatArray:
    """Pay 1 for a line, but look first whether the board is full."""
    return np.where(outcome.win & (outcome.state.ply < PLIES), 1.0, 0.0)


def against_best(pay: PayOff, gamma: float = 1.0, barred: bool = True) -> FloatArray:
    """Return the value of each cell, [4520, 9], if the opponent pays what a seat gets and replies best.

    Taken cells are `barred`, or end the game with their reward.
    """
    rewards = np.stack([pay(outcome) for outcome in OUTCOMES], axis=1)
    values = np.zeros(LEGAL.shape)
    for _ in range(PLIES):
        best = np.zeros(len(TREE))
        best[DECISIONS] = (np.where(LEGAL, values, -np.inf) if barred else values).max(axis=1)
        values = rewards - gamma * GOES_ON * best[AFTER]
    return np.where(LEGAL, values, -np.inf) if barred else values


def against_random(pay: PayOff, lost: float) -> FloatArray:
    """Return the value of each cell, [4520, 9], against random replies; a reply that completes a line pays `lost`."""
    rewards = np.stack([pay(outcome) for outcome in OUTCOMES], axis=1)
    replies = LEGAL / LEGAL.sum(axis=1, keepdims=True)
    wins = np.stack([outcome.win for outcome in OUTCOMES], axis=1)
    draws = np.stack([outcome.draw for outcome in OUTCOMES], axis=1)
    values = np.zeros(LEGAL.shape)
    for _ in range(PLIES):
        best = np.zeros(len(TREE))  # at the seat's own turn
        best[DECISIONS] = np.where(LEGAL, values, -np.inf).max(axis=1)
        replied = np.zeros(len(TREE))  # at the opponent's turn
        results = np.where(wins, lost, np.where(draws, rewards, 0.0)) + GOES_ON * best[AFTER]
        replied[DECISIONS] = (replies * results).sum(axis=1)
        values = rewards + GOES_ON * replied[AFTER]
    return np.where(LEGAL, values, -np.inf)


class EveryBestMove:
    """Play each of the best cells with the same probability, so that the evaluation follows all of them."""

    def __init__(self, values: FloatArray) -> None:
        best = values > values.max(axis=1, keepdims=True) - 1e-9
        self.chances = best / best.sum(axis=1, keepdims=True)

    def probabilities(self, observation: Any, action_mask: Any = None) -> FloatArray:
        """Return the probability of each cell, [B, 9], for mover's views [B, 3, 3, 3]."""
        del action_mask
        planes = np.asarray(observation).reshape(-1, RULES.cells, 3).astype(np.int64)
        mine, theirs = (planes[..., plane] @ (1 << np.arange(RULES.cells)) for plane in (1, 2))
        chances: FloatArray = self.chances[np.searchsorted(DECISIONS, TREE.find(mine, theirs))]
        return chances


def evaluate(values: FloatArray) -> selfplay.Verdict:
    """Evaluate the player of every best cell."""
    return selfplay.evaluate(EveryBestMove(values), RULES, perspective="mover")


def opening(values: FloatArray) -> dict[str, float]:
    """Return the values of corner, edge and centre on the empty board."""
    first = values[np.searchsorted(DECISIONS, TREE.find(np.array([0]), np.array([0])))[0]]
    return {f"worth of the {name}": float(first[cell]) for name, cell in (("corner", 0), ("edge", 1), ("centre", 4))}
