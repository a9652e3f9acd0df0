"""The work on many bitboards that a vector environment does at each step: by NumPy here, and compiled in `compiled.py`.

Numba is no dependency of the environment. It comes with the agents (`pip install 'tictactoe-selfplay[train]'`), and is
looked for when a board is too big for a table of all its positions. Both ways are equal in every result.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tictactoe import batch, opponents, planes
from tictactoe.envs.backends.games import Cells, Flags, Planes, Results
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules


class Kernels(NamedTuple):
    """Hold the functions that do the work."""

    play: Callable[[Rules, Rewards, batch.State, Cells, Flags, bool], Results]
    look: Callable[[Rules, batch.State, Cells, Flags], tuple[Planes, Planes]]
    choose: Callable[[int, Cells, NDArray[np.float64]], Cells]


def play(rules: Rules, rewards: Rewards, state: batch.State, cells: Cells, idle: Flags, restart: bool) -> Results:
    """Return what the moves [N] do.

    On an idle board nothing is played, and nothing is won: it stays as it is, or with `restart` is empty.
    """
    outcome = batch.play(rules, state, cells)
    results = Results(
        outcome.state,
        batch.reward(rewards, outcome),
        outcome.terminated,
        batch.winner(state.to_play, outcome),
        outcome.illegal,
    )
    if not np.count_nonzero(idle):
        return results
    going_on = ~idle
    return Results(
        batch.restart(outcome.state, idle) if restart else batch.where(idle, state, outcome.state),
        np.where(idle, 0.0, results.reward),
        results.terminated & going_on,
        np.where(idle, -1, results.winner),
        results.illegal & going_on,
    )


def look(rules: Rules, state: batch.State, first_seat: Cells, over: Flags) -> tuple[Planes, Planes]:
    """Return the one-hot planes [N, R, C, 3] and the action masks [N, A], all ones where the game is over.

    `first_seat` [N] is the seat whose marks are in plane 1 of each board.
    """
    turned = state.to_play != first_seat
    first = np.where(turned, state.opponent, state.mover)
    second = np.where(turned, state.mover, state.opponent)
    seen = planes.one_hot(rules.cells, first, second).reshape(-1, rules.rows, rules.cols, 3)
    empty = np.where(over, rules.full_word, rules.empty_cells(state.mover, state.opponent))
    return seen, planes.bits(rules.cells, empty).view(np.int8)


BY_NUMPY = Kernels(play, look, opponents.choose)


@lru_cache(maxsize=1)
def kernels() -> Kernels:
    """Return the fastest functions that can be had."""
    try:
        from tictactoe.envs.backends import compiled  # noqa: PLC0415 (it takes 0.3 s, and need not be there)
    except ImportError:
        return BY_NUMPY
    return Kernels(compiled.play, compiled.look, compiled.choose)
