"""The built-in opponents: each is the set of cells among which it picks at random.

A choice is a pure function of a position, (rules, mover, opponent) -> bitboard, so that whoever plays draws
from it and whoever analyses enumerates it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from tictactoe.rules import Rules
from tictactoe.solver import solve

Choices: TypeAlias = Callable[[Rules, int, int], int]


def random_choices(rules: Rules, mover: int, opponent: int) -> int:
    """Return every empty cell."""
    return int(rules.empty_cells(mover, opponent))


def heuristic_choices(rules: Rules, mover: int, opponent: int) -> int:
    """Return the cells that win at once, else those that keep the opponent from winning, else every empty one."""
    empty = random_choices(rules, mover, opponent)
    return int(rules.winning_cells(mover) & empty) or int(rules.winning_cells(opponent) & empty) or empty


def optimal_choices(rules: Rules, mover: int, opponent: int) -> int:
    """Return the cells that keep the game-theoretic value.

    Raises:
        ValueError: the board has more than 16 cells and cannot be solved.
    """
    _, cells = solve(rules).lookup(mover, opponent)
    return sum(1 << cell for cell in cells)


OPPONENTS: Mapping[str, Choices] = MappingProxyType(
    {"random": random_choices, "heuristic": heuristic_choices, "optimal": optimal_choices}
)
