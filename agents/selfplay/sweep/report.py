"""The report of a sweep: `selfplay report SWEEP`. It needs no Ray."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selfplay.command_line import offer, parse, say
from selfplay.program import tensorboard

MOST_FAILURES = 20
"""Failures that are printed."""


@dataclass(frozen=True)
class ReportConfig:
    """Report the results of a sweep: shares proved, times to a proof, differences between settings, every failure."""

    sweep: Path = field(metadata={"positional": "SWEEP"})
    """Folder of a sweep, ended or not."""
    out: Path | None = None
    """Folder for the report; an earlier report in it is replaced. Default: report in the sweep's folder."""


def main(args: Sequence[str], prog: str = "selfplay report") -> None:
    """Print the tables, and write them with plots and CSV files to a folder."""
    config = parse(ReportConfig, args, prog)
    from rich.console import Console

    from selfplay.sweep import report_pages, results, state

    sweep = state.read(config.sweep)
    found = results.read(sweep)
    out = config.out or sweep.folder / report_pages.REPORT
    report_pages.write(sweep, found, out)
    console = Console()
    for table in report_pages.tables(sweep, found):
        console.print(table.render())
    for end, name, why in report_pages.failures(found)[:MOST_FAILURES]:
        say(f"{end}: {name}: {why}")
    say(f"\nThe report is in {out}, with all failures. What you can do next:\n")
    offer("Look at all runs in TensorBoard, with settings and scores in its HPARAMS tab:", tensorboard(sweep.folder))
