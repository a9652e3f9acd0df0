"""Save how the runs of a sweep ended and how long they took, for the page of results.

    python -m benchmarks.sweeps.evidence sweeps/proof --docs docs

`python -m benchmarks.sweeps proof` makes the sweep. The CSV file has the name of its folder and the columns of
`selfplay.sweep.sweep_results.SweepResult`. data/evidence.json gets the settings of the first run, with which all
others are compared, and the machine: run it where the sweep ran, at the same commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import data, harness
from selfplay.cli.flags import parse, run_command
from selfplay.files import write_csv
from selfplay.runs.folder import written
from selfplay.settings import to_json
from selfplay.sweep import plan as plans, sweep_results

PROG = "python -m benchmarks.sweeps.evidence"


@dataclass(frozen=True)
class EvidenceFlags:
    """Save how the runs of a sweep ended and how long they took."""

    sweep: str = field(metadata={"positional": "SWEEP"})
    """Folder of a sweep of DQNs."""
    docs: Path = Path("docs")
    """Folder of the pages, in which evidence/NAME.csv is written."""


def control(plan: plans.Plan) -> dict[str, str]:
    """Return the settings of a sweep's first run, with which all others are compared, as flags have them."""
    first, *_ = plans.all_runs(plan)
    return {name: written(value) for name, value in to_json(first.config).items()}


def main(args: Sequence[str]) -> None:
    """Write a line for each run."""
    flags = parse(EvidenceFlags, args, PROG)
    folder = Path(flags.sweep).resolve()
    measured_on = harness.machine(["ray"])  # before a file differs from the commit
    plan = plans.read(folder)
    lines: list[Sequence[object]] = [sweep_results.SweepResult._fields]
    for of_setting in sweep_results.read(folder, plan).values():
        lines += of_setting
    write_csv(flags.docs / "evidence" / f"{folder.name}.csv", lines)
    data.save(flags.docs, "evidence", {folder.name: [control(plan)]}, measured_on)


if __name__ == "__main__":
    run_command(main, PROG)
