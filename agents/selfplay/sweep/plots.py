"""The plots of a report: shares proved as curves, and the times to a proof of all settings beside each other."""

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from selfplay.sweep.results import Results, amounts, survival_data
from selfplay.sweep.state import Sweep
from selfplay.sweep.statistics import interquartile_mean, proved_curve

MOST_CURVES = 8
"""Curves in one plot; more could not be told apart."""
MOST_SETTINGS = 60
"""Settings in the plot of all."""
BLUE = "#1f6fb4"


def figures(sweep: Sweep, results: Results, kinds: Sequence[str]) -> dict[str, Figure]:
    """Return the plots over steps, updates or seconds by the names of their files."""
    plots: dict[str, Figure] = {}
    for kind, title in amounts(sweep, results, kinds).items():
        for name, settings in _groups(sweep, list(results)).items():
            plots[f"proved-{kind}{name}.png"] = curves({each: results[each] for each in settings}, kind, title)
        plots[f"settings-{kind}.png"] = means(dict(list(results.items())[:MOST_SETTINGS]), kind, title)
    return plots


def _groups(sweep: Sweep, settings: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the settings of each plot by the end of its name: the first with those that differ in the same setting."""
    if len(settings) <= MOST_CURVES:
        return {"": settings}
    groups, most = {}, MOST_CURVES - 1

    def family(setting: str) -> str:
        name, _, _ = setting.rsplit(",", maxsplit=1)[-1].partition("=")
        return f"-{name}" if name in sweep.plan.each else ""

    for name, members in itertools.groupby(settings[1:], family):
        alike = list(members)
        for start in range(0, len(alike), most):
            number = f"-{start // most + 1}" if len(alike) > most else ""
            groups[name + number] = [settings[0], *alike[start : start + most]]
    return groups


def curves(results: Results, kind: str, title: str) -> Figure:
    """Plot the share of runs proved over steps, updates or seconds, with 95 % intervals and marks where runs ended."""
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    longest = max((r.outcome.amount(kind) for of_setting in results.values() for r in of_setting), default=0)
    for setting, of_setting in results.items():
        followed, proved = survival_data(of_setting, kind)
        if not followed:
            continue
        curve = proved_curve(followed, proved)
        end = longest if all(proved) else curve.amounts[-1]
        at = np.concatenate([[0.0], curve.amounts, [end]])
        share, low, high = (np.concatenate([[0.0], part, part[-1:]]) for part in curve[1:])
        [line] = axes.step(at, share, where="post", label=f"{setting}: {sum(proved)} of {len(proved)}")
        colour = line.get_color()
        axes.fill_between(at, low, high, step="post", color=colour, alpha=0.15, linewidth=0)
        censored = [amount for amount, held in zip(followed, proved, strict=True) if not held]
        reached = share[np.searchsorted(at, censored, side="right") - 1]
        axes.plot(censored, reached, "|", color=colour, markersize=10)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_title("Share of runs from where on the proof held, 95 % intervals; | is a run without a proof, at its end")
    axes.title.set_fontsize("medium")
    axes.grid(alpha=0.3)
    _label_amounts(axes, title)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return figure


def means(results: Results, kind: str, title: str) -> Figure:
    """Plot the interquartile mean to a proof of each setting with its interval, and every run as a dot."""
    figure = Figure(figsize=(9, 1.8 + 0.32 * len(results)), layout="constrained")
    axes = figure.subplots()
    for place, of_setting in enumerate(results.values()):
        times = [result.to_proof(kind) for result in of_setting if result.counts]
        finite = [time for time in times if math.isfinite(time)]
        axes.plot(finite, [place + 0.22] * len(finite), ".", color="0.6", markersize=4)
        mean = interquartile_mean(times)
        if math.isfinite(mean.value):
            axes.plot([mean.value], [place], "o", color=BLUE)
            if math.isfinite(mean.high):
                axes.plot([mean.low, mean.high], [place, place], "-", color=BLUE)
            else:  # to the edge, and beyond
                axes.annotate(
                    "",
                    (0.99, place),
                    (mean.low, place),
                    xycoords=("axes fraction", "data"),
                    textcoords="data",
                    arrowprops={"arrowstyle": "->", "color": BLUE},
                )
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
