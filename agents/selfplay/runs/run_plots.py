"""Plots of a run, made without a display."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter, PercentFormatter, StrMethodFormatter

from selfplay.judge.agent_tables import finite_values, value_text
from selfplay.plot_style import BOTH, FIRST, PROVED, RESULTS, SECOND, png, styled
from selfplay.protocols import Array
from selfplay.runs.folder import differences
from selfplay.runs.loop import Record
from selfplay.settings import RunSettings

VALUES = LinearSegmentedColormap.from_list("values", ["#e9925c", "#e8e5de", "#74b0ec"])
"""Colours of a loss, a draw and a win, as on the page; black is readable on all of them."""
SEATS = (("first", FIRST), ("second", SECOND))
"""The seats and their colours."""
TITLE_WIDTH, TITLE_HEIGHT = 3.5, 0.75
"""Inches that the heading of the opening needs; a board of two columns is narrower."""
HEADING_LINE = 0.03
"""Height of a line in the heading of a run, as a part of the figure."""


class NotebookFigure(Figure):
    """A figure that a notebook shows although it was made without pyplot."""

    def _repr_png_(self) -> bytes:
        return png(self)


@styled()
def run_figure(records: Sequence[Record], config: RunSettings, folder: Path, proved_from: Record | None) -> Figure:
    """Plot the progress of a run: large its ways to beat it, small how it learns, and from where on it is proved.

    The heading names the run, its seed and the settings that are not the defaults.
    """
    changed = [f"{name} = {value}" for name, value in differences(config).items()]
    settings = ", ".join(changed) or "all settings at their defaults"
    what = f"one run, seed {config.seed}; each dot is an exact evaluation"
    heading = [*textwrap.wrap(folder.resolve().name, 100), *textwrap.wrap(settings, 120)[:3], what]
    figure = NotebookFigure(figsize=(10, 6.5))
    figure.suptitle("\n".join(heading), fontsize="medium", parse_math=False)
    # A layout that measures its texts would draw all of them three times.
    top = 0.93 - HEADING_LINE * len(heading)
    grid = figure.add_gridspec(3, 3, left=0.07, right=0.98, bottom=0.19, top=top, wspace=0.3, hspace=0.35)
    ways = figure.add_subplot(grid[:, :2])
    optimal, against_random, learning = (figure.add_subplot(grid[row, 2], sharex=ways) for row in range(3))
    curves = Curves(records)
    plot_ways_to_beat(ways, curves)
    plot_optimality(optimal, curves)
    plot_wins_against_random(against_random, curves)
    plot_learning(learning, curves)
    for axes in figure.axes:
        _finish(axes, proved_from)
    for axes in (optimal, against_random):
        axes.tick_params(labelbottom=False)  # the lowest panel has the numbers
    for axes in (ways, learning):
        axes.set_xlabel(config.unit)
    ways.legend(loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=3)
    return figure


class Curves:
    """The numbers of a run's evaluations, by tag."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.metrics = [record.metrics for record in records]
        self.steps = [record.steps for record in records]

    def __contains__(self, tag: str) -> bool:
        return any(tag in line for line in self.metrics)

    def plot(self, axes: Axes, tag: str, label: str, colour: str, line_style: str = ".-", **style: Any) -> None:
        """Plot the numbers of a tag over the steps, if there are any."""
        if tag in self:
            values = [float(line.get(tag, np.nan)) for line in self.metrics]  # may be too large for int64
            axes.plot(self.steps, values, line_style, label=label, color=colour, **style)


def plot_ways_to_beat(axes: Axes, curves: Curves) -> None:
    """Plot the ways to beat a player, by a line and by its own illegal move."""
    curves.plot(axes, "eval/ways_to_beat", "all", BOTH, "-", linewidth=6, alpha=0.35)  # others lie on it
    for seat, colour in SEATS:
        curves.plot(axes, f"exact/{seat}/losses", f"by a line, {seat} seat", colour)
        curves.plot(axes, f"exact/{seat}/illegal", f"illegal move, {seat} seat", colour, ".:")
        curves.plot(axes, f"exact/{seat}/losses_at_least", f"by a line, at least, {seat} seat", colour, ".--")
    axes.set(yscale="symlog", title="Ways to beat it (0: nobody can)")
    axes.set_ylim(bottom=-0.3)  # so that the dots at 0 are whole
    axes.yaxis.set_major_formatter(EngFormatter())


def plot_optimality(axes: Axes, curves: Curves) -> None:
    """Plot in how many states the move is optimal or, where that is not known, the exploitability."""
    if "eval/optimal_fraction" in curves:
        curves.plot(axes, "eval/optimal_fraction", "optimal", BOTH)
        axes.set_title("States with an optimal move", fontsize="medium")
        _in_percent(axes)
    else:
        curves.plot(axes, "exact/exploitability", "exploitability", BOTH)
        axes.set_title("Exploitability", fontsize="medium")


def plot_wins_against_random(axes: Axes, curves: Curves) -> None:
    """Plot the probability of a win against a random opponent."""
    for seat, colour in SEATS:
        curves.plot(axes, f"exact/{seat}/win_vs_random", f"{seat} seat", colour)
    axes.set_title("Wins against random play", fontsize="medium")
    _in_percent(axes)


def plot_learning(axes: Axes, curves: Curves) -> None:
    """Plot how the games of the training end or, where that is not counted, the loss of the updates."""
    if "games/draws" in curves:
        for end, label, colour in RESULTS:
            curves.plot(axes, f"games/{end}", label, colour)
        axes.set_title("Training games", fontsize="medium")
        _in_percent(axes)
        return
    curves.plot(axes, "loss/td", "TD loss", BOTH)
    axes.set_title("TD loss in the last update", fontsize="medium")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))  # 0.2, not 2 x 10^-1
    axes.yaxis.set_minor_formatter(NullFormatter())


def _in_percent(axes: Axes) -> None:
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))


def _finish(axes: Axes, proved_from: Record | None) -> None:
    """Add what every panel has: a legend if there are several curves, the moment of the proof, and a grid."""
    if not axes.get_lines():
        reason = "not known: the player leads to\ntoo many positions to follow"
        axes.text(0.5, 0.5, reason, ha="center", va="center", transform=axes.transAxes)
    if len(axes.get_lines()) > 1:
        axes.legend(fontsize="small")
    if proved_from is not None:
        axes.axvline(proved_from.steps, color=PROVED, linestyle="--", label="proved from here on", zorder=0)
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.grid(alpha=0.3)


@styled()
def value_figure(values: Array, title: str, algorithm: str) -> Figure:
    """Plot the action values of one position, [R, C], as a board of numbers, in the page's colours; frame the best."""
    rows, cols = values.shape
    height = 1.1 * rows + TITLE_HEIGHT
    figure = Figure(figsize=(max(1.1 * cols, TITLE_WIDTH), height))
    axes = figure.add_axes((0, 0, 1, 1 - TITLE_HEIGHT / height))
    axes.set_axis_off()
    drawn = finite_values(values)
    loss = 0 if algorithm.startswith("td-") else -1  # what it is worth, as on the page
    axes.matshow(drawn, cmap=VALUES, vmin=loss, vmax=1)
    for (row, col), value in np.ndenumerate(drawn):
        axes.text(col, row, value_text(values[row, col]), ha="center", va="center", color="black")
        if value == drawn.max():
            axes.add_patch(Rectangle((col - 0.42, row - 0.42), 0.84, 0.84, fill=False, edgecolor="black", linewidth=3))
    axes.set_title(f"{title}\nframed: the best", fontsize="medium")
    return figure
