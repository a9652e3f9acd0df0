"""The report of a sweep: a page in Markdown with tables and plots, and a CSV file of the runs."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

from selfplay.errors import UserError
from selfplay.files import make_inside, read_small, write_csv, write_whole
from selfplay.plot_style import png
from selfplay.runs.algorithms import settings_of
from selfplay.sweep import report_plots
from selfplay.sweep.plan import Plan
from selfplay.sweep.statistics import Estimate, compare, interquartile_mean, proportion, proved_curve
from selfplay.sweep.sweep_results import FAILED, MISSING, PROVED, SweepResult, SweepResults, survival_data

PAGE, RUNS = "report.md", "runs.csv"
HEADING = "# Sweep"
"""The first line of a report, by which a folder is known as one of ours."""
LARGEST_PAGE = 1 << 24
"""Bytes."""
DIGITS = {"steps": 0, "updates": 0, "seconds": 1}
NOTE = """A run is proved from the first evaluation from which the proof held to its end.
A run without a proof is never left out. In the curves it is censored where it ended, and in means its time is infinite.
A failed run counts as one without a proof that ended with the longest run of its setting. Shares and means leave out
runs that are missing; curves follow them as far as they are. Medians are read off the curves (Kaplan and Meier, log-log
intervals). Interquartile means leave out the lowest and the highest quarter; their intervals come from a bootstrap
(percentiles of 9,999 resamples). The last four columns compare a setting with the first, seed by seed; a difference is
the interquartile mean over the seeds with which both are proved, and below 0 the setting was sooner.
"""


def write(plan: Plan, results: SweepResults, out: Path) -> None:
    """Write the report into a folder, in place of an earlier one.

    Raises:
        UserError: the folder is a link to elsewhere, or has files in it but no earlier report.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    make_inside(out)
    earlier = earlier_plots(out)
    runs = [result for of_setting in results.values() for result in of_setting]
    unit = settings_of(plan.algorithm).unit
    titles = {"steps": unit, "updates": "updates", "seconds": "seconds of training"}
    if unit == "games":  # a table learns without updates of a network
        del titles["updates"]
    parts = [f"{HEADING}\n", description(plan), shares(results)]
    parts += [times_to_proof(results, kind, title) for kind, title in titles.items()]
    parts += [failures(runs), NOTE]
    figures = report_plots.figures(results, titles)
    parts += [f"![{name}]({name})\n" for name in figures]
    for name in earlier:
        (out / name).unlink(missing_ok=True)
    for name, figure in figures.items():
        write_whole(out / name, png(figure))
    write_csv(out / RUNS, [SweepResult._fields, *runs])
    write_whole(out / PAGE, "\n".join(parts).encode())


def earlier_plots(out: Path) -> list[str]:
    """Return the names of the plots of the report in a folder, none if it is empty.

    Raises:
        UserError: it has files in it but no report.
    """
    page = b""
    if (out / PAGE).exists():
        page = read_small(out / PAGE, LARGEST_PAGE)
    if any(out.iterdir()) and not page.startswith(f"{HEADING}\n".encode()):
        raise UserError(f"{out}: has files in it, and none is the report of a sweep; choose a new or empty folder")
    return re.findall(r"^!\[([\w-]+\.png)\]", page.decode(), flags=re.MULTILINE)


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return f"## {title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def description(plan: Plan) -> str:
    """Return the plan of a sweep as a list in Markdown, without what is not set."""
    lines = []
    for field in fields(Plan):
        value = getattr(plan, field.name)
        if value:
            lines.append(f"- {field.name}: {' '.join(value) if isinstance(value, tuple) else value}\n")
    return "".join(lines)


def shares(results: SweepResults) -> str:
    """Return the table of the shares proved."""
    rows = []
    for setting, of_setting in results.items():
        ends = [result.end for result in of_setting]
        proved, counted = ends.count(PROVED), len(ends) - ends.count(MISSING)
        share = "-"
        if counted:
            _, low, high = proportion(proved, counted)
            share = f"{low:.0%} to {high:.0%}"
        rows.append([setting, f"{proved} of {counted}", share, str(ends.count(FAILED)), str(ends.count(MISSING))])
    return table("Share of runs that are proved", ["setting", "proved", "share (95 %)", "failed", "missing"], rows)


def times_to_proof(results: SweepResults, kind: str, title: str) -> str:
    """Return the table of the steps, updates or seconds to a proof, compared with the first setting by seed."""
    times = {
        setting: {result.seed: result.to_proof(kind) for result in of_setting if result.end != MISSING}
        for setting, of_setting in results.items()
    }
    first = next(iter(times.values()), {})
    digits = DIGITS[kind]
    rows = []
    for setting, by_seed in times.items():
        median = proved_curve(*survival_data(results[setting], kind)).median()
        mean = interquartile_mean(list(by_seed.values()))
        least = min(by_seed.values(), default=math.inf)
        (_, sooner, later, both), difference = compare(first, by_seed)
        estimates = [median.text(digits), mean.text(digits), Estimate(least, least, least).text(digits)]
        rows.append([setting, *estimates, str(sooner), str(later), str(both), difference.text(digits, "+")])
    header = ["setting", "median (95 %)", "interquartile mean (95 %)", "least"]
    header += ["sooner", "later", "both proved", "difference (95 %)"]
    return table(f"{title.capitalize()} to the first evaluation from which the proof held", header, rows)


def failures(runs: Sequence[SweepResult]) -> str:
    """Return a list of the runs that have failed or are missing."""
    lines = []
    for run in runs:
        if run.end in (FAILED, MISSING):
            why = run.why.replace("`", "'")  # as code, in which a folder of somebody else has no tags and links
            lines.append(f"- {run.end}: `{run.run}`: `{why}`\n")
    return f"## Runs that failed or are missing\n\n{''.join(lines) or 'None.'}\n"
