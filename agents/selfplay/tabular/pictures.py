"""Pictures of the tabular learners, drawn without a display."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from selfplay.tabular.boards import FloatArray, IntArray
from selfplay.training.pictures import FIRST, OUTCOMES, SECOND

POINTS = 500
"""Of a curve; more would not be seen."""


def cumulative_figure(curves: Mapping[str, IntArray]) -> Figure:
    """Draw cumulative counts by match-up, [seeds, games, 3]: the mean over seeds, with least and most as a band."""
    figure = Figure(figsize=(4.2 * len(curves), 4), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, (name, counts) in zip(panels, curves.items(), strict=True):
        seeds, games, _ = counts.shape
        shown = np.unique(np.linspace(0, games - 1, POINTS).astype(int))
        for column, (_, label, colour) in enumerate(OUTCOMES):
            curve = counts[:, shown, column]
            share = counts[:, -1, column].mean() / games
            axes.plot(shown + 1, curve.mean(axis=0), color=colour, label=f"{label} {share:.1%}")
            axes.fill_between(shown + 1, curve.min(axis=0), curve.max(axis=0), color=colour, alpha=0.2, linewidth=0)
        axes.set_title(name if seeds == 1 else f"{name}, {seeds} seeds")
        axes.set_xlabel("games")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left")
    panels[0].set_ylabel("games so far that ended so")
    return figure


def groups_figure(counts: IntArray, size: int) -> Figure:
    """Draw the results of successive groups of `size` games, [groups, 3], as stacked bars."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    last = np.cumsum(counts.sum(axis=1))
    names = [f"{end - games + 1:,} to {end:,}" for end, games in zip(last, counts.sum(axis=1), strict=True)]
    below = np.zeros(len(counts), dtype=np.int64)
    for column, (_, label, colour) in enumerate(OUTCOMES):
        bars = axes.bar(names, counts[:, column], bottom=below, color=colour, label=label, width=0.7)
        numbers = [f"{count:,}" if count >= size / 20 else "" for count in counts[:, column]]
        axes.bar_label(bars, labels=numbers, label_type="center", color="white")
        below += counts[:, column]
    axes.set_xlabel("greedy games")
    axes.set_ylabel("games that ended so")
    axes.set_title(f"Results in groups of {size:,} games")
    figure.legend(loc="outside lower center", ncols=len(OUTCOMES))
    return figure


def density_figure(winning: FloatArray, other: FloatArray) -> Figure:
    """Draw the densities of the learned values of winning and of all other positions."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    both = np.concatenate([winning, other])
    edges = np.linspace(both.min(initial=0.0), both.max(initial=1.0), 61)
    for values, kind, colour in ((winning, "winning", FIRST), (other, "other", SECOND)):
        heights = np.histogram(values, edges)[0] / np.diff(edges) / max(len(values), 1)
        axes.stairs(heights, edges, fill=True, alpha=0.35, color=colour, label=f"{kind} positions ({len(values):,})")
        axes.stairs(heights, edges, linewidth=1.5, color=colour)
    axes.set_xlabel("learned value of the position to the seat that has just moved")
    axes.set_ylabel("density")
    axes.set_title("Learned values")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
