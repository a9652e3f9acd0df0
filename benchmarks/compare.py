"""Say what got slower or larger from one measurement to another, beyond the noise of both.

On a machine that does other work too, noise is one-sided: a round is slowed now and then, and none is ever sped up.
Medians of two runs of the same commit, one after the other, were seen to differ by up to 35 % where the best rounds
differed by 8 %. So a row has changed only where three things hold, all in the same direction:

1. Its best round has changed by `LEAST_CHANGE` at least: code that is slower is slower undisturbed, too.
2. Its median has changed by as much: one lucky round in either run says nothing.
3. The values of the two runs differ as a whole: the two-sided test of Mann and Whitney rejects at `LEVEL` that they
   come from one distribution. With so few values that it could not (three a side) the two ranges must not
   overlap.

What slows the machine all through one of the runs cannot be told from slower code in this way. It slows the peers
too, whose code has not changed; so they are judged alike, and a line says which got slower. Only ours count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, isinf
from typing import Literal

from rich.table import Table
from scipy.stats import mannwhitneyu

from benchmarks import tables
from benchmarks.results import Better, Report, Result
from benchmarks.spread import brief_number, spread
from selfplay.errors import UserError

LEVEL = 0.05
"""Of the test of Mann and Whitney."""
LEAST_CHANGE = 0.1
"""Part of the earlier figure by which a time or a rate must have changed; half the smallest change to be found."""
LEAST_CHANGE_OF_MEMORY = 0.03
"""The same of memory, which no other work disturbs: two runs of the same commit differ by 0.3 %."""
MAY_DIFFER = ("commit", "load")
"""What a comparison is about, or what differs always."""

Verdict = Literal["worse", "better", "within noise"]


@dataclass(frozen=True)
class Pair:
    """Hold a row of both runs."""

    before: Result
    after: Result

    @property
    def change(self) -> float:
        """Return by what part of the earlier median the median has grown."""
        return growth(spread(self.before.values).median, spread(self.after.values).median)

    @property
    def change_of_best(self) -> float:
        """Return the same of the best round."""
        return growth(best(self.before.values, self.before.better), best(self.after.values, self.after.better))

    @property
    def verdict(self) -> Verdict:
        """Tell whether the row has changed beyond its noise."""
        least = LEAST_CHANGE_OF_MEMORY if self.before.unit == "MB" else LEAST_CHANGE
        changes = self.change, self.change_of_best
        grown, shrunk = min(changes) >= least, max(changes) <= -least
        if not (grown or shrunk) or not differ(self.before.values, self.after.values):
            return "within noise"
        return "better" if grown == (self.before.better == "more") else "worse"

    @property
    def word(self) -> str:
        """Return the verdict in a word that fits the unit."""
        worse, better = ("LARGER", "smaller") if self.before.unit == "MB" else ("SLOWER", "faster")
        return {"worse": worse, "better": better}.get(self.verdict, self.verdict)


def growth(before: float, after: float) -> float:
    """Return by what part something has grown; what never happened is infinite."""
    if isinf(before):
        return 0.0 if isinf(after) else -1.0
    return after / before - 1


def best(values: Sequence[float], better: Better) -> float:
    """Return the best of some values."""
    return max(values) if better == "more" else min(values)


def differ(before: Sequence[float], after: Sequence[float]) -> bool:
    """Tell whether two samples differ as a whole; see the top of this file."""
    if 2 / comb(len(before) + len(after), len(before)) > LEVEL:  # the least p-value that there can be
        return max(before) < min(after) or max(after) < min(before)
    return bool(mannwhitneyu(before, after, method="exact").pvalue < LEVEL)


@dataclass(frozen=True)
class Comparison:
    """Hold the rows of two runs in pairs, and what else there is to know."""

    pairs: list[Pair]
    only_before: list[Result]
    only_after: list[Result]
    differences: list[str]
    """What the two runs did not have in common, such as the machine; one line each."""

    @property
    def worse(self) -> list[Pair]:
        """Return our rows that got slower or larger."""
        return [pair for pair in self.pairs if pair.after.ours and pair.verdict == "worse"]

    @property
    def worse_peers(self) -> list[Pair]:
        """Return the peers' rows that did."""
        return [pair for pair in self.pairs if not pair.after.ours and pair.verdict == "worse"]

    def conclusions(self) -> list[str]:
        """Return what the table comes to, one line each."""
        lines = [f"only before: {_names(self.only_before)}"] if self.only_before else []
        lines += [f"only after: {_names(self.only_after)}"] if self.only_after else []
        if self.worse_peers:
            peers = _names(pair.after for pair in self.worse_peers)
            lines.append(f"warning: peers got slower or larger too, so the machine may have: {peers}")
        if self.worse:
            return [*lines, f"slower or larger beyond the noise: {_names(pair.after for pair in self.worse)}"]
        return [*lines, "nothing of ours got slower or larger beyond the noise"]


def _names(rows: Iterable[Result]) -> str:
    return "; ".join(f"{row.group}: {row.name}" for row in rows)


def compare(before: Report, after: Report) -> Comparison:
    """Pair the rows of two runs by group, name and unit.

    Raises:
        UserError: they have none in common.
    """
    befores, afters = _by_name(before), _by_name(after)
    pairs = [Pair(befores[key], row) for key, row in afters.items() if key in befores]
    if not pairs:
        raise UserError("the two files have no row in common; measure the same groups (--only) in both")
    return Comparison(
        pairs,
        [row for key, row in befores.items() if key not in afters],
        [row for key, row in afters.items() if key not in befores],
        differences(before, after),
    )


def _by_name(report: Report) -> dict[tuple[str, str, str], Result]:
    return {(row.group, row.name, row.unit): row for row in report.rows}


def differences(before: Report, after: Report) -> list[str]:
    """Return what the two runs did not have in common: the machine, versions, the seeds."""
    had = before.machine | {"seeds": ", ".join(map(str, before.seeds))}
    has = after.machine | {"seeds": ", ".join(map(str, after.seeds))}
    return [
        f"{name}: {had.get(name, 'unknown')} before, {has.get(name, 'unknown')} after"
        for name in dict.fromkeys([*had, *has])
        if name not in MAY_DIFFER and had.get(name) != has.get(name)
    ]


def table(pairs: Sequence[Pair]) -> Table:
    """Return a row for each pair, those of peers indented."""
    header = "group", "row", "before", "after", "unit", "change", "of the best", "verdict"
    rows, last_group = [], ""
    for pair in pairs:
        row = pair.after
        group = row.group if row.group != last_group else ""
        last_group = row.group
        medians = (brief_number(spread(result.values).median) for result in (pair.before, row))
        changes = (f"{change:+.1%}" for change in (pair.change, pair.change_of_best))
        name = row.name if row.ours else f"  {row.name}"
        rows.append((group, name, *medians, row.unit, *changes, pair.word))
    return tables.terminal(header, rows, name_width=0)
