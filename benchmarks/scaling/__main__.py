"""Measure how speed and memory grow with boards, batch, network width and board size.

The figures and the picture of docs/performance.md:

    python -m benchmarks.scaling --docs docs

What is measured at which points stands in `rows.py`. As in `benchmarks/environment/faces.py`, random legal
games are drawn before the clock starts, each ply delivers observation, mask, reward and end, all runs on one core,
and the curves of a point take turns. `train.py, playing alone` is training before its first update: act,
step, observe, remember, with the default network. An update is the default one but for what the panel varies, and
`its matrix products` are those that it has to compute, alone. A step is one ply on every board.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.environment import faces
from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import INSTALL, installed
from benchmarks.scaling import memory, picture, rows
from benchmarks.scaling.picture import CSV_HEADER, Measurement
from benchmarks.scaling.rows import Panel, Point
from selfplay.command_line import run_command
from selfplay.files import write_csv, write_whole
from selfplay.training.plots import png

PROG = "python -m benchmarks.scaling"
PEERS = ("pgx", "jax", "matplotlib")
HEADER = ("curve", "plies/s on 1 board", "µs per step there", "most, M plies/s", "on boards", "half of it from boards")


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


def speeds(panel: Panel, point: Point, flags: Flags) -> Iterator[Measurement]:
    """Measure the curves of a point, in turns; those whose peer is not installed are left out."""
    for curve, measured in faces.measure(point.rows, flags.rounds, flags.seconds, flags.seed).items():
        yield Measurement(panel.name, curve, point.x, point.name, panel.unit, spread(measured.rates), flags.rounds)


def memories(num_boards: int, flags: Flags) -> Iterator[Measurement]:
    """Measure the bytes per board of each way of playing many boards."""
    for row in rows.boards(num_boards):
        if not installed(row.needs):
            continue
        peaks = spread(memory.peak_bytes(row.name, num_boards) / num_boards for _ in range(flags.processes))
        held = memory.held_bytes(row.name, num_boards) / num_boards
        for unit, value, times in ("peak B/board", peaks, flags.processes), ("held B/board", spread([held]), 1):
            yield Measurement("memory", row.name, num_boards, str(num_boards), unit, value, times)


def all_measurements(flags: Flags, console: Console) -> Iterator[Measurement]:
    """Measure everything."""
    for panel in rows.panels():
        for point in panel.points:
            yield from speeds(panel, point, flags)
    if memory.measurable():
        for num_boards in rows.MEMORY_BOARDS:
            yield from memories(num_boards, flags)
    else:
        console.print("this system does not say how much memory a process has had, so that is not measured")


def boards_rows(measurements: Sequence[Measurement]) -> Iterator[list[str]]:
    """Return what a step of each curve costs on the fewest boards, its best rate, and from where half of it holds."""
    of_boards = [each for each in measurements if each.panel == "boards"]
    for curve in dict.fromkeys(each.curve for each in of_boards):
        rates = {each.x: each.spread for each in of_boards if each.curve == curve}
        fewest, best = rates[min(rates)], max(rates, key=lambda x: rates[x].median)
        half = min(x for x, rate in rates.items() if rate.median >= rates[best].median / 2)
        step = fewest.time(1e6 * min(rates)).text(1)
        yield [curve, fewest.text(), step, rates[best].over(1e6).text(2), f"{best:,}", f"{half:,}"]


def main(args: Sequence[str]) -> None:
    """Measure all, print the figures and a table, and write the CSV and the picture."""
    flags = read_flags(Flags, args, PROG)
    console = machine.start("How speed and memory grow", PEERS, [flags.seed])
    faces.pin(console)
    if not installed("pgx"):
        console.print(f"pgx is not installed: {INSTALL} for its curve")
    measurements = []
    for each in all_measurements(flags, console):
        console.print(f"{each.panel} {each.point}: {each.curve}: {each.spread.text()} {each.unit}")
        measurements.append(each)
    console.print(tables.terminal(HEADER, boards_rows(measurements)))
    console.print(f"median (least to most) over {flags.rounds} rounds of {flags.seconds} s a curve; {machine.load()}")
    if flags.docs is not None:
        write_csv(flags.docs / "scaling.csv", [CSV_HEADER, *(each.csv_line() for each in measurements)])
        write_whole(flags.docs / "scaling.png", png(picture.figure(measurements)))


if __name__ == "__main__":
    run_command(main, PROG)
