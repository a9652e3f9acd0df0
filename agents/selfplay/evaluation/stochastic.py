"""The worst mean result of an agent that draws its moves: backward induction, in which the opponent takes the least.

An agent that always plays the same move needs none of it: the worst end that is met is what it comes to.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tictactoe import Rules
from tictactoe.rules import WORD_BITS
from tictactoe.tree import FloatArray, GameTree, IntArray, Policy

EXACT_DIGITS = 12
"""Digits of a mean result that sums of probabilities do not blur."""


def worst_mean(tree: GameTree, policy: Policy, seat: int) -> float:
    """Return an agent's mean result, from -1 to 1, against the opponent that makes it least, from the last ply back."""
    value: FloatArray = np.zeros(0)
    for ply, level in reversed(list(tree.plies())):
        here = np.where(tree.lost[level], -1.0 if ply % 2 == seat else 1.0, 0.0)
        going_on = np.flatnonzero(~tree.finished[level])
        if len(going_on):
            states = going_on + level.start
            following = tree.successors(states)
            after = np.where(following < 0, -1.0, value[np.maximum(following - level.stop, 0)])
            if ply % 2 == seat:
                here[going_on] = (policy(states) * after).sum(axis=1)
            else:
                here[going_on] = np.where(following < 0, np.inf, after).min(axis=1)
        value = here
    return round(float(value[0]), EXACT_DIGITS)


class Moves(NamedTuple):
    """Hold the moves that an agent draws in the distinct positions of one ply, sorted by `sort_keys`."""

    mine: IntArray
    theirs: IntArray
    chances: FloatArray
    """[n, A]"""


def worst_mean_of(rules: Rules, moves: list[Moves], seat: int) -> float:
    """Return an agent's mean result, from -1 to 1, against the opponent that makes it least, from the last ply back.

    `moves` are those of all its plies in that seat, the first one first; there is one at least.
    """
    later: tuple[NDArray[Any], FloatArray] | None = None
    for number in reversed(range(len(moves))):
        mine, theirs, chances = moves[number]
        value = np.zeros(len(mine))
        marks = 2 * number + seat + 1  # on the board after its move
        for cell in range(rules.cells):
            bit = np.int64(1) << cell
            taken = (mine | theirs) & bit != 0
            moved = mine | bit
            worst = _worst_reply(rules, moved, theirs, later, full=marks == rules.cells)
            value += chances[:, cell] * np.where(taken, -1.0, np.where(rules.has_line(moved), 1.0, worst))
        later = sort_keys(rules, mine, theirs), value
    assert later is not None
    return round(float(later[1].min()), EXACT_DIGITS)  # in the second seat the opponent chooses among the first plies


def _worst_reply(
    rules: Rules, mine: IntArray, theirs: IntArray, later: tuple[NDArray[Any], FloatArray] | None, full: bool
) -> FloatArray:
    """Return the least value [n] that the opponent can lead these positions to, 0 where the game ends in a draw."""
    if full:
        return np.zeros(len(mine))
    worst = np.full(len(mine), np.inf)
    for cell in range(rules.cells):
        bit = np.int64(1) << cell
        free = (mine | theirs) & bit == 0
        replied = theirs | bit
        value = np.zeros(len(mine))
        if later is not None:
            keys, values = later
            place = np.minimum(np.searchsorted(keys, sort_keys(rules, mine, replied)), len(keys) - 1)
            value = values[place]
        value = np.where(rules.has_line(replied), -1.0, value)
        worst = np.where(free, np.minimum(worst, value), worst)
    return worst


def sort_keys(rules: Rules, mine: IntArray, theirs: IntArray) -> NDArray[Any]:
    """Return one sortable key [n] for each position, in the order of `merged`."""
    if 2 * rules.cells < WORD_BITS:
        return mine << rules.cells | theirs
    keys = np.empty(len(mine), dtype=[("mine", np.int64), ("theirs", np.int64)])
    keys["mine"], keys["theirs"] = mine, theirs
    return keys
