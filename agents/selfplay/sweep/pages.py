"""The tables and CSV files of a report; times and hosts stand in those of their own."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from selfplay.sweep import plan as plans
from selfplay.sweep.record import Sweep
from selfplay.sweep.results import DROPPED, FAILED, MISSING, PROVED, Result, followed
from selfplay.sweep.statistics import (
    Interval,
    interquartile_mean,
    median_of,
    paired,
    proved_curve,
    share,
)

Results = Mapping[str, Sequence[Result]]


class Page(NamedTuple):
    """Hold a table for the terminal and for Markdown."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def drawn(self) -> Table:
        """Return it for the terminal."""
        table = Table(title=self.title, title_justify="left")
        for number, name in enumerate(self.header):
            table.add_column(name, justify="right" if number else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*map(Text, row))  # in which brackets are what they are
        return table

    def markdown(self) -> str:
        """Return it in Markdown."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return f"## {self.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tables(sweep: Sweep, found: Results) -> list[Page]:
    """Return what is told of each setting, and of its differences from the first."""
    kinds = [sweep.plan.unit, "updates"] if _counts_updates(found) else [sweep.plan.unit]
    pages = [_shares(found)]
    if sweep.plan.search:
        found = dict(sorted(found.items(), key=lambda item: _search_order(item[1], sweep.plan.objective)))
        pages = [_shares(found)]
    pages += [_times_to_proof(found, kind, "steps" if kind == sweep.plan.unit else kind) for kind in kinds]
    if len(found) > 1 and not sweep.plan.search:
        pages += [_differences(found, kind, "steps" if kind == sweep.plan.unit else kind) for kind in kinds]
    return pages


def _counts_updates(found: Results) -> bool:
    return any(result.outcome.updates for results in found.values() for result in results)


def _search_order(results: Sequence[Result], objective: str) -> tuple[int, float]:
    """Return what sorts settings: the most seeds followed first, then the least mean to a proof."""
    ended = [result for result in results if result.ended]
    proved = [result.amount(objective) for result in ended if result.kind == PROVED]
    return -len(proved), sum(proved) / len(proved) if proved else math.inf


def _shares(found: Results) -> Page:
    rows = []
    for setting, results in found.items():
        ended = [result for result in results if result.ended]
        proved = sum(result.kind == PROVED for result in results)
        counted = (sum(result.kind == kind for result in results) for kind in (FAILED, DROPPED, MISSING))
        interval = share(proved, len(ended))
        shown = f"{interval.low:.0%} to {interval.high:.0%}" if ended else "-"
        rows.append([setting, f"{proved} of {len(ended)}", shown, *map(str, counted)])
    header = ("setting", "proved", "share (95 %, Wilson)", "failed", "dropped", "missing")
    return Page("Share of runs that are proved", header, rows)


def _times_to_proof(found: Results, name: str, kind: str) -> Page:
    rows = []
    for setting, results in found.items():
        amounts, proved = followed(results, kind)
        if not amounts:
            continue
        curve = proved_curve(amounts, proved)
        means = interquartile_mean([result.amount(kind) for result in results if result.ended])
        digits = 1 if kind == "seconds" else 0
        least = min((result.amount(kind) for result in results), default=math.inf)
        rows.append(
            [setting, interval_text(median_of(curve), digits), interval_text(means, digits), _number(least, digits)]
        )
    header = ("setting", "median (95 %)", "interquartile mean (95 %)", "least")
    return Page(f"{name.capitalize()} to the first evaluation from which the proof held", header, rows)


def _differences(found: Results, name: str, kind: str) -> Page:
    (first, base), *others = found.items()
    rows = []
    before = {result.row.seed: result.amount(kind) for result in base if result.ended}
    for setting, results in others:
        after = {result.row.seed: result.amount(kind) for result in results if result.ended}
        pair = paired(before, after)
        difference = interval_text(pair.difference, 1 if kind == "seconds" else 0, signed=True) if pair.both else "-"
        rows.append([setting, str(pair.seeds), str(pair.sooner), str(pair.later), str(pair.both), difference])
    header = ("setting", "equal seeds", "sooner", "later", "both proved", "difference (95 %)")
    return Page(f"{name.capitalize()} beside those of {first}, on equal seeds", header, rows)


def interval_text(interval: Interval, digits: int, signed: bool = False) -> str:
    """Return an estimate with its interval, without one where both are the same."""
    if math.isnan(interval.estimate):
        return "-"
    estimate, low, high = (_number(value, digits, signed) for value in interval)
    return estimate if low == high == estimate else f"{estimate} ({low} to {high})"


def _number(value: float, digits: int, signed: bool = False) -> str:
    return "never" if math.isinf(value) else f"{value:{'+' if signed else ''},.{digits}f}"


def not_ended(found: Results) -> list[tuple[str, str, str]]:
    """Return kind, name and reason of every run that has failed or is missing."""
    return [
        (result.kind, result.row.name, result.why)
        for results in found.values()
        for result in results
        if result.kind in (FAILED, MISSING)
    ]


NOTE = """A run is proved from the first evaluation on from which the proof held to its end.
One without a proof, or one that failed, is never left out: in the curves it is censored where it ended, one that failed
at the end of the longest of its setting, and in shares and means both count as never. Medians and their intervals are
read off the curves (Kaplan and Meier, log-log intervals), which take runs that have not ended as far as they are;
interquartile means leave out the lowest and the highest quarter, and their intervals and those of differences come of a
bootstrap (percentiles of 9,999 resamples). A difference is the interquartile mean over the seeds with which both
settings are proved; below 0 the setting was sooner.
"""


def report(sweep: Sweep, found: Results, pictures: Sequence[str]) -> str:
    """Return the page of a report, which holds neither times nor hosts."""
    plan = sweep.plan
    lines = [f"- algorithm: {plan.algorithm}", f"- seeds: {_seeds(plan.seeds)}"]
    lines += [f"- all runs: {plans.label(plan.set)}"] if plan.set else []
    lines += [f"- varied: {name} among {_among(values)}" for name, values in plan.vary.items()]
    lines += [f"- each by itself: {name}={_among(values)}" for name, values in plan.each.items()]
    lines += [f"- search: {plan.search} settings by {plan.objective} to a proof"] if plan.search else []
    failures = not_ended(found)
    listed = "".join(f"- {kind}: `{name}`: {why}\n" for kind, name, why in failures) or "None.\n"
    return "\n".join(
        [
            "# Sweep\n",
            "\n".join(lines) + "\n",
            *(page.markdown() for page in tables(sweep, found)),
            f"## Runs that failed or are missing\n\n{listed}",
            NOTE,
            *(f"![{name}]({name})\n" for name in sorted(pictures)),
        ]
    )


def times_report(sweep: Sweep, found: Results, pictures: Sequence[str]) -> str:
    """Return the page of times."""
    rows = [result.row for results in found.values() for result in results]
    hours, starts = sum(row.seconds for row in rows) / 3600, sum(max(row.starts - 1, 0) for row in rows)
    training = sum(
        r.outcome.lines[-1].get("time/training_s", 0) for rs in found.values() for r in rs if r.outcome.lines
    )
    return "\n".join(
        [
            "# Times of the sweep\n",
            f"- {hours:.2f} hours of a core in workers that ended a run, {training / 3600:.2f} of them in training",
            f"- {starts} times a run went on with another worker, because one died or the sweep was stopped",
            f"- hosts: {', '.join(sorted({row.host for row in rows if row.host})) or 'none'}\n",
            _times_to_proof(found, "seconds of training", "seconds").markdown(),
            *([_differences(found, "seconds of training", "seconds").markdown()] if _comparable(sweep, found) else []),
            *(f"![{name}]({name})\n" for name in sorted(pictures)),
        ]
    )


def _comparable(sweep: Sweep, found: Results) -> bool:
    return len(found) > 1 and not sweep.plan.search


def _seeds(seeds: Sequence[int]) -> str:
    runs_on = len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1))
    return f"{seeds[0]}..{seeds[-1]}" if runs_on else ", ".join(map(str, seeds))


def _among(values: Any) -> str:
    return ", ".join(map(plans.text, values)) if isinstance(values, list) else str(values)


def run_lines(found: Results) -> Iterator[Sequence[Any]]:
    """Yield the lines of runs.csv."""
    yield "run", "setting", "seed", "end", "why", "steps", "updates", "evaluations", "model_sha256"
    for result in _all(found):
        row, outcome = result.row, result.outcome
        updates = "" if outcome.updates is None else outcome.updates
        counted = outcome.steps, updates, len(outcome.lines)
        yield row.name, row.setting, row.seed, result.kind, result.why, *counted, result.model


def evaluation_lines(sweep: Sweep, found: Results) -> Iterator[Sequence[Any]]:
    """Yield the lines of evaluations.csv: every evaluation of every run, times left out."""
    yield from _evaluations(sweep, found, timed=False)


def evaluation_times(sweep: Sweep, found: Results) -> Iterator[Sequence[Any]]:
    """Yield the times of every evaluation of every run."""
    yield from _evaluations(sweep, found, timed=True)


def _evaluations(sweep: Sweep, found: Results, *, timed: bool) -> Iterator[Sequence[Any]]:
    tags = {tag for result in _all(found) for line in result.outcome.lines for tag in line}
    columns = sorted(tag for tag in tags - {sweep.plan.unit} if _is_time(tag) == timed)
    yield "run", "seed", sweep.plan.unit, *columns
    for result in _all(found):
        for line in result.outcome.lines:
            yield result.row.name, result.row.seed, line[sweep.plan.unit], *(line.get(tag, "") for tag in columns)


def _is_time(tag: str) -> bool:
    return tag.startswith("time/") and tag != "time/updates"


def run_times(found: Results) -> Iterator[Sequence[Any]]:
    """Yield where and how long each run was trained."""
    yield "run", "host", "workers", "seconds_of_last_worker", "training_seconds_to_proof_or_end"
    for result in _all(found):
        yield result.row.name, result.row.host, result.row.starts, result.row.seconds, result.outcome.seconds


def _all(found: Results) -> Iterator[Result]:
    for results in found.values():
        yield from results
