"""How games end: counts, and the CSV files and plots that the learners report."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from selfplay.files import write_csv
from selfplay.plot_style import FIRST, RESULTS, SECOND, styled
from selfplay.tabular.kernels import DRAW, ILLEGAL, Outcomes
from tictactoe.tree import FloatArray, IntArray

POINTS = 500
"""Points of a curve; more cannot be seen."""
COLUMNS = tuple(column for column, _, _ in RESULTS)


def results(outcomes: Outcomes) -> IntArray:
    """Return each game as a row [games, 3] with a 1 for a first seat's win, a second seat's win or a draw.

    A game that ended with a taken cell is won by the other seat.
    """
    winner = np.where(outcomes >= ILLEGAL, 1 - (outcomes - ILLEGAL), outcomes)
    return np.stack([winner == 0, winner == 1, winner == DRAW], axis=1).astype(np.int64)


def cumulative_counts(outcomes: Outcomes) -> IntArray:
    """Return the first seat's wins, the second's and the draws after each game, [games, 3]."""
    return results(outcomes).cumsum(axis=0)


def group_counts(outcomes: Outcomes, size: int) -> IntArray:
    """Return the same counts for each group of `size` games, [groups, 3]; the last group may be smaller."""
    return np.add.reduceat(results(outcomes), np.arange(0, len(outcomes), size), axis=0)


def count(outcomes: Outcomes) -> IntArray:
    """Count the outcomes -1 to 3 of games, [5]: draws, wins of each seat, illegal moves of each seat."""
    return np.bincount(outcomes.astype(np.intp) - DRAW, minlength=5)


def shares(counts: IntArray) -> dict[str, float]:
    """Return the fraction of games with each result by TensorBoard tag, from what `count` returns.

    A game that ended with a taken cell is also a win of the other seat.
    """
    draws, first_wins, second_wins, first_illegal, second_illegal = counts.tolist()
    games = max(int(counts.sum()), 1)
    return {
        "games/first_wins": (first_wins + second_illegal) / games,
        "games/second_wins": (second_wins + first_illegal) / games,
        "games/draws": draws / games,
        "games/illegal": (first_illegal + second_illegal) / games,
    }


def write_curves(path: Path, curves: Mapping[str, IntArray], seed: int, every: int = 1) -> None:
    """Write cumulative counts by match-up, [games, 3], as CSV: a line per match-up and `every` games.

    Raises:
        OSError: the file cannot be written.
    """
    lines = [
        [name, seed, game, *counts[game - 1].tolist()]
        for name, counts in curves.items()
        for game in range(every, len(counts) + 1, every)
    ]
    write_csv(path, [["match_up", "seed", "game", *COLUMNS], *lines])


@styled()
def cumulative_figure(curves: Mapping[str, IntArray]) -> Figure:
    """Plot cumulative counts by match-up, [games, 3], with the final shares in the legend."""
    figure = Figure(figsize=(4.2 * len(curves), 4), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, (name, counts) in zip(panels, curves.items(), strict=True):
        games = len(counts)
        shown = np.unique(np.linspace(0, games - 1, POINTS).astype(int))
        for column, (_, label, colour) in enumerate(RESULTS):
            share = counts[-1, column] / games
            axes.plot(shown + 1, counts[shown, column], color=colour, label=f"{label} {share:.1%}")
        axes.set_title(name)
        axes.set_xlabel("games")
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left")
    panels[0].set_ylabel("games so far that ended so")
    return figure


@styled()
def groups_figure(counts: IntArray, size: int) -> Figure:
    """Plot the results of successive groups of `size` games, [groups, 3], as stacked bars."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    games = counts.sum(axis=1)
    last = games.cumsum()
    names = [f"{start + 1:,} to {end:,}" for start, end in zip(last - games, last, strict=True)]
    below = np.zeros(len(counts), dtype=np.int64)
    for column, (_, label, colour) in enumerate(RESULTS):
        heights = counts[:, column]
        bars = axes.bar(names, heights, bottom=below, color=colour, label=label, width=0.7)
        numbers = [f"{height:,}" if height >= size / 20 else "" for height in heights]
        axes.bar_label(bars, labels=numbers, label_type="center", color="white")
        below += heights
    axes.set_xlabel("greedy games")
    axes.set_ylabel("games that ended so")
    axes.set_title(f"Results in groups of {size:,} games")
    figure.legend(loc="outside lower center", ncols=len(RESULTS))
    return figure


@styled()
def density_figure(winning: FloatArray, other: FloatArray) -> Figure:
    """Plot the densities of the learned values of winning and of all other positions."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    both = np.concatenate([winning, other])
    edges = np.linspace(both.min(initial=0.0), both.max(initial=1.0), 61)
    for values, kind, colour in ((winning, "winning", FIRST), (other, "other", SECOND)):
        heights = np.histogram(values, edges)[0] / np.diff(edges) / max(len(values), 1)
        label = f"{kind} positions ({len(values):,})"
        axes.stairs(heights, edges, fill=True, alpha=0.35, color=colour, label=label)
        axes.stairs(heights, edges, linewidth=1.5, color=colour)
    axes.set_xlabel("learned value of the position to the seat that has just moved")
    axes.set_ylabel("density")
    axes.set_title("Learned values")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
