"""Save how the runs of a sweep ended and how long they took, for the page of results.

    python -m benchmarks.sweeps.evidence sweeps/proof --docs docs

`python -m benchmarks.sweeps proof` makes the sweep. The CSV file has the name of its folder and the columns of
`selfplay.sweep.results.Result`. data/evidence.json gets the settings of the first run, with which all others are
compared, and the machine: run it where the sweep ran, at the same commit. PICTURES of a sweep are drawn, too; with
`--only-draw` nothing else is done.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import data, harness
from selfplay.cli.flags import parse, run_command
from selfplay.files import write_csv, write_whole
from selfplay.pictures import png
from selfplay.runs.folder import written
from selfplay.settings import to_json
from selfplay.sweep import plan as plans, plots, results

PROG = "python -m benchmarks.sweeps.evidence"
PICTURES = {"proof": "proved-updates.png", "defaults": "settings-updates.png"}
"""The picture of a report that evidence/NAME.png is, for some sweeps."""


@dataclass(frozen=True)
class Flags:
    """Save how the runs of a sweep ended and how long they took."""

    sweep: str = field(metadata={"positional": "SWEEP"})
    """Folder of a sweep of DQNs."""
    docs: Path = Path("docs")
    """Folder of the pages, in which evidence/NAME.csv is written."""
    only_draw: bool = False
    """Draw the picture once more from evidence/NAME.csv; the sweep's folder need not exist."""


def control(plan: plans.Plan) -> dict[str, str]:
    """Return the settings of a sweep's first run, with which all others are compared, as flags have them."""
    first, *_ = plans.all_runs(plan)
    return {name: written(value) for name, value in to_json(first.config).items()}


def saved(path: Path) -> dict[str, list[results.Result]]:
    """Return the results that a CSV file holds, by setting."""
    found: dict[str, list[results.Result]] = {}
    with path.open(newline="") as file:
        for line in csv.DictReader(file):
            steps, updates, seconds = int(line["steps"]), int(line["updates"]), float(line["seconds"])
            result = results.Result("", line["setting"], int(line["seed"]), line["end"], "", steps, updates, seconds)
            found.setdefault(result.setting, []).append(result)
    return found


def draw(docs: Path, name: str) -> None:
    """Write the picture of a sweep that has one."""
    if name in PICTURES:
        figures = plots.figures(saved(docs / "evidence" / f"{name}.csv"), {"updates": "updates"})
        write_whole(docs / "evidence" / f"{name}.png", png(figures[PICTURES[name]]))


def main(args: Sequence[str]) -> None:
    """Write a line for each run, and draw them."""
    flags = parse(Flags, args, PROG)
    folder = Path(flags.sweep).resolve()
    if flags.only_draw:
        draw(flags.docs, folder.name)
        return
    measured_on = harness.machine(["ray"])  # before a file differs from the commit
    plan = plans.read(folder)
    lines: list[Sequence[object]] = [results.Result._fields]
    for of_setting in results.read(folder, plan).values():
        lines += of_setting
    write_csv(flags.docs / "evidence" / f"{folder.name}.csv", lines)
    data.save(flags.docs, "evidence", {folder.name: [control(plan)]}, measured_on)
    draw(flags.docs, folder.name)


if __name__ == "__main__":
    run_command(main, PROG)
