"""Pictures of a run, drawn without a display."""

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter, PercentFormatter, StrMethodFormatter
from numpy.typing import NDArray

FIRST, SECOND, BOTH = "#1f6fb4", "#d9622b", "#3a3a3a"
OUTCOMES = (
    ("first_wins", "first seat wins", FIRST),
    ("second_wins", "second seat wins", SECOND),
    ("draws", "draw", BOTH),
)
"""How games end: name in tables and tags, label and colour in pictures."""


def progress_figure(metrics: Sequence[Mapping[str, float]], unit: str) -> Figure:
    """Draw a run's exact score, and its loss or how its games end, from the lines of its metrics.jsonl.

    `unit` is what the x axis counts, plies or games, and the key of that number in each line.
    """
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    beaten, optimal, against_random, learning = figure.subplots(2, 2).ravel()
    steps = [line[unit] for line in metrics]

    def draw(axes: Axes, tag: str, label: str, colour: str, line_style: str = "-") -> None:
        values = [line.get(tag, np.nan) for line in metrics]
        axes.plot(
            steps, values, label=label, color=colour, linestyle=line_style, marker="." if line_style != ":" else ""
        )

    for seat, colour in (("first", FIRST), ("second", SECOND)):
        draw(beaten, f"eval/{seat}/losses", f"lost, {seat} seat", colour)
        draw(against_random, f"eval/{seat}/win_vs_random", f"{seat} seat", colour)
        draw(beaten, f"eval/{seat}/illegal", f"illegal, {seat} seat", colour, ":")
        if any(f"eval/{seat}/losses_at_least" in line for line in metrics):
            draw(beaten, f"eval/{seat}/losses_at_least", f"lost, at least, {seat} seat", colour, "--")
    beaten.set_yscale("symlog", linthresh=1)
    beaten.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    beaten.set_ylim(bottom=0)
    beaten.set_title("Game lines lost or ended by an illegal move")
    if "eval/optimal_fraction" in metrics[-1]:
        draw(optimal, "eval/optimal_fraction", "optimal", BOTH)
        optimal.yaxis.set_major_formatter(PercentFormatter(xmax=1))
        optimal.set_title("Decision states with an optimal move")
    else:
        draw(optimal, "eval/exploitability", "exploitability", BOTH)
        optimal.set_title("Exploitability")
    against_random.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    against_random.set_title("Wins against a random opponent (exact)")
    if "games/draws" in metrics[-1]:
        for end, label, colour in OUTCOMES:
            draw(learning, f"games/{end}", label, colour)
        learning.yaxis.set_major_formatter(PercentFormatter(xmax=1))
        learning.set_title("Training games")
        learning.legend()
    else:
        draw(learning, "loss/td", "squared TD error", BOTH)
        learning.set_yscale("log")
        learning.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        learning.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))  # 0.2, not 2 x 10^-1
        learning.yaxis.set_minor_formatter(NullFormatter())
        learning.set_title("Mean squared TD error")
    for axes in (beaten, optimal, against_random, learning):
        axes.set_xlabel(unit)
        axes.xaxis.set_major_formatter(EngFormatter())
        axes.grid(alpha=0.3)
    beaten.legend()
    against_random.legend()
    for axes in (optimal, against_random):
        if not any(np.isfinite(line.get_ydata()).any() for line in axes.get_lines()):
            _say_unknown(axes, learning.get_xlim())
    return figure


def _say_unknown(axes: Axes, span: tuple[float, float]) -> None:
    """Say why nothing is drawn, over the same steps as elsewhere, where the scale of no data would be of no use."""
    axes.set_xlim(span)
    axes.set_yticks([])
    reason = "not known: the player leads to\ntoo many positions to follow"
    axes.text(0.5, 0.5, reason, ha="center", va="center", transform=axes.transAxes)
    if legend := axes.get_legend():
        legend.remove()


def value_figure(values: NDArray[np.floating[Any]], title: str) -> Figure:
    """Draw the action values of one position, [R, C], as a board of colours and numbers."""
    rows, cols = values.shape
    figure = Figure(figsize=(1.1 * cols + 1.6, 1.1 * rows + 0.7), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(values, cmap="viridis")
    threshold = (values.min() + values.max()) / 2
    for (row, col), value in np.ndenumerate(values):
        axes.text(col, row, f"{value:+.2f}", ha="center", va="center", color="black" if value > threshold else "white")
    axes.set_xticks(np.arange(cols + 1) - 0.5, labels=[])
    axes.set_yticks(np.arange(rows + 1) - 0.5, labels=[])
    axes.grid(color="white", linewidth=2)
    axes.tick_params(length=0)
    axes.set_title(title)
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def score_figure(names: Sequence[str], scores: NDArray[np.float64], title: str) -> Figure:
    """Draw the first seat's mean score, rows, against each second seat, columns, as colours and numbers.

    `scores` is [n, n], 0 to 1. Orange is bad and purple good for the first seat, which everybody can tell apart.
    """
    count = len(names)
    figure = Figure(figsize=(0.8 * count + 3.2, 0.62 * count + 2.4), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(scores, cmap="PuOr", vmin=0, vmax=1)
    for (row, col), score in np.ndenumerate(scores):
        red, green, blue, _ = image.cmap(score)
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.45
        axes.text(col, row, score_text(score), ha="center", va="center", color="white" if dark else "black")
    axes.set_xticks(range(count), labels=names, parse_math=False, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(count), labels=names, parse_math=False)
    axes.set_xticks(np.arange(count + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(count + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="both", length=0)
    axes.set_ylabel("first seat (X)")
    axes.set_xlabel("second seat (O)")
    axes.set_title(title)
    bar = figure.colorbar(image, ax=axes, shrink=0.9)
    bar.set_label("first seat's mean score: win 1, draw 1/2, loss 0")
    return figure


def score_text(score: float) -> str:
    """Return a score in three digits, of which 0, 0.5 and 1 alone mean exactly that."""
    if score in {0, 0.5, 1}:
        return f"{score:g}"
    return f"{min(max(score, 0.001), 0.999):.3f}"


def png(figure: Figure) -> bytes:
    """Return a figure as the content of a PNG file."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # of a player's name, which is drawn as boxes then
        figure.savefig(buffer, format="png", dpi=120)
    return buffer.getvalue()
