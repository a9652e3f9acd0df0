"""The picture of an arena: every first seat against every second."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray


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
