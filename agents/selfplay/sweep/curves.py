"""The pictures of a report: shares proved as curves, and the times to a proof of all settings beside each other."""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from selfplay.sweep.record import Sweep
from selfplay.sweep.results import Result, followed
from selfplay.sweep.statistics import interquartile_mean, proved_curve

MOST_CURVES = 8
"""In one picture; more could not be told apart."""
MOST_SETTINGS = 60
"""In the picture of all settings."""

Results = Mapping[str, Sequence[Result]]


def pictures(sweep: Sweep, found: Results) -> dict[str, Figure]:
    """Return every picture by the name of its file."""
    drawn: dict[str, Figure] = {}
    kinds = {"steps": sweep.plan.unit, "updates": "updates", "seconds": "seconds of training"}
    for kind, title in kinds.items():
        if kind == "updates" and not any(r.outcome.updates for results in found.values() for r in results):
            continue
        for name, settings in _groups(sweep, list(found)).items():
            drawn[f"proved-{kind}{name}.png"] = curves({each: found[each] for each in settings}, kind, title)
        drawn[f"settings-{kind}.png"] = beside(dict(list(found.items())[:MOST_SETTINGS]), kind, title)
    return drawn


def _groups(sweep: Sweep, settings: Sequence[str]) -> dict[str, list[str]]:
    """Return which settings are drawn together: few, or the first with those that differ in the same, or some more."""
    if len(settings) <= MOST_CURVES:
        return {"": list(settings)}
    groups: dict[str, list[str]] = {}
    for setting in settings[1:]:
        named = [name for name in sweep.plan.each if re.search(rf"(^|,){name}=", setting)]
        groups.setdefault(f"-{named[0]}" if named else "", []).append(setting)
    return {
        f"{name}-{start // (MOST_CURVES - 1) + 1}" if len(group) >= MOST_CURVES else name: [
            settings[0],
            *group[start : start + MOST_CURVES - 1],
        ]
        for name, group in groups.items()
        for start in range(0, len(group), MOST_CURVES - 1)
    }


def curves(found: Results, kind: str, title: str) -> Figure:
    """Draw the share of runs proved over steps, updates or seconds, with 95 % intervals and marks where runs ended."""
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    colours = colormaps["tab10"].colors  # type: ignore[attr-defined]
    longest = max((r.reached(kind) for results in found.values() for r in results), default=0)
    for colour, (setting, results) in zip(colours, found.items(), strict=False):
        amounts, held = followed(results, kind)
        label = f"{setting}: {sum(held)} of {len(held)}"
        if not amounts:
            continue
        curve = proved_curve(amounts, held)
        ended = max(curve.at[-1], longest if all(held) else curve.at[-1])
        at = np.concatenate([[0.0], curve.at, [ended]])
        shares, low, high = (np.concatenate([[0.0], part, part[-1:]]) for part in curve[1:])
        axes.step(at, shares, where="post", color=colour, label=label)
        axes.fill_between(at, low, high, step="post", color=colour, alpha=0.15, linewidth=0)
        censored = [amount for amount, proved in zip(amounts, held, strict=True) if not proved]
        reached = [shares[np.searchsorted(at, moment, side="right") - 1] for moment in censored]
        axes.plot(censored, reached, "|", color=colour, markersize=10)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlim(left=0)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_xlabel(title)
    axes.set_title("Share of runs from where on the proof held, 95 % intervals; | is a run without a proof, at its end")
    axes.title.set_fontsize("medium")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return figure


def beside(found: Results, kind: str, title: str) -> Figure:
    """Draw the interquartile mean to a proof of each setting with its interval, and every run as a dot."""
    figure = Figure(figsize=(9, 1.8 + 0.32 * len(found)), layout="constrained")
    axes = figure.subplots()
    for place, results in enumerate(found.values()):
        amounts = [result.amount(kind) for result in results if result.ended]
        finite = [amount for amount in amounts if math.isfinite(amount)]
        axes.plot(finite, [place + 0.22] * len(finite), ".", color="0.6", markersize=4)
        mean = interquartile_mean(amounts)
        if math.isfinite(mean.estimate):
            axes.plot([mean.estimate], [place], "o", color="#1f6fb4")
            if math.isfinite(mean.high):
                axes.plot([mean.low, mean.high], [place, place], "-", color="#1f6fb4")
            else:  # to the edge, and beyond
                axes.annotate(
                    "",
                    (0.99, place),
                    (mean.low, place),
                    xycoords=("axes fraction", "data"),
                    textcoords="data",
                    arrowprops={"arrowstyle": "->", "color": "#1f6fb4"},
                )
        if never := len(amounts) - len(finite):
            axes.text(
                1.01, place, f"{never} never", transform=axes.get_yaxis_transform(), va="center", fontsize="small"
            )
    axes.set_yticks(range(len(found)), labels=[setting[:60] for setting in found], parse_math=False)
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_xlabel(f"{title} to a proof: interquartile mean, 95 % interval, and every run")
    axes.grid(alpha=0.3, axis="x")
    return figure
