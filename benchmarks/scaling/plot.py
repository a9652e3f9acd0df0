"""Plot what `python -m benchmarks.scaling` measures: six small panels with logarithmic axes."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullLocator

from benchmarks.harness import Spread
from benchmarks.scaling.curves import IN_NUMPY, IN_TORCH, PGX, PLAYING, PRODUCTS, TURNS, TWO_LAYERS, UPDATE, VECTOR

CSV_HEADER = ("panel", "curve", "x", "point", "unit", "median", "least", "most", "measurements")
SIZE = (10, 11.5)
"""Inches, for 1,200 pixels across."""
STYLES = {
    VECTOR: ("#0072b2", "o"),
    IN_NUMPY: ("#e69f00", "s"),
    IN_TORCH: ("#009e73", "^"),
    PLAYING: ("#d55e00", "D"),
    PGX: ("#7a7a7a", "v"),
    TURNS: ("#cc79a7", "P"),
    UPDATE: ("#d55e00", "D"),
    UPDATE + TWO_LAYERS: ("#0072b2", "o"),
    PRODUCTS: ("#d55e00", ""),
    PRODUCTS + TWO_LAYERS: ("#0072b2", ""),
}
"""Colours of Okabe and Ito's palette, which people with any colour vision can tell apart, and markers."""


class Measurement(NamedTuple):
    """Hold one figure of a curve at one point of a panel."""

    panel: str
    curve: str
    x: int
    point: str
    unit: str
    spread: Spread
    measurements: int
    """Measurements in the spread."""


def figure(measurements: Sequence[Measurement]) -> Figure:
    """Plot each curve's median over its panel's axis, and the least and the most as a band."""
    times = [
        each._replace(unit="s/step", spread=Spread(*(each.x / rate for rate in each.spread))) for each in measurements
    ]
    in_boards = "boards played side by side"
    panels = (
        ("boards", "plies/s", "Plies per second", in_boards),
        ("boards", "s/step", "Seconds per step of all boards", in_boards),
        ("memory", "peak B/board", "Peak memory per board", in_boards),
        ("board size", "plies/s", "Larger boards (1,024 side by side)", "rows, columns, marks in a row that win"),
        ("batch size", "updates/s", "Updates per second: batch size", "transitions in a batch (default network)"),
        ("width", "updates/s", "Updates per second: network width", "units in a hidden layer (default batch)"),
    )
    with rc_context({"font.size": 12, "axes.titlesize": 13}):
        plotted = Figure(figsize=SIZE, layout="constrained")
        axes = list(plotted.subplots(3, 2).flat)
        for panel, (name, unit, title, x_label) in zip(axes, panels, strict=True):
            chosen = [each for each in (*measurements, *times) if (each.panel, each.unit) == (name, unit)]
            plot_panel(panel, chosen)
            panel.set_title(title)
            panel.set_xlabel(x_label)
            panel.set_ylabel(unit)
            if unit == "updates/s":
                panel.legend(fontsize=10, loc="lower left", frameon=False)
        curves: dict[str, Artist] = {}
        for panel in (axes[0], axes[3]):
            curves |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
        plotted.legend(list(curves.values()), list(curves), loc="outside upper center", ncols=3, frameon=False)
    return plotted


def plot_panel(axes: Axes, chosen: Sequence[Measurement]) -> None:
    """Plot the curves of a panel."""
    for curve in dict.fromkeys(each.curve for each in chosen):
        of_curve = [each for each in chosen if each.curve == curve]
        x = [each.x for each in of_curve]
        median, least, most = zip(*(each.spread for each in of_curve), strict=True)
        colour, marker = STYLES[curve]
        axes.plot(x, median, color=colour, marker=marker, markersize=5, linestyle="-" if marker else ":", label=curve)
        axes.fill_between(x, least, most, color=colour, alpha=0.2, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = {each.x: each.point for each in chosen}
    axes.set_xticks(list(ticks)[::2], list(ticks.values())[::2], fontsize=10)  # more do not fit beside each other
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
