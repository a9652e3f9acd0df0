"""Say what came of a sweep: `selfplay report SWEEP`. It needs no Ray.

The same runs give the same files, to the byte, but for those in the folder `times`: only they hold times and hosts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from selfplay.command_line import offer, parse, say
from selfplay.errors import UserError
from selfplay.files import write_csv, write_whole
from selfplay.program import tensorboard

if TYPE_CHECKING:
    from selfplay.sweep.record import Sweep
    from selfplay.sweep.results import Result

REPORT, TIMES = "report", "times"


@dataclass(frozen=True)
class ReportConfig:
    """Say what came of a sweep: shares proved, times to a proof, differences between settings, every failure."""

    sweep: Annotated[Path, tyro.conf.Positional]
    """Folder of a sweep, ended or not."""
    out: Path | None = None
    """Folder for the report; what an earlier report left there is replaced. Default: report in the sweep's folder."""


def main(args: Sequence[str], prog: str = "selfplay report") -> None:
    """Print the tables, and leave them with pictures and CSV files in a folder."""
    config = parse(ReportConfig, args, prog)
    from rich.console import Console

    from selfplay.sweep import pages, record, results

    sweep = record.read(config.sweep)
    found = results.gather(sweep)
    out = config.out or sweep.place / REPORT
    write(sweep, found, out)
    console = Console()
    for table in pages.tables(sweep, found):
        console.print(table.drawn())
    failures = pages.not_ended(found)
    say("\n".join(f"{kind}: {name}: {why}" for kind, name, why in failures[:20]))
    if len(failures) > 20:
        say(f"and {len(failures) - 20:,} more in {out / 'report.md'}")
    say(f"\nThe report is in {out}. What you can do next:\n")
    offer("Look at all runs in TensorBoard, with settings and scores in its HPARAMS tab:", tensorboard(sweep.place))


def write(sweep: "Sweep", found: "dict[str, list[Result]]", out: Path) -> None:
    """Write the report's files.

    Raises:
        UserError: one cannot be written.
    """
    from selfplay.sweep import curves, pages
    from selfplay.training.pictures import png

    pictures = curves.pictures(sweep, found)
    timed = {name: figure for name, figure in pictures.items() if "seconds" in name}
    try:
        (out / TIMES).mkdir(parents=True, exist_ok=True)
        for stale in (*out.glob("*.png"), *(out / TIMES).glob("*.png")):
            if re.match(r"proved-|settings", stale.name):
                stale.unlink()
        for name, figure in pictures.items():
            write_whole((out / TIMES if name in timed else out) / name, png(figure))
        write_whole(out / "report.md", pages.report(sweep, found, [*(pictures.keys() - timed.keys())]).encode())
        write_whole(out / TIMES / "report.md", pages.times_report(sweep, found, [*timed]).encode())
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be written ({error.strerror}); name another --out") from None
    write_csv(out / "runs.csv", pages.run_lines(found))
    write_csv(out / "evaluations.csv", pages.evaluation_lines(sweep, found))
    write_csv(out / TIMES / "runs.csv", pages.run_times(found))
    write_csv(out / TIMES / "evaluations.csv", pages.evaluation_times(sweep, found))
