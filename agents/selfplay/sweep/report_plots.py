"""The plots of a report: the share of runs proved as curves, and the times to a proof of all settings."""

import math
import textwrap
from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from selfplay.plot_style import BOTH, FIRST, styled
from selfplay.sweep.statistics import interquartile_mean, proved_curve
from selfplay.sweep.sweep_results import MISSING, SweepResults, survival_data

MOST_PANELS = 8
"""Panels in one plot besides that of the first setting."""
MOST_SETTINGS = 60
"""Settings in the plot of all."""


@styled()
def figures(results: SweepResults, titles: Mapping[str, str]) -> dict[str, Figure]:
    """Return the plots over steps, updates or seconds, which have these titles, by the names of their files."""
    plots = {}
    settings = [*results.items()]
    for kind, title in titles.items():
        for start in range(0, max(len(settings) - 1, 1), MOST_PANELS):
            number = f"-{start // MOST_PANELS + 1}" if start else ""
            some = settings[:1] + settings[start + 1 :][:MOST_PANELS]
            plots[f"proved-{kind}{number}.png"] = curves(dict(some), kind, title)
        plots[f"settings-{kind}.png"] = means(dict(settings[:MOST_SETTINGS]), kind, title)
    return plots


def curves(results: SweepResults, kind: str, title: str) -> Figure:
    """Plot the share of runs proved over steps, updates or seconds, a panel for each setting.

    A panel has the 95 % interval of its curve, marks where runs ended without a proof, and in grey the first setting.
    """
    columns = min(len(results), 3)
    rows = math.ceil(len(results) / columns)
    figure = Figure(figsize=(max(3.2 * columns, 6), 2.4 * rows + 1.1), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    data = {setting: survival_data(of_setting, kind) for setting, of_setting in results.items()}
    last = 1.04 * max(max(followed) for followed, _ in data.values()) or 1.0  # no run has an evaluation
    for axes, (setting, (followed, proved)) in zip(panels, data.items(), strict=False):
        curve = proved_curve(followed, proved)
        at, share, low, high = (np.concatenate([[0.0], part, part[-1:]]) for part in curve)
        at[-1] = last  # the share stays as it is
        if axes is panels[0]:
            first, control = (at, share), setting
        else:
            axes.step(*first, where="post", color=BOTH, linewidth=1)
        axes.step(at, share, where="post", color=FIRST)
        axes.fill_between(at, low, high, step="post", color=FIRST, alpha=0.2, linewidth=0)
        censored = [amount for amount, held in zip(followed, proved, strict=True) if not held]
        axes.plot(censored, curve.share[np.searchsorted(curve.amounts, censored)], "|", color=FIRST, markersize=10)
        heading = [*textwrap.wrap(setting, 36), f"{sum(proved)} of {len(proved)} runs proved"]
        axes.set_title("\n".join(heading), fontsize="small", parse_math=False)
        axes.grid(alpha=0.3)
        axes.xaxis.set_major_formatter(EngFormatter())
    for axes in panels[len(data) :]:
        axes.set_axis_off()
    panels[0].set(xlim=(0, last), ylim=(-0.03, 1.03))
    panels[0].yaxis.set_major_formatter(PercentFormatter(xmax=1))
    figure.supxlabel(f"{title}, up to the first evaluation from which the proof held", fontsize="medium")
    lines = ["Share of runs that are proved; band: its 95 % interval"]
    if not all(all(proved) for _, proved in data.values()):
        lines.append("| a run without a proof, at its end")
    if len(data) > 1:
        lines.append(f"in grey, to compare: {textwrap.shorten(control, 60)}")
    figure.suptitle("\n".join(lines), fontsize="medium", parse_math=False)
    return figure


def means(results: SweepResults, kind: str, title: str) -> Figure:
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
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_xlabel(f"{title} to a proof")
    most = max(len(of_setting) for of_setting in results.values())
    what = (
        f"Up to {most} runs of each setting, a grey dot each; blue: their interquartile mean, with its 95 % interval,\n"
        "which has no value where more than a quarter of the runs were never proved"
    )
    axes.set_title(what, fontsize="medium", loc="right")
    return figure
