"""The files of a report: Markdown pages with tables, plots, and CSV files.

The same runs give the same files, to the byte, except in the folder `times`, which holds times and hosts.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from selfplay.files import make_inside, write_csv, write_whole
from selfplay.learning.plots import png
from selfplay.sweep import plan as plans, plots
from selfplay.sweep.results import DROPPED, FAILED, MISSING, PROVED, Result, Results, survival_data
from selfplay.sweep.search_space import Range
from selfplay.sweep.state import Sweep
from selfplay.sweep.statistics import Estimate, compare, interquartile_mean, proportion, proved_curve

REPORT, TIMES = "report", "times"
NOTE = """A run is proved from the first evaluation on from which the proof held to its end.
One without a proof, or one that failed, is never left out: in the curves it is censored where it ended, one that failed
at the end of the longest of its setting, and in shares and means both count as never. Medians and their intervals are
read off the curves (Kaplan and Meier, log-log intervals), which take runs that have not ended as far as they are;
interquartile means leave out the lowest and the highest quarter, and their intervals and those of differences come from
a bootstrap (percentiles of 9,999 resamples). A difference is the interquartile mean over the seeds with which both
settings are proved; below 0 the setting was sooner.
"""


def write(sweep: Sweep, results: Results, out: Path) -> None:
    """Write the report's files.

    Raises:
        OSError: one cannot be written.
        UserError: a folder for them is a link to elsewhere.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    make_inside(out)
    make_inside(out / TIMES)
    every = [result for of_setting in results.values() for result in of_setting]
    unit = sweep.plan.unit
    titles = {"steps": unit, "updates": "updates"} if unit == "plies" else {"steps": unit}  # a table has no updates
    compared = len(results) > 1 and not sweep.plan.search
    parts = ["# Sweep\n", _description(sweep.plan), _shares(results), *tables(results, titles, compared)]
    _write_page(out, [*parts, _failures(every), NOTE], plots.figures(results, titles))
    titles = {"seconds": "seconds of training"}
    parts = ["# Times of the sweep\n", _times(every), *tables(results, titles, compared)]
    _write_page(out / TIMES, parts, plots.figures(results, titles))
    write_csv(out / "runs.csv", _run_lines(every))
    write_csv(out / "evaluations.csv", _evaluation_lines(every, unit))


def _write_page(folder: Path, parts: Sequence[str], figures: Mapping[str, Figure]) -> None:
    """Write a page of Markdown and its plots, in place of those of an earlier report."""
    page = [*parts, *(f"![{name}]({name})\n" for name in sorted(figures))]
    for path in (*folder.glob("proved-*.png"), *folder.glob("settings-*.png")):
        path.unlink()
    for name, figure in figures.items():
        write_whole(folder / name, png(figure))
    write_whole(folder / "report.md", "\n".join(page).encode())


def tables(results: Results, titles: Mapping[str, str], compared: bool) -> list[str]:
    """Return the tables of steps, updates or seconds in Markdown, and of the differences from the first setting."""
    functions = [_times_to_proof, _differences] if compared else [_times_to_proof]
    return [function(results, kind, title) for function in functions for kind, title in titles.items()]


def _table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return f"## {title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _failures(every: Sequence[Result]) -> str:
    """Return a list of the runs that have failed or are missing."""
    ends = [(each.end, each.run.name, each.why.replace("`", "'")) for each in every if each.end in {FAILED, MISSING}]
    # As code, in which nothing that a record of somebody else says is a tag, a link or an image.
    lines = "".join(f"- {end}: `{name}`: `{why}`\n" for end, name, why in ends) or "None.\n"
    return f"## Runs that failed or are missing\n\n{lines}"


def _shares(results: Results) -> str:
    """Return the table of the shares proved."""
    rows = []
    for setting, of_setting in results.items():
        ends = [result.end for result in of_setting]
        number, proved = sum(result.counts for result in of_setting), ends.count(PROVED)
        _, low, high = proportion(proved, number) if number else (0, 0.0, 1.0)
        others = (str(ends.count(end)) for end in (FAILED, DROPPED, MISSING))
        rows.append([setting, f"{proved} of {number}", f"{low:.0%} to {high:.0%}", *others])
    header = ("setting", "proved", "share (95 %, Wilson)", "failed", "dropped", "missing")
    return _table("Share of runs that are proved", header, rows)


