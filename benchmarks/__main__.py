"""Measure everything that is timed here, in minutes, and compare two such measurements.

    python -m benchmarks                            all groups, about six minutes
    python -m benchmarks --only faces tabular       some of them
    python -m benchmarks --compare A.json B.json    what got slower, or larger, from A to B

Run it before and after a change. Each value is kept in a JSON file, which `overview/results.py` describes;
`overview/compare.py` says when a difference counts. The detailed scripts in the other folders measure more of each.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from rich.table import Table

from benchmarks.environment import faces
from benchmarks.environment.face_rows import DISTRIBUTIONS, PEERS
from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import round_by_round
from benchmarks.overview import compare, results, rounds, suite
from benchmarks.overview.results import Report, Result
from benchmarks.overview.rounds import Row
from benchmarks.overview.suite import GroupName, Sizes
from selfplay.command_line import run_command

PROG = "python -m benchmarks"
SIZES = Sizes()
DEPENDED_ON = (*PEERS, "stable-baselines3", "tensorboard", "numba")
SLOWER = 1
"""Exit status when a comparison finds that something got slower or larger."""


@dataclass(frozen=True)
class Flags:
    """Measure speed, memory and import time beside the peers, or compare two such measurements."""

    only: tuple[GroupName, ...] = get_args(GroupName)
    """Groups to measure."""
    rounds: int = 7
    """Turns of each row. A comparison is of the best two, so with few, noise counts."""
    seed: int = 0
    """Seed of the first round; each further round has the next."""
    json: Path | None = None
    """File for every value. Default: runs/benchmarks/COMMIT-TIME.json."""
    compare: tuple[Path, Path] | None = None
    """Measure nothing, and compare two such files: before and after. The exit status is 1 if something got slower."""


def main(args: Sequence[str]) -> None:
    """Measure and print, or compare."""
    flags = read_flags(Flags, args, PROG)
    if flags.compare is not None:
        compare_files(*flags.compare)
    else:
        run(flags)


def compare_files(before: Path, after: Path) -> None:
    """Print the comparison of two files, and exit with `SLOWER` if something of ours got slower or larger."""
    reports = results.read(before), results.read(after)
    compared = compare.compare(*reports)
    console = machine.make_console()
    for line in compared.differences:
        console.print(f"warning: {line}", soft_wrap=True)
    for when, path, report in zip(("before", "after"), (before, after), reports, strict=True):
        described = (f"{name} {report.machine.get(name, 'unknown')}" for name in compare.MAY_DIFFER)
        console.print(f"{when}: {path}, {', '.join(described)}", soft_wrap=True)
    console.print(compare.table(compared.pairs))
    for line in compared.conclusions():
        console.print(line, soft_wrap=True)
    if compared.worse:
        sys.exit(SLOWER)


def run(flags: Flags) -> None:
    """Measure the groups, write the values and print the table."""
    seeds = list(range(flags.seed, flags.seed + flags.rounds))
    path = flags.json or default_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    console = machine.start("Overview", DEPENDED_ON, seeds)
    described = machine.describe(DEPENDED_ON)
    faces.pin(console)
    every = suite.all_groups(SIZES)
    groups: dict[str, list[Row]] = {name: every[name] for name in every if name in flags.only}
    for module, rows in rounds.skipped(groups).items():
        name = DISTRIBUTIONS.get(module, module.replace("_", "-"))
        console.print(f"{name} is not installed, so without {'; '.join(rows)}", soft_wrap=True)
    measured = rounds.measure(groups, seeds, console)
    results.write(path, Report(described, seeds, measured))
    console.print(table(measured))
    console.print("median (least to most) over the rounds; ratios are of the same round")
    console.print(f"every value: {path}", soft_wrap=True)
    console.print(f"compare:     {PROG} --compare {path} ANOTHER.json", soft_wrap=True)


def default_path() -> Path:
    """Return where the values go if nothing else is said."""
    commit = machine.commit().replace(", with uncommitted changes", "-changed")
    return Path("runs") / "benchmarks" / f"{commit}-{time.strftime('%Y%m%d-%H%M%S')}.json"


def table(rows: Sequence[Result]) -> Table:
    """Return each of our rows, with its peers below it and the ratios over them."""
    values = {(row.group, row.name): row.values for row in rows}
    header = "group", "row", "median (least to most)", "unit", "ours over the peer"
    cells = []
    for group in dict.fromkeys(row.group for row in rows):
        shown = group
        for row in (row for row in rows if row.group == group and row.ours):
            cells.append((shown, row.name, spread(row.values).brief_text(), row.unit, ""))
            shown = ""
            for peer in row.peers:
                theirs = values[group, peer]
                ratio = spread(round_by_round(row.values, theirs)).brief_text()
                cells.append(("", f"  {peer}", spread(theirs).brief_text(), row.unit, ratio))
    return tables.terminal(header, cells, name_width=0)


if __name__ == "__main__":
    run_command(main, PROG)
