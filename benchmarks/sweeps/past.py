"""Count how often runs are beaten again past their first proof, and how often every move is optimal.

    python -m benchmarks.sweeps.past sweeps/past

The sweep is made by `selfplay sweep benchmarks/sweeps/past.toml` before.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from benchmarks import harness
from selfplay.command_line import run_command
from selfplay.files import write_csv
from selfplay.sweep import results, state
from selfplay.sweep.report_pages import estimate_text
from selfplay.sweep.statistics import interquartile_mean

PROG = "python -m benchmarks.sweeps.past"
HEADER = (
    "setting",
    "runs",
    "% not proved",
    "beside the first setting",
    "% with every move optimal",
    "beside the first setting",
)
COLUMNS = ("setting", "seed", "first_proof", "evaluations", "not_proved", "all_optimal")


@dataclass(frozen=True)
class Flags:
    """Say how often the runs of a sweep are beaten again past their first proof."""

    sweep: str = field(metadata={"positional": "SWEEP"})
    """Folder of a sweep of 3,3,3 that was trained with --stop never."""
    docs: Path | None = None
    """Folder to write the numbers of each run to, as past.csv."""


class Past(NamedTuple):
    """Hold the evaluations of one run from its first proof on."""

    first_proof: float
    """Steps; infinity without one."""
    evaluations: int
    not_proved: int
    all_optimal: int

    @property
    def shares(self) -> tuple[float, float]:
        """Return the percentages not proved and with every move optimal; not a number without a proof."""
        number = self.evaluations or math.nan
        return 100 * self.not_proved / number, 100 * self.all_optimal / number


def past_proof(lines: Sequence[Mapping[str, float]], unit: str) -> Past:
    """Count the evaluations of a run from its first proof on."""
    proved = [line["eval/unbeatable"] == 1 for line in lines]
    if not any(proved):
        return Past(math.inf, 0, 0, 0)
    first = proved.index(True)
    optimal = sum(line["eval/optimal_fraction"] == 1 for line in lines[first:])
    return Past(lines[first][unit], len(lines) - first, proved[first:].count(False), optimal)


def rows(found: dict[str, dict[int, Past]]) -> list[list[str]]:
    """Return the table: interquartile means over the seeds, and over their differences from the first setting."""
    base = next(iter(found.values()))
    shown = []
    for setting, runs in found.items():
        row = [f"`{setting}`", str(len(runs))]
        for which in (0, 1):
            own = {seed: run.shares[which] for seed, run in runs.items() if run.evaluations}
            apart = [share - base[seed].shares[which] for seed, share in own.items() if base[seed].evaluations]
            row += [estimate_text(interquartile_mean(list(own.values())), 2), "-"]
            if runs is not base:
                row[-1] = estimate_text(interquartile_mean(apart), 2, "+")
        shown.append(row)
    return shown


def main(args: Sequence[str]) -> None:
    """Print the table, and write the numbers of each run."""
    flags = harness.read_flags(Flags, args, PROG)
    sweep = state.read(Path(flags.sweep))
    found = {
        setting: {result.run.seed: past_proof(result.outcome.lines, result.outcome.unit) for result in of}
        for setting, of in results.read(sweep).items()
    }
    note = "evaluations from a run's first proof on; interquartile means over the seeds, with 95 % intervals"
    harness.present(Console(), [HEADER, *rows(found)], note)
    if flags.docs is not None:
        lines = [[setting, seed, *run] for setting, runs in found.items() for seed, run in runs.items()]
        write_csv(flags.docs / "past.csv", [COLUMNS, *lines])


if __name__ == "__main__":
    run_command(main, PROG)
