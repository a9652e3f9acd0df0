"""Say what got slower or larger from one measurement to another, beyond the noise of both.

A machine that does other work too slows some rounds, or most of them, and never speeds one up. So noise is judged by
what it leaves alone. A row has changed only where both of this holds, in the same direction:

1. Its best round has changed by `LEAST_CHANGE` at least, and its second best too, so that one lucky round in either
   run says nothing. Code that is slower is slower undisturbed as well.
2. For a row of ours: 1 holds also after what the peers of its group have changed by, the median of them, is taken off.
   Their code is the same, so this is what the machine has done all through one of the runs. (Some play our turn view:
   it is a small part of their time, but for `SyncVectorEnv`, which the median outvotes.) It is not asked where the
   group has no peers, or where machine, versions or seeds differ; then a warning says so.

Peers that got slower are pointed out, but only ours count. The rule was chosen on runs of seven rounds, on a machine
whose two cores did other work too. It flagged none of 112 pairs of rows from runs of the same commit, whose medians
differed by up to 33 %. With the rates of a row of the later run lowered by 20 %, it found that in 108 of the 112;
medians and the rank test of Mann and Whitney at 5 %, in place of the second best, would have found it in 77. A loop
that made the turn view's step a fifth slower was flagged in four of four comparisons with unchanged code.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isinf
from statistics import median
from typing import Literal

from rich.table import Table

from benchmarks.measuring import tables
from benchmarks.measuring.spread import brief_number, spread
from benchmarks.overview.results import Report, Result
from selfplay.errors import UserError

LEAST_CHANGE = 0.1
"""Part of the earlier figure by which a time or a rate must have changed; half the smallest change to be found."""
LEAST_CHANGE_OF_MEMORY = 0.03
"""The same of memory, which other work does not disturb: medians of the same commit differed by 0.3 % at most."""
MAY_DIFFER = ("commit", "load")
"""What a comparison is about, or what differs always."""

Verdict = Literal["worse", "better", "within noise"]


@dataclass(frozen=True)
class Pair:
    """Hold a row of both runs."""

    before: Result
    after: Result
    peers: tuple["Pair", ...] = ()
    """Rows of its group whose code is the same in both runs, which tell what the machine has done."""

    @property
    def change(self) -> float:
        """Return by what part of the earlier median the median has grown."""
        return growth(spread(self.before.values).median, spread(self.after.values).median)

    @property
    def changes_of_best(self) -> tuple[float, float]:
        """Return the same of the best round and of the second best."""
        best, second = map(growth, best_two(self.before), best_two(self.after))
        return best, second

    @property
    def verdict(self) -> Verdict:
        """Tell whether the row has changed beyond its noise."""
        least = LEAST_CHANGE_OF_MEMORY if self.before.unit == "MB" else LEAST_CHANGE
        changes = list(self.changes_of_best)
        if self.peers:
            of_peers = zip(*(peer.changes_of_best for peer in self.peers), strict=True)
            of_machine = [median(of_place) for of_place in of_peers]
            changes += [growth(1 + of_peer, 1 + own) for of_peer, own in zip(of_machine, changes, strict=True)]
        if min(changes) < least and max(changes) > -least:
            return "within noise"
        return "better" if (min(changes) > 0) == self.before.more_is_better else "worse"

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


def best_two(row: Result) -> list[float]:
    """Return the best of a row's values and the second best; of one value, that value twice."""
    return [*sorted(row.values, reverse=row.more_is_better), row.values[0]][:2]


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
    differing = differences(before, after)
    pairs = [Pair(befores[key], row) for key, row in afters.items() if key in befores]
    if not differing:
        pairs = [replace(pair, peers=_peers(pair, pairs)) if pair.after.ours else pair for pair in pairs]
    if not pairs:
        raise UserError("the two files have no row in common; measure the same groups (--only) in both")
    return Comparison(
        pairs,
        [row for key, row in befores.items() if key not in afters],
        [row for key, row in afters.items() if key not in befores],
        differing,
    )


def _peers(ours: Pair, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return the peers of a row's group, without those that were once not measured to the end."""
    in_group = (pair for pair in pairs if not pair.after.ours and pair.after.group == ours.after.group)
    return tuple(pair for pair in in_group if all(map(isfinite, [*pair.before.values, *pair.after.values])))


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
    header = "group", "row", "before", "after", "unit", "change", "of the best", "of the second", "verdict"
    rows, last_group = [], ""
    for pair in pairs:
        row = pair.after
        group = row.group if row.group != last_group else ""
        last_group = row.group
        medians = (brief_number(spread(result.values).median) for result in (pair.before, row))
        changes = (f"{change:+.1%}" for change in (pair.change, *pair.changes_of_best))
        name = row.name if row.ours else f"  {row.name}"
        rows.append((group, name, *medians, row.unit, *changes, pair.word))
    return tables.terminal(header, rows, name_width=0)
