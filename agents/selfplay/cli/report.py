"""The report of a sweep, or a table of ordinary runs: `selfplay report FOLDER`. It needs no Ray."""

import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.cli.arena import percent
from selfplay.cli.flags import offer, parse
from selfplay.errors import UserError
from selfplay.program import open_console, tensorboard
from selfplay.runs.folder import CONFIG, written

if TYPE_CHECKING:
    from rich.table import Table

    from selfplay.runs.compare import Row


@dataclass(frozen=True)
class ReportConfig:
    """Compare runs: those of a sweep with intervals and plots, ordinary ones in a table.

    The table of a folder of ordinary runs, such as runs/, shows the settings in which they differ, and their results.
    The report of a sweep has shares proved, times to a proof, differences between settings, and every failure.
    """

    folder: Path = field(metadata={"positional": "FOLDER"})
    """Folder of a sweep or of runs, ended or not."""
    csv: bool = False
    """Print a line for each run as CSV instead."""
    out: Path | None = None
    """Folder for the report of a sweep: a new or empty one, or one with an earlier report, which is replaced. Default:
    report in the sweep's folder."""


def main(args: Sequence[str], prog: str = "selfplay report") -> None:
    """Print the table of a folder of runs; or write the report of a sweep to a folder, with plots, and print it."""
    config = parse(ReportConfig, args, prog)
    from selfplay.sweep import plan as plans

    if (config.folder / plans.FILE).exists():
        report_sweep(config)
    elif config.out is not None:
        raise UserError(f"{config.folder}: is not the folder of a sweep; leave out --out, which is for its report")
    else:
        compare_runs(config)


def compare_runs(config: ReportConfig) -> None:
    """Print the table of a folder of runs, or its lines as CSV; a run that cannot be read is named.

    Raises:
        UserError: there is no run in it that can be read.
    """
    import selfplay
    from selfplay.runs.compare import compare

    runs = []
    for path in sorted(config.folder.glob(f"*/{CONFIG}")):
        try:
            runs.append(selfplay.open(path.parent))
        except UserError as error:
            print(f"left out: {error}", file=sys.stderr)
    if not runs:
        raise UserError(f"{config.folder}: has no run in it that can be read; name a folder of runs, or of a sweep")
    rows = compare(runs)
    if config.csv:
        lines = csv.writer(sys.stdout, lineterminator="\n")
        lines.writerow(["run", *rows[0].settings, *rows[0].results])
        for row in rows:
            settings = ["" if value is None else written(value) for value in row.settings.values()]
            lines.writerow([row.run, *settings, *row.results.values()])
        return
    open_console().print(table(rows))
    print("What you can do next:")
    offer({"See all runs in TensorBoard:": tensorboard(config.folder)})


def table(rows: "Sequence[Row]") -> "Table":
    """Return runs as a table that fits into a terminal: the settings of a run are below its name."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD)
    shown.add_column("run, and what differs", overflow="fold")
    for head in ("ways\nto beat", "loses, %\nas X/O", "first\nproof", "lapses", "seconds"):
        shown.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        results = row.results
        unfinished = "" if results["finished"] else "; not finished"
        losses = (results["first.loss"], results["second.loss"])
        shown.add_row(
            Text(row.short, "bold").append(f"\n{row.summary}{unfinished}", "not bold"),
            number(results["ways_to_beat"]),
            "-" if None in losses else "/".join(map(percent, losses)),
            number(results["first_proof"]),
            number(results["lapses"]),
            number(results["seconds"], 1),
        )
    return shown


def number(value: float | None, digits: int = 0) -> str:
    """Return a number as it is written in the table."""
    return "-" if value is None else f"{value:,.{digits}f}"


def report_sweep(config: ReportConfig) -> None:
    """Write the report of a sweep to a folder, with plots and a CSV file, and print it.

    Raises:
        UserError: no run has begun, or the plan of the sweep cannot be read.
    """
    from rich.markdown import Markdown

    from selfplay.sweep import plan as plans, sweep_report, sweep_results

    plan = plans.read(config.folder)
    out = config.out or config.folder / "report"
    found = sweep_results.read(config.folder, plan)
    if not found:
        raise UserError(f"{config.folder}: no run of this search has begun")
    sweep_report.write(plan, found, out)
    if config.csv:
        print((out / sweep_report.RUNS).read_text("utf-8"), end="")
        return
    page = (out / sweep_report.PAGE).read_text("utf-8").partition("\n![")[0]  # without its plots
    console = open_console()
    if console.is_terminal:
        console.print(Markdown(page))
    else:
        print(page)
    print(f"\nThe report is in {out}. What you can do next:\n")
    offer({"See all runs in TensorBoard:": tensorboard(config.folder)})
