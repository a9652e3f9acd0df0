"""The plots of a report: the share of runs proved as curves, and the times to a proof of all settings."""

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from selfplay.pictures import FIRST, styled
from selfplay.sweep.results import MISSING, Results, survival_data
from selfplay.sweep.statistics import interquartile_mean, proved_curve

MOST_CURVES = 7
"""Curves in one plot besides that of the first setting, in which more could not be told apart."""
MOST_SETTINGS = 60
"""Settings in the plot of all."""


@styled()
def figures(results: Results, titles: Mapping[str, str]) -> dict[str, Figure]:
    """Return the plots over steps, updates or seconds, which have these titles, by the names of their files."""
    plots = {}
    settings = [*results.items()]
    for kind, title in titles.items():
        for start in range(0, max(len(settings) - 1, 1), MOST_CURVES):
            number = f"-{start // MOST_CURVES + 1}" if start else ""
            some = settings[:1] + settings[start + 1 :][:MOST_CURVES]
            plots[f"proved-{kind}{number}.png"] = curves(dict(some), kind, title)
        plots[f"settings-{kind}.png"] = means(dict(settings[:MOST_SETTINGS]), kind, title)
    return plots


def curves(results: Results, kind: str, title: str) -> Figure:
    """Plot the share of runs proved over steps, updates or seconds, with 95 % intervals and marks where runs ended."""
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    for setting, of_setting in results.items():
        followed, proved = survival_data(of_setting, kind)
        curve = proved_curve(followed, proved)
        at, share, low, high = (np.concatenate([[0.0], part]) for part in curve)
        [line] = axes.step(at, share, where="post", label=f"{setting}: {sum(proved)} of {len(proved)}")
        colour = line.get_color()
        axes.fill_between(at, low, high, step="post", color=colour, alpha=0.15, linewidth=0)
        censored = [amount for amount, held in zip(followed, proved, strict=True) if not held]
        axes.plot(censored, curve.share[np.searchsorted(curve.amounts, censored)], "|", color=colour, markersize=10)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_title(
        "Share of runs from where on the proof held, 95 % intervals; | is a run without a proof, at its end",
        fontsize="medium",
    )
    axes.grid(alpha=0.3)
    _label_amounts(axes, title)
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    return figure


def means(results: Results, kind: str, title: str) -> Figure:
    """Plot the interquartile mean to a proof of each setting with its interval, and every run as a dot."""
    figure = Figure(figsize=(9, 1.8 + 0.32 * len(results)), layout="constrained")
    axes = figure.subplots()
    for place, of_setting in enumerate(results.values()):
        times = [result.to_proof(kind) for result in of_setting if result.end != MISSING]
        finite = [time for time in times if math.isfinite(time)]
        axes.plot(finite, [place + 0.22] * len(finite), ".", color="0.6", markersize=4)
        mean = interquartile_mean(times)
        if math.isfinite(mean.value):
            high = min(mean.high, max(finite))  # of a mean that may be endless an arrow, as far as the last of its runs
            spread = [[mean.value - mean.low], [high - mean.value]]
            axes.errorbar(mean.value, place, xerr=spread, fmt="o", color=FIRST, xlolims=math.isinf(mean.high))
        if never := len(times) - len(finite):
            where = axes.get_yaxis_transform()
            axes.text(1.01, place, f"{never} never", transform=where, va="center", fontsize="small")
    axes.set_yticks(range(len(results)), labels=[setting[:60] for setting in results], parse_math=False)
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.grid(alpha=0.3, axis="x")
    _label_amounts(axes, f"{title} to a proof: interquartile mean, 95 % interval, and every run")
    return figure


def _label_amounts(axes: Axes, title: str) -> None:
    """Label the axis of steps, updates or seconds."""
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_xlabel(title)
