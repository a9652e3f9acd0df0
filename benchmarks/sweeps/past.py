"""Count how often runs are beaten again past their first proof, and how often every move is optimal.

    python -m benchmarks.sweeps.past sweeps/past --docs docs

The sweep is made by `selfplay sweep benchmarks/sweeps/past.toml` before.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks import harness
from selfplay.command_line import run_command
from selfplay.files import write_csv
from selfplay.sweep import results, state

PROG = "python -m benchmarks.sweeps.past"


@dataclass(frozen=True)
class Flags:
    """Count how often the runs of a sweep are beaten again past their first proof."""

    sweep: str = field(metadata={"positional": "SWEEP"})
    """Folder of a sweep of 3,3,3 that was trained with --stop never."""
    docs: Path = Path("docs")
    """Folder of the pages, in which evidence/past.csv is written."""


class Past(NamedTuple):
    """Hold the evaluations of one run from its first proof on."""

    first_proof: float
    """Steps; infinity without one."""
    evaluations: int
    not_proved: int
    all_optimal: int


def past_proof(lines: Sequence[Mapping[str, float]], unit: str) -> Past:
    """Count the evaluations of a run from its first proof on."""
    proved = [line["eval/unbeatable"] == 1 for line in lines]
    if not any(proved):
        return Past(math.inf, 0, 0, 0)
    first = proved.index(True)
    optimal = sum(line["eval/optimal_fraction"] == 1 for line in lines[first:])
    return Past(lines[first][unit], len(lines) - first, proved[first:].count(False), optimal)


def main(args: Sequence[str]) -> None:
    """Write the counts of each run."""
    flags = harness.read_flags(Flags, args, PROG)
    found = [
        (setting, result.run.seed, *past_proof(result.outcome.lines, result.outcome.unit))
        for setting, of_setting in results.read(state.read(Path(flags.sweep))).items()
        for result in of_setting
    ]
    write_csv(flags.docs / "evidence" / "past.csv", [("setting", "seed", *Past._fields), *found])


if __name__ == "__main__":
    run_command(main, PROG)
