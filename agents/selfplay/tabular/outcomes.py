"""Counts of how games end: running totals and totals of groups, as arrays and as CSV."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.files import write_csv
from selfplay.tabular.boards import IntArray
from selfplay.tabular.kernels import DRAW, ILLEGAL

COLUMNS = ("first_wins", "second_wins", "draws")


def results(outcomes: NDArray[np.int8]) -> IntArray:
    """Return each game as a row [games, 3] with a 1 for a first seat's win, a second seat's win or a draw.

    A game that a taken cell has ended is won by the other seat.
    """
    illegal = outcomes >= ILLEGAL
    winner = np.where(illegal, 1 - (outcomes - ILLEGAL), outcomes)
    return np.stack([winner == 0, winner == 1, winner == DRAW], axis=1).astype(np.int64)


def cumulative_counts(outcomes: NDArray[np.int8]) -> IntArray:
    """Return the first seat's wins, the second's and the draws after each game, [games, 3]."""
    return results(outcomes).cumsum(axis=0)


def group_counts(outcomes: NDArray[np.int8], size: int) -> IntArray:
    """Return the same counts for each group of `size` games, [groups, 3]; the last group may be smaller."""
    return np.add.reduceat(results(outcomes), np.arange(0, len(outcomes), size), axis=0)


class Counts(NamedTuple):
    """Count how games have ended."""

    draws: int = 0
    first_wins: int = 0
    second_wins: int = 0
    first_illegal: int = 0
    """Games that the first seat has lost by playing a taken cell."""
    second_illegal: int = 0


def count(outcomes: NDArray[np.int8]) -> Counts:
    """Count outcomes [games] int8, in less time than the games took."""
    return Counts(*np.bincount(outcomes.astype(np.intp) - DRAW, minlength=len(Counts._fields)).tolist())


def shares(counts: Counts) -> dict[str, float]:
    """Return what part of the games ended how, by TensorBoard tag.

    A game that a taken cell has ended is also a win of the other seat.
    """
    games = max(sum(counts), 1)
    return {
        "games/first_wins": (counts.first_wins + counts.second_illegal) / games,
        "games/second_wins": (counts.second_wins + counts.first_illegal) / games,
        "games/draws": counts.draws / games,
        "games/illegal": (counts.first_illegal + counts.second_illegal) / games,
    }


def write_groups(path: Path, counts: IntArray) -> None:
    """Write the counts of successive groups of games, [groups, 3], as CSV: one line per group.

    Raises:
        UserError: the file cannot be written.
    """
    last = counts.sum(axis=1).cumsum()
    first = last - counts.sum(axis=1) + 1
    lines = np.column_stack([first, last, counts]).tolist()
    write_csv(path, [["first_game", "last_game", *COLUMNS], *lines])


def write_curves(path: Path, curves: Mapping[str, IntArray], seeds: Iterable[int], every: int = 1) -> None:
    """Write cumulative counts by match-up, [seeds, games, 3], as CSV: a line per match-up, seed and `every` games.

    Raises:
        UserError: the file cannot be written.
    """
    seeds = list(seeds)
    lines: list[list[str | int]] = [["match_up", "seed", "game", *COLUMNS]]
    for name, of_seeds in curves.items():
        for seed, counts in zip(seeds, of_seeds, strict=True):
            shown = counts[every - 1 :: every].tolist()
            lines.extend([name, seed, number * every, *row] for number, row in enumerate(shown, start=1))
    write_csv(path, lines)
