"""Pictures of a run, drawn without a display."""

import io
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter, StrMethodFormatter
from numpy.typing import NDArray

FIRST, SECOND, BOTH = "#1f6fb4", "#d9622b", "#3a3a3a"


def progress_figure(metrics: Sequence[Mapping[str, float]]) -> Figure:
    """Draw a run's exact score and loss over plies from the lines of its metrics.jsonl."""
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    beaten, optimal, against_random, loss = figure.subplots(2, 2).ravel()
    plies = [line["plies"] for line in metrics]

    def draw(axes: Axes, tag: str, label: str, colour: str) -> None:
        axes.plot(plies, [line.get(tag, np.nan) for line in metrics], label=label, color=colour, marker=".")

    for seat, colour in (("first", FIRST), ("second", SECOND)):
        draw(beaten, f"eval/{seat}/losses", f"lost, {seat} seat", colour)
        draw(against_random, f"eval/{seat}/win_vs_random", f"{seat} seat", colour)
        beaten.plot(
            plies,
            [line.get(f"eval/{seat}/illegal", np.nan) for line in metrics],
            label=f"illegal, {seat} seat",
            color=colour,
            linestyle=":",
        )
    beaten.set_yscale("symlog", linthresh=1)
    beaten.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    beaten.set_ylim(bottom=0)
    beaten.set_title("Game lines lost or ended by an illegal move")
    draw(optimal, "eval/optimal_fraction", "optimal", BOTH)
    for axes in (optimal, against_random):
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    optimal.set_title("Decision states with an optimal move")
    against_random.set_title("Wins against a random opponent (exact)")
    draw(loss, "loss/td", "squared TD error", BOTH)
    loss.set_yscale("log")
    loss.set_title("Mean squared TD error")
    for axes in (beaten, optimal, against_random, loss):
        axes.set_xlabel("plies")
        axes.xaxis.set_major_formatter(EngFormatter())
        axes.grid(alpha=0.3)
    beaten.legend()
    against_random.legend()
    return figure


def value_figure(values: NDArray[np.float32], title: str) -> Figure:
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


def png(figure: Figure) -> bytes:
    """Return a figure as the content of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return buffer.getvalue()
