"""Draw the learning curves of the three two-player targets: exact exploitability over plies.

The README's figure:

    python -m benchmarks.learning.targets --docs docs

Every run is `python train.py --target TARGET --stop never --total-steps 1500000` with the plain self-play that other
libraries do (`--symmetry augment --counterexamples 0 --eval-every 12800`), so that the target alone differs. The
exploitability of one player of 3,3,3 is 0, 1/2 or 1, for the number of seats in which somebody beats it, and jumps
between them from one evaluation to the next; the curves are its mean over the last few evaluations, the CSV holds each
of them.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from benchmarks.measuring import machine, tables
from benchmarks.measuring.counts import COUNTED, counts, known
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import Spread, spread
from benchmarks.measuring.turns import in_turns
from selfplay import training
from selfplay.command_line import run_command
from selfplay.dqn.config import DQNConfig, Target
from selfplay.evaluation.report import live_score
from selfplay.evaluation.verdict import Verdict
from selfplay.files import write_csv, write_whole
from selfplay.training.plots import png

PROG = "python -m benchmarks.learning.targets"
TARGETS: tuple[Target, ...] = get_args(Target)
COLOURS: dict[Target, str] = {"negamax": "#0072b2", "independent": "#e69f00", "article": "#000000"}
"""Of Okabe and Ito's palette, which people with any colour vision can tell apart."""
WINDOW = 8
"""Evaluations in the mean that is drawn."""
CSV_HEADER = ("target", "seed", "plies", "exploitability", *COUNTED)
HEADER = ("target", "exploitability", "lost and illegal lines", "optimal states", "unbeatable, % of evaluations")


@dataclass(frozen=True)
class Flags:
    """Draw the learning curves of the three two-player targets."""

    seeds: tuple[int, ...] = tuple(range(5))
    """Seeds of every target."""
    total_steps: int = 1_500_000
    """Plies of every run; by default as many as epsilon rises over."""
    docs: Path | None = None
    """Folder to write targets.png and targets.csv into."""


class Curve(NamedTuple):
    """Hold the evaluations of one run."""

    target: Target
    seed: int
    plies: list[int]
    evaluations: list[Verdict]

    def text(self) -> str:
        """Return how the run ended, as a line."""
        return f"{self.target}, seed {self.seed}: at the end {live_score(self.evaluations[-1])}"

    def csv_lines(self) -> list[list[str | int | float]]:
        """Return a line per evaluation."""
        return [
            [self.target, self.seed, plies, known(evaluation.exploitability), *counts(evaluation)]
            for plies, evaluation in zip(self.plies, self.evaluations, strict=True)
        ]


def measure(target: Target, seed: int, total_steps: int) -> Curve:
    """Train one DQN to the end of its plies."""
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
    history = list(training(config))
    evaluations = [record.evaluation for record in history]
    return Curve(target, seed, [record.steps for record in history], evaluations)


def running_mean(values: Sequence[float], window: int) -> list[float]:
    """Return the mean of each value and those before it, `window` values in all, fewer at the start."""
    return [statistics.mean(values[max(end - window, 0) : end]) for end in range(1, len(values) + 1)]


def figure(curves: Sequence[Curve]) -> Figure:
    """Draw the exploitability over plies: a thin line per seed, a thick one for the median of each target."""
    drawn = Figure(figsize=(9, 4.8), layout="constrained")
    axes = drawn.subplots()
    for target in dict.fromkeys(curve.target for curve in curves):
        of_target = [curve for curve in curves if curve.target == target]
        plies, colour = of_target[0].plies, COLOURS[target]
        means = [
            running_mean([known(each.exploitability) for each in curve.evaluations], WINDOW) for curve in of_target
        ]
        for mean in means:
            axes.plot(plies, mean, color=colour, linewidth=0.7, alpha=0.6)
        axes.plot(plies, np.median(means, axis=0), color=colour, linewidth=3, label=target)
    seeds = len({curve.seed for curve in curves})
    axes.set_title(f"What the target does: {seeds} seeds each (thin) and their median (thick), all else equal")
    axes.set_xlabel("plies")
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_ylabel(f"exact exploitability\n(mean of {WINDOW} evaluations running)")
    axes.set_ylim(-0.03, 1.05)
    axes.set_yticks([0, 0.5, 1], ["0: unbeatable", "½: beaten in one seat", "1: beaten in both"])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    axes.margins(x=0.01)
    drawn.legend(loc="outside lower center", ncols=len(TARGETS), frameon=False)
    return drawn


def table_rows(curves: Sequence[Curve]) -> Iterator[list[str]]:
    """Return what each target's last evaluations come to: the mean of `WINDOW` of them, over the seeds."""

    def over_seeds(of_seeds: Sequence[Sequence[Verdict]], value: Callable[[Verdict], float]) -> Spread:
        return spread(statistics.mean(map(value, of_seed)) for of_seed in of_seeds)

    for target in dict.fromkeys(curve.target for curve in curves):
        last = [curve.evaluations[-WINDOW:] for curve in curves if curve.target == target]
        yield [
            target,
            over_seeds(last, lambda each: known(each.exploitability)).text(2),
            over_seeds(last, lambda each: sum(counts(each)[:4])).text(1),  # the lost and the illegal lines
            over_seeds(last, lambda each: known(each.optimal_states)).text(),
            over_seeds(last, lambda each: 100 * each.unbeatable).text(),
        ]


def main(args: Sequence[str]) -> None:
    """Train all, print each run as it ends and the table at the end, and write the figure and the CSV."""
    flags = read_flags(Flags, args, PROG)
    console = machine.start("The three targets", ["matplotlib"], flags.seeds)
    curves = in_turns(console, flags.seeds, TARGETS, lambda target, seed: measure(target, seed, flags.total_steps))
    note = f"mean over the last {WINDOW} evaluations of each run; median (least to most) over the seeds"
    tables.present(console, HEADER, table_rows(curves), note)
    if flags.docs is not None:
        write_csv(flags.docs / "targets.csv", [CSV_HEADER, *(line for curve in curves for line in curve.csv_lines())])
        write_whole(flags.docs / "targets.png", png(figure(curves)))


if __name__ == "__main__":
    run_command(main, PROG)
