"""Measure how speed and memory grow with boards, batch, network width and board size.

The figures and the plot of docs/performance.md:

    python -m benchmarks.scaling --docs docs

What is measured at which points is in `curves.py`. As in `benchmarks/environment/speed.py`, random legal games are
sampled before the clock starts, each ply delivers observation, mask, reward and end, all runs on one core, and the
curves of a point take turns. `train.py, playing alone` is training before its first update: act, step, observe, store,
with the default network. An update is the default one but for what the panel varies, and `its matrix products` are
those that it has to compute, alone. A step is one ply on every board. Figures are the median (least to most) of the
rounds.
"""

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks import harness
from benchmarks.environment import speed
from benchmarks.harness import spread
from benchmarks.scaling import curves, plot
from benchmarks.scaling.plot import CSV_HEADER, Measurement
from selfplay.command_line import run_command
from selfplay.files import write_csv, write_whole
from selfplay.training.plots import png

PROG = "python -m benchmarks.scaling"


@dataclass(frozen=True)
class Flags:
    """Measure how speed and memory grow with boards, batch, network width and board size."""

    rounds: int = 5
    """Turns of each curve at each point."""
    seconds: float = 0.1
    """Time of a turn, or one chunk of work if that takes longer."""
    processes: int = 3
    """Fresh processes for each figure of memory."""
    seed: int = 0
    """Seed of the games."""
    docs: Path | None = None
    """Folder to write scaling.csv and scaling.png into."""


def measure(flags: Flags, console: Console) -> Iterator[Measurement]:
    """Measure everything."""
    for point in curves.points():
        found = speed.measure(point.curves, flags.rounds, flags.seconds, flags.seed, console)
        for curve, results in found.items():
            rates = spread(result["plies/s"] for result in results)
            yield Measurement(point.panel, curve, point.x, point.name, point.unit, rates, flags.rounds)
    for num_boards in curves.MEMORY_BOARDS if curves.memory_measurable() else ():
        for curve in curves.boards(num_boards):
            if curve != curves.PGX or importlib.util.find_spec("pgx") is not None:
                peaks = [curves.peak_bytes(curve, num_boards) for _ in range(flags.processes)]
                per_board = spread(peak / num_boards for peak in peaks)
                yield Measurement("memory", curve, num_boards, str(num_boards), "peak B/board", per_board, len(peaks))


def main(args: Sequence[str]) -> None:
    """Measure all, print each figure as it comes, and write the CSV and the plot."""
    flags = harness.read_flags(Flags, args, PROG)
    console = harness.start("How speed and memory grow", ("pgx", "jax", "matplotlib"), [flags.seed])
    harness.pin_to_one_core(console)
    measurements = []
    for each in measure(flags, console):
        console.print(f"{each.panel} {each.point}: {each.curve}: {each.spread.text()} {each.unit}")
        measurements.append(each)
    if flags.docs is not None:
        lines = [
            [*each[:5], *(float(f"{value:.4g}") for value in each.spread), each.measurements] for each in measurements
        ]
        write_csv(flags.docs / "scaling.csv", [CSV_HEADER, *lines])
        write_whole(flags.docs / "scaling.png", png(plot.figure(measurements)))


if __name__ == "__main__":
    run_command(main, PROG)
