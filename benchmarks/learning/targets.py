"""Plot the learning curves of the three two-player targets: exact exploitability over plies.

The README's figure:

    python -m benchmarks.learning.targets --docs docs

Every run is `python train.py --target TARGET --stop never --total-steps 1500000` with the plain self-play of other
libraries (`--symmetry augment --counterexamples 0 --eval-every 12800`), so that only the target differs. The
exploitability of one player of 3,3,3 is 0, 1/2 or 1, for the number of seats in which it is beaten, and jumps between
them from one evaluation to the next; the curves are its mean over the last few evaluations, the CSV holds each of them.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

import selfplay
from benchmarks import harness
from benchmarks.data import Result
from selfplay.command_line import run_command
from selfplay.dqn.config import DQNConfig, Target
from selfplay.files import write_csv, write_whole
from selfplay.training.plots import png

PROG = "python -m benchmarks.learning.targets"
TARGETS: tuple[Target, ...] = get_args(Target)
COLOURS: dict[Target, str] = {"negamax": "#0072b2", "independent": "#e69f00", "article": "#000000"}
"""Colours of Okabe and Ito's palette, which people with any colour vision can tell apart."""
WINDOW = 8
"""Evaluations in the mean that is plotted."""


@dataclass(frozen=True)
class Flags:
    """Plot the learning curves of the three two-player targets."""

    seeds: tuple[int, ...] = tuple(range(5))
    """Seeds of every target."""
    total_steps: int = 1_500_000
    """Plies of every run; by default as many as epsilon rises over."""
    docs: Path | None = None
    """Folder to write targets.png and targets.csv into."""


def train(target: Target, seed: int, total_steps: int) -> list[Result]:
    """Return all evaluations of one run."""
    config = DQNConfig(
        seed=seed,
        target=target,
        symmetry="augment",
        counterexamples=0.0,
        eval_every=12_800,
        total_steps=total_steps,
        stop="never",
        device="cpu",
    )
    lines = []
    for record in selfplay.training(config):
        evaluation, first, second = record.evaluation, record.evaluation.first, record.evaluation.second
        lines.append(
            {
                "plies": record.steps,
                "exploitability": evaluation.exploitability,
                "first_losses": first.losses,
                "second_losses": second.losses,
                "first_illegal": first.illegal,
                "second_illegal": second.illegal,
                "optimal_states": evaluation.optimal_states,
            }
        )
    return lines


def last_evaluations(lines: Sequence[Result]) -> Result:
    """Return the means over the last evaluations of a run."""
    last = lines[-WINDOW:]
    bad = [sum(line[name] for name in line if name.endswith(("losses", "illegal"))) for line in last]
    return {
        "exploitability": statistics.mean(line["exploitability"] for line in last),
        "lost and illegal games": statistics.mean(bad),
        "optimal states": statistics.mean(line["optimal_states"] for line in last),
        "unbeatable, % of evaluations": 100 * bad.count(0) / len(last),
    }


def running_mean(values: Sequence[float]) -> list[float]:
    """Return the mean of each value and those before it, `WINDOW` values in all, fewer at the start."""
    return [statistics.mean(values[max(end - WINDOW, 0) : end]) for end in range(1, len(values) + 1)]


def plot(curves: Mapping[tuple[Target, int], Sequence[Result]]) -> Figure:
    """Plot the exploitability over plies: a thin line per seed, a thick one for the median of each target."""
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    axes = figure.subplots()
    for target in dict.fromkeys(target for target, _ in curves):
        of_target = [lines for (name, _), lines in curves.items() if name == target]
        plies = [line["plies"] for line in of_target[0]]
        means = [running_mean([line["exploitability"] for line in lines]) for lines in of_target]
        for mean in means:
            axes.plot(plies, mean, color=COLOURS[target], linewidth=0.7, alpha=0.6)
        axes.plot(plies, np.median(means, axis=0), color=COLOURS[target], linewidth=3, label=target)
    seeds = len({seed for _, seed in curves})
    axes.set_title(f"What the target does: {seeds} seeds each (thin) and their median (thick), all else equal")
    axes.set_xlabel("plies")
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_ylabel(f"exact exploitability\n(mean of {WINDOW} evaluations running)")
    axes.set_ylim(-0.03, 1.05)
    axes.set_yticks([0, 0.5, 1], ["0: unbeatable", "½: beaten in one seat", "1: beaten in both"])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    axes.margins(x=0.01)
    figure.legend(loc="outside lower center", ncols=len(TARGETS), frameon=False)
    return figure


def main(args: Sequence[str]) -> None:
    """Train all, print each run as it ends and the table at the end, and write the figure and the CSV."""
    flags = harness.read_flags(Flags, args, PROG)
    curves: dict[tuple[Target, int], list[Result]] = {}

    def measure(target: Target, seed: int) -> Result:
        curves[target, seed] = train(target, seed, flags.total_steps)
        return last_evaluations(curves[target, seed])

    note = f"mean over the last {WINDOW} evaluations of each run"
    harness.run("The three targets", TARGETS, flags.seeds, measure, note, ["matplotlib"], flags.docs)
    if flags.docs is not None:
        lines = [[*run, *line.values()] for run, of_run in curves.items() for line in of_run]
        header = ["target", "seed", *next(iter(curves.values()))[0]]
        write_csv(flags.docs / "targets.csv", [header, *lines])
        write_whole(flags.docs / "targets.png", png(plot(curves)))


if __name__ == "__main__":
    run_command(main, PROG)
