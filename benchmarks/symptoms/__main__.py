"""Make the mistakes of `docs/why-does-my-dqn-not-learn.md` on purpose, and judge exactly what they lead to.

python -m benchmarks.symptoms                 # all of them, with the seeds 0 to 4
python -m benchmarks.symptoms mask next       # some of them
python -m benchmarks.symptoms --docs docs     # and write every number to docs/symptoms.csv
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import check_known, read_flags
from benchmarks.symptoms.experiments import EXPERIMENTS
from benchmarks.symptoms.numbers import CSV_HEADER, Number, header, measured, table_rows
from selfplay.command_line import run_command
from selfplay.files import write_csv

PROG = "python -m benchmarks.symptoms"


@dataclass(frozen=True)
class Flags:
    """Make the usual mistakes on purpose, and judge exactly what they lead to."""

    symptoms: Annotated[tuple[str, ...], tyro.conf.Positional] = tuple(EXPERIMENTS)
    """Which of them; all, if none is named."""
    seeds: tuple[int, ...] = tuple(range(5))
    """Seeds of every row; one is enough for those that are exact."""
    part: float = 1.0
    """Of the usual length of a run: less for a quick look."""
    docs: Path | None = None
    """Folder to write symptoms.csv into."""


def main(args: Sequence[str]) -> None:
    """Run the experiments, and print a table for each as it ends."""
    flags = read_flags(Flags, args, PROG)
    check_known("symptoms", flags.symptoms, EXPERIMENTS)
    console = machine.start("Why does my DQN not learn?", [], flags.seeds)
    numbers: list[Number] = []
    for name in flags.symptoms:
        started = time.perf_counter()
        found = [
            number
            for what, measure in EXPERIMENTS[name].items()
            for seed in (flags.seeds[:1] if what.startswith("exact") else flags.seeds)
            for number in measured(name, what, seed, measure(seed, flags.part))
        ]
        numbers += found
        note = f"{name}: median (least to most) of the seeds; {time.perf_counter() - started:.0f} s"
        tables.present(console, header(found), table_rows(found), note)
    if flags.docs is not None:
        write_csv(flags.docs / "symptoms.csv", [CSV_HEADER, *map(list, numbers)])


if __name__ == "__main__":
    run_command(main, PROG)
