"""The report of a sweep: `selfplay report SWEEP`. It needs no Ray."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selfplay.cli.flags import offer, parse, say
from selfplay.program import open_console, tensorboard


@dataclass(frozen=True)
class ReportConfig:
    """Report the results of a sweep: shares proved, times to a proof, differences between settings, every failure."""

    sweep: Path = field(metadata={"positional": "SWEEP"})
    """Folder of a sweep, ended or not."""
    out: Path | None = None
    """Folder for the report; an earlier report in it is replaced. Default: report in the sweep's folder."""


def main(args: Sequence[str], prog: str = "selfplay report") -> None:
    """Write the report to a folder, with plots and CSV files, and print it."""
    config = parse(ReportConfig, args, prog)
    from rich.markdown import Markdown

    from selfplay.sweep import report_pages, results, state

    sweep = state.read(config.sweep)
    out = sweep.folder / report_pages.REPORT if config.out is None else config.out.resolve()
    report_pages.write(sweep, results.read(sweep), out)
    page = (out / "report.md").read_text("utf-8").split("\n![")[0]  # without its plots
    console = open_console()
    if console.is_terminal:
        console.print(Markdown(page))
    else:
        print(page)
    say(f"\nThe report is in {out}. What you can do next:\n")
    offer({"Look at all runs in TensorBoard, with settings and scores in its HPARAMS tab:": tensorboard(sweep.folder)})
