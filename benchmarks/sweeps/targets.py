"""Plot how many games the DQN loses with each of the three targets, all else at the defaults.

    python -m benchmarks.sweeps.targets sweeps/defaults --docs docs

The sweep is made by `python -m benchmarks.sweeps defaults` before. A run ends when it is proved unbeatable
three times in a row, and counts as one with 0 ways to beat it from there on.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

import selfplay
from selfplay.cli.flags import parse, run_command
from selfplay.files import write_csv, write_whole
from selfplay.pictures import FIRST, PROVED, SECOND, png, styled
from selfplay.sweep import plan as plans

PROG = "python -m benchmarks.sweeps.targets"
PLIES = 150_000
"""Plies that are shown."""
TARGETS = {
    "default": ("negamax: minus the opponent's best value", FIRST),
    "target=independent": ("independent: plus my own best value, one turn later", PROVED),
    "target=article": ("article: plus the opponent's best value, which is the wrong sign", SECOND),
}
"""Settings of the sweep: what each is called, and its colour."""


@dataclass(frozen=True)
class Flags:
    """Plot how many games the DQN loses with each of the three targets."""

    sweep: str = field(metadata={"positional": "SWEEP"})
    """Folder of the sweep."""
    docs: Path = Path("docs")
    """Folder of the pages, in which targets.png and evidence/targets.csv are written."""


@styled()
def plot(curves: Mapping[str, Sequence[Sequence[tuple[int, int]]]]) -> Figure:
    """Plot plies and ways to beat it of each run of each setting: a thin line per run, a thick one for the median."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    for setting, runs in curves.items():
        label, colour = TARGETS[setting]
        for run in runs:
            axes.plot(*zip(*run, strict=True), color=colour, linewidth=0.7, alpha=0.5)
        plies, _ = zip(*max(runs, key=len), strict=True)
        ways = itertools.zip_longest(*([number for _, number in run] for run in runs), fillvalue=0)
        axes.plot(plies, [np.median(each) for each in ways], color=colour, linewidth=3, label=label)
    number = max(map(len, curves.values()))
    axes.set_title(f"With the wrong sign it never learns: {number} runs of each target, and their median (thick)")
    axes.set(xlabel="plies", ylabel="ways to beat it (0: unbeatable)")
    axes.set_yscale("symlog", linthresh=1)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center")
    return figure


def main(args: Sequence[str]) -> None:
    """Write the evaluations that are shown, and the picture."""
    flags = parse(Flags, args, PROG)
    folder = Path(flags.sweep)
    curves: dict[str, list[list[tuple[int, int]]]] = {setting: [] for setting in TARGETS}
    lines: list[tuple[object, ...]] = [("setting", "run", "plies", "ways_to_beat")]
    for run in plans.all_runs(plans.read(folder)):
        if run.setting not in TARGETS:
            continue
        records = selfplay.open(folder / run.name).records
        points = [(each.steps, each.verdict.ways_to_beat) for each in records if each.steps <= PLIES]
        lines += [(run.setting, len(curves[run.setting]), *point) for point in points]
        curves[run.setting].append(points)
    write_csv(flags.docs / "evidence" / "targets.csv", lines)
    write_whole(flags.docs / "targets.png", png(plot(curves)))


if __name__ == "__main__":
    run_command(main, PROG)
