"""Draw what `python -m benchmarks.scaling` measures: six small panels with logarithmic axes."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullLocator

from benchmarks.measuring.spread import Spread
from benchmarks.scaling.rows import IN_NUMPY, IN_TORCH, PGX, PLAYING, PRODUCTS, TURNS, TWO_LAYERS, UPDATE, VECTOR

CSV_HEADER = ("panel", "curve", "x", "point", "unit", "median", "least", "most", "measurements")
SIZE = (1_200, 1_380)
"""Pixels, for 800 across in the README."""
LABELLED = 6
"""Points of a panel that fit beside each other with their names; of more, every other one is labelled."""
PIXELS_PER_INCH = 120
"""Of `selfplay.plots.png`."""
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
    times: int
    """Measurements in the spread."""

    def csv_line(self) -> list[str | int | float]:
        """Return the fields of `CSV_HEADER`; four digits say more than the spread allows."""
        return [*self[:5], *(float(f"{value:.4g}") for value in self.spread), self.times]


def figure(measurements: Sequence[Measurement]) -> Figure:
    """Draw each curve's median over its panel's axis, and the least and the most as a band."""
    with rc_context({"font.size": 12, "axes.titlesize": 13}):
        drawn = Figure(figsize=(SIZE[0] / PIXELS_PER_INCH, SIZE[1] / PIXELS_PER_INCH), layout="constrained")
        (speed, time), (memory, sizes), (batch, width) = drawn.subplots(3, 2)
        _panel(speed, measurements, "boards", "plies/s", "Plies per second")
        times = [each._replace(unit="s/step", spread=each.spread.time(each.x)) for each in measurements]
        _panel(time, times, "boards", "s/step", "Seconds per step of all boards")
        _panel(memory, measurements, "memory", "peak B/board", "Peak memory per board")
        _panel(sizes, measurements, "board size", "plies/s", "Larger boards (1,024 side by side)")
        _panel(batch, measurements, "batch size", "updates/s", "Updates per second: batch size")
        _panel(width, measurements, "width", "updates/s", "Updates per second: network width")
        for axes in (speed, time, memory):
            axes.set_xlabel("boards played side by side")
        speed.set_ylabel("plies/s")
        time.yaxis.set_major_formatter(EngFormatter("s", sep=" "))
        memory.yaxis.set_major_formatter(EngFormatter("B", sep=" "))
        points = {each.x: each.point for each in measurements if each.panel == "board size"}
        sizes.set_xticks(list(points), list(points.values()), rotation=35, ha="right", rotation_mode="anchor")
        sizes.set_xlabel("rows, columns, marks in a row that win")
        sizes.set_ylabel("plies/s")
        batch.set_xlabel("transitions in a batch (one layer of 512 units)")
        width.set_xlabel("units in a hidden layer (batch of 384)")
        for axes in (batch, width):
            axes.set_ylabel("updates/s")
            axes.legend(fontsize=10, loc="lower left", frameon=False)
        curves = dict(zip(*reversed(speed.get_legend_handles_labels()), strict=True))
        curves |= dict(zip(*reversed(sizes.get_legend_handles_labels()), strict=True))
        drawn.legend(curves.values(), curves.keys(), loc="outside upper center", ncols=3, frameon=False)
    return drawn


def _panel(axes: Axes, measurements: Sequence[Measurement], panel: str, unit: str, title: str) -> None:
    """Draw the curves of a panel."""
    chosen = [each for each in measurements if (each.panel, each.unit) == (panel, unit)]
    for curve in dict.fromkeys(each.curve for each in chosen):
        of_curve = [each for each in chosen if each.curve == curve]
        x = [each.x for each in of_curve]
        median, least, most = zip(*(each.spread for each in of_curve), strict=True)
        colour, marker = STYLES[curve]
        axes.plot(x, median, color=colour, marker=marker, markersize=5, linestyle="-" if marker else ":", label=curve)
        axes.fill_between(x, least, most, color=colour, alpha=0.2, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = sorted({each.x for each in chosen})
    every = 1 if len(ticks) <= LABELLED else 2
    axes.set_xticks(ticks[::every], [f"{x:,}" for x in ticks[::every]], fontsize=10)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
