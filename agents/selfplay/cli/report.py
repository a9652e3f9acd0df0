"""The report of a sweep: `selfplay report SWEEP`. It needs no Ray."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selfplay.cli.flags import offer, parse
from selfplay.errors import UserError
from selfplay.program import open_console, tensorboard


@dataclass(frozen=True)
class ReportConfig:
    """Report the results of a sweep: shares proved, times to a proof, differences between settings, every failure."""

    sweep: Path = field(metadata={"positional": "SWEEP"})
    """Folder of a sweep, ended or not."""
    out: Path | None = None
    """Folder for the report; an earlier report in it is replaced. Default: report in the sweep's folder."""


def main(args: Sequence[str], prog: str = "selfplay report") -> None:
    """Write the report to a folder, with plots and a CSV file, and print it."""
    config = parse(ReportConfig, args, prog)
    from rich.markdown import Markdown

    from selfplay.sweep import plan as plans, report, results

    plan = plans.read(config.sweep)
    out = config.out or config.sweep / "report"
    found = results.read(config.sweep, plan)
    if not found:
        raise UserError(f"{config.sweep}: no run of this search has begun")
    report.write(plan, found, out)
    page = (out / report.PAGE).read_text("utf-8").partition("\n![")[0]  # without its plots
    console = open_console()
    if console.is_terminal:
        console.print(Markdown(page))
    else:
        print(page)
    print(f"\nThe report is in {out}. What you can do next:\n")
    offer({"See all runs in TensorBoard:": tensorboard(config.sweep)})
