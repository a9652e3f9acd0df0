"""The built-in opponents: each is the set of cells among which it picks at random.

A choice is a pure function of a position, (rules, mover, opponent) -> bitboard, for a Python integer or for
many boards in a NumPy array, so that whoever plays draws from it and whoever analyses enumerates it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe import planes
from tictactoe.rules import Bitboard, Rules
from tictactoe.solver import solve

Choices: TypeAlias = Callable[[Rules, Bitboard, Bitboard], Bitboard]


def random_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return every empty cell."""
    return rules.empty_cells(mover, opponent)


def heuristic_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the cells that win at once, else those that keep the opponent from winning, else every empty one."""
    empty = rules.empty_cells(mover, opponent)
    wins, blocks = rules.winning_cells(mover) & empty, rules.winning_cells(opponent) & empty
    if isinstance(empty, int):
        return wins or blocks or empty
    return np.where(wins != 0, wins, np.where(blocks != 0, blocks, empty))


def optimal_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the cells that keep the game-theoretic value; the position must be one that a game leads to.

    Raises:
        ValueError: the board has more than 16 cells and cannot be solved.
    """
    solution = solve(rules)
    return solution.optimal_moves[solution.tree.find(mover, opponent)]


OPPONENTS: Mapping[str, Choices] = MappingProxyType(
    {"random": random_choices, "heuristic": heuristic_choices, "optimal": optimal_choices}
)


def pick(cells: int, choices: Bitboard, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw for each board one of its choices, [B] int64; a board without any gets cell 0.

    `choices` is [B] int64, bitboards of a board of `cells` cells.
    """
    return choose(cells, choices, generator.random(len(choices)))


def choose(cells: int, choices: Bitboard, fractions: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the choice that lies so far through each board's choices, [B] int64; `fractions` are of [0, 1)."""
    chosen = planes.bits(cells, choices)
    rank = fractions * chosen.sum(axis=1)  # of the choice to take, counted from 0
    picked: NDArray[np.int64] = np.argmax(chosen.cumsum(axis=1) > rank[:, None], axis=1)
    return picked
