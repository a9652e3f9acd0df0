"""Backward induction over an agent's own play: how soon each position is lost, and the worst mean result.

Both go back from the last ply. After each move of the agent the opponent chooses the worst reply for the agent. A
position is lost at once if the agent marks a taken cell there, and in two plies if a reply wins by a line. Any other
position is lost two plies before the first lost position to which its move and some reply lead.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from selfplay.judge.ask import AgentPolicy
from selfplay.judge.follow import MoveResults, Ply, move_results, sort_keys
from selfplay.protocols import Array
from tictactoe import Rules, planes
from tictactoe.symmetry import representatives
from tictactoe.tree import BoolArray, FloatArray, IntArray

NEVER = inf
"""Plies to the loss of what cannot be lost."""
EXACT_DIGITS = 12
"""Digits of a sum of probabilities that rounding leaves exact."""


class Values(NamedTuple):
    """The values of the positions [n] of one ply: plies to the loss, or mean results."""

    keys: Array
    """One for each position, sorted; see `sort_keys`."""
    value: FloatArray


class EndValues(NamedTuple):
    """The values of the ends of a game to the agent; the opponent chooses the least."""

    taken: float
    """The agent marks a taken cell, or loses by its line."""
    won: float
    answered: float
    """The opponent wins by a line."""
    drawn: float
    plies: int
    """The amount added to the value for a move and a reply."""


PLIES_TO_LOSS = EndValues(taken=1, won=NEVER, answered=2, drawn=NEVER, plies=2)
RESULT = EndValues(taken=-1, won=1, answered=-1, drawn=0, plies=0)


def play_distances(policy: AgentPolicy, plies: Sequence[Ply]) -> list[Values]:
    """Return the plies to the loss, by the move that loses first, of the positions of all plies of an agent's play."""
    distances: list[Values] = []
    later: Values | None = None
    for ply in reversed(plies):
        results = move_results(policy.rules, ply.mine, ply.theirs, ply.moves)
        distance = np.full(len(ply.mine), NEVER)
        np.minimum.at(distance, results.position, values_of_moves(policy, results, later))
        later = Values(sort_keys(policy.rules, ply.mine, ply.theirs), distance)
        distances.append(later)
    return distances[::-1]


def worst_mean(policy: AgentPolicy, plies: Sequence[Ply]) -> float:
    """Return the mean result, from -1 to 1, of an agent that samples its moves, against a best response.

    Given are all its plies in a seat, the first one first; there is one at least.
    """
    later: Values | None = None
    for ply in reversed(plies):
        results = move_results(policy.rules, ply.mine, ply.theirs, ply.moves)
        of_moves = values_of_moves(policy, results, later, RESULT)
        mean, least, most = np.zeros(len(ply.mine)), np.full(len(ply.mine), inf), np.full(len(ply.mine), -inf)
        np.add.at(mean, results.position, ply.answers[results.position, results.cell] * of_moves)
        np.minimum.at(least, results.position, of_moves)
        np.maximum.at(most, results.position, of_moves)
        # A mean of different results is none of them, even if the sum is, because a probability is tiny.
        between = np.clip(mean, np.nextafter(least, inf), np.nextafter(most, -inf))
        mean = np.where(least == most, least, between)
        later = Values(sort_keys(policy.rules, ply.mine, ply.theirs), mean)
    assert later is not None
    return float(later.value.min())  # in the second seat the opponent chooses the first position


def values_of_moves(
    policy: AgentPolicy, results: MoveResults, later: Values | None, ends: EndValues = PLIES_TO_LOSS
) -> FloatArray:
    """Return the value of each move if the opponent replies best, given the values of the agent's next ply."""
    rules = policy.rules
    cases = results.taken | results.lost, results.won, _answered_by_a_line(rules, results)
    value: FloatArray = np.select(cases, (ends.taken, ends.won, ends.answered), float(ends.drawn))  # or a full board
    unfinished = np.flatnonzero(~np.any(cases, axis=0))
    if len(unfinished):
        empty = rules.legal_cells(results.mine, results.theirs)[unfinished]
        board, cell = np.nonzero(planes.bits(rules.cells, empty))
        move = unfinished[board]
        value[move] = inf
        replied = results.theirs[move] | np.int64(1) << cell
        after = position_values(policy, results.mine[move], replied, later, ends) + ends.plies
        if rules.line_result < 0:  # the opponent loses by its line
            after = np.where(rules.has_line(replied), ends.won, after)
        np.minimum.at(value, move, after)
    return value


def _answered_by_a_line(rules: Rules, results: MoveResults) -> BoolArray:
    """Return for each move whether the opponent can win by a line at once."""
    empty = rules.legal_cells(results.mine, results.theirs)
    answered: BoolArray = rules.winning_cells(results.theirs) & empty != 0
    return answered


def position_values(
    policy: AgentPolicy, mine: IntArray, theirs: IntArray, later: Values | None, ends: EndValues = PLIES_TO_LOSS
) -> FloatArray:
    """Look up the values of positions [n] of a ply; those that are not in it, as the board is full, are drawn."""
    if later is None:
        return np.full(len(mine), ends.drawn)
    if policy.symmetric:
        mine, theirs = representatives(policy.rules, mine, theirs)
    keys = sort_keys(policy.rules, mine, theirs)
    place = np.minimum(np.searchsorted(later.keys, keys), len(later.keys) - 1)
    return np.where(later.keys[place] == keys, later.value[place], ends.drawn)