def _times_to_proof(results: Results, kind: str, name: str) -> str:
    """Return the table of the steps, updates or seconds to a proof."""
    rows = []
    for setting, of_setting in results.items():
        followed, proved = survival_data(of_setting, kind)
        if followed:
            median = proved_curve(followed, proved).median()
            times = [result.to_proof(kind) for result in of_setting if result.counts]
            mean, least = interquartile_mean(times), min(times, default=math.inf)
            digits = int(kind == "seconds")
            rows.append([setting, *(each.text(digits) for each in (median, mean, Estimate(least, least, least)))])
    header = ("setting", "median (95 %)", "interquartile mean (95 %)", "least")
    return _table(f"{name.capitalize()} to the first evaluation from which the proof held", header, rows)


def _differences(results: Results, kind: str, name: str) -> str:
    """Return the table of the differences from the first setting."""
    first, *others = (
        (setting, {result.run.seed: result.to_proof(kind) for result in of_setting if result.counts})
        for setting, of_setting in results.items()
    )
    rows = []
    for setting, times in others:
        counts, difference = compare(first[1], times)
        rows.append([setting, *map(str, counts), difference.text(int(kind == "seconds"), "+")])
    header = ("setting", "equal seeds", "sooner", "later", "both proved", "difference (95 %)")
    return _table(f"{name.capitalize()} beside those of {first[0]}, on equal seeds", header, rows)


def _description(plan: plans.Plan) -> str:
    """Return the plan of a sweep as a list in Markdown."""
    lines = [f"algorithm: {plan.algorithm}", f"{len(plan.seeds)} seeds, {min(plan.seeds)} to {max(plan.seeds)}"]
    lines += [f"all runs: {plans.label(plan.set)}"] if plan.set else []
    for table in ("vary", "each"):
        for name, values in getattr(plan, table).items():
            shown = str(values) if isinstance(values, Range) else ",".join(map(plans.text, values))
            lines.append(f"{table}: {name}={shown}")
    lines += [f"search: {plan.search} settings by {plan.objective} to a proof"] if plan.search else []
    return "".join(f"- {line}\n" for line in lines)


def _times(every: Sequence[Result]) -> str:
    """Return how long the workers took, as a list in Markdown."""
    seconds = sum(result.run.seconds for result in every)
    training = sum(result.outcome.lines[-1]["time/training_s"] for result in every if result.outcome.lines)
    resumed = sum(max(result.run.starts - 1, 0) for result in every)
    return (
        f"- {seconds / 3600:.2f} hours of a core in workers that ended a run, "
        f"{training / 3600:.2f} of them in training\n"
        f"- {resumed} times a run went on with another worker, because one died or the sweep was stopped\n"
    )


def _run_lines(every: Sequence[Result]) -> Iterator[Sequence[Any]]:
    """Yield the lines of runs.csv."""
    yield "run", "setting", "seed", "end", "why", "steps", "updates", "evaluations", "model_sha256"
    for run, end, why, outcome, model in every:
        amounts_to_end = (int(outcome.amount(kind)) for kind in ("steps", "updates"))
        yield run.name, run.setting, run.seed, end, why, *amounts_to_end, len(outcome.lines), model


def _evaluation_lines(every: Sequence[Result], unit: str) -> Iterator[Sequence[Any]]:
    """Yield the lines of evaluations.csv, without times."""
    lines = [(result.run, line) for result in every for line in result.outcome.lines]
    known = {tag for _, line in lines for tag in line} - {unit}
    tags = [unit, *sorted(tag for tag in known if tag == "time/updates" or not tag.startswith("time/"))]
    yield "run", "seed", *tags
    for run, line in lines:
        yield run.name, run.seed, *(line.get(tag, "") for tag in tags)
