"""What every run of a sweep has come to, out of its record and the folders of its runs."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from selfplay.errors import UserError, one_line
from selfplay.files import checksum_of_file
from selfplay.sweep import outcome as outcomes, plan as plans
from selfplay.sweep.record import Row, Sweep
from selfplay.training.folder import MODEL

PROVED, UNPROVED, FAILED, DROPPED, MISSING = "proved", "no proof", "failed", "dropped", "missing"
"""How a run ended; a missing one has not, or its folder is gone."""


class Result(NamedTuple):
    """Hold a run of a sweep and what it has come to."""

    row: Row
    kind: str
    why: str
    outcome: outcomes.Outcome
    model: str
    """SHA-256 of its model, empty without one."""

    @property
    def ended(self) -> bool:
        """Tell whether it is among those of which shares and means are told: not dropped, and not missing."""
        return self.kind in (PROVED, UNPROVED, FAILED)

    def amount(self, of: str) -> float:
        """Return the steps, updates or seconds to its proof, infinity without one."""
        return self.reached(of) if self.kind == PROVED else math.inf

    def reached(self, of: str) -> float:
        """Return the steps, updates or seconds to its proof, or to its end."""
        return float(getattr(self.outcome, of) or 0)


def gather(sweep: Sweep) -> dict[str, list[Result]]:
    """Return the results of a sweep by setting, in the order of its record."""
    found: dict[str, list[Result]] = {}
    for row in sweep.rows:
        found.setdefault(row.setting, []).append(_result(sweep, row))
    return found


def followed(results: Sequence[Result], kind: str) -> tuple[list[float], list[bool]]:
    """Return how far each run of a setting was followed, in steps, updates or seconds, and whether to its proof.

    A failed run never comes to one, so it counts as followed as far as the longest; or failures would shorten times.
    """
    kept = [result for result in results if result.kind != DROPPED]
    longest = max((result.reached(kind) for result in kept), default=0.0)
    return (
        [longest if result.kind == FAILED else result.reached(kind) for result in kept],
        [result.kind == PROVED for result in kept],
    )


def _result(sweep: Sweep, row: Row) -> Result:
    folder, nothing = sweep.place / row.name, outcomes.Outcome(sweep.plan.unit, [], None)
    try:
        outcome = outcomes.read(folder, plans.config_of(sweep.plan, row.values, row.seed))
    except UserError as error:
        return Result(row, FAILED, _without_place(row.why or str(error), sweep.place), nothing, "")
    if row.state == "failed":
        return Result(row, FAILED, row.why, outcome, _hash(folder / MODEL))
    if row.state == "dropped":
        return Result(row, DROPPED, row.why, outcome, "")
    if row.state != "done":
        return Result(row, MISSING, "it has not ended; selfplay sweep --resume goes on with it", outcome, "")
    if not outcome.lines:
        return Result(row, MISSING, "it has ended, but its folder holds no evaluation", outcome, "")
    return Result(row, PROVED if outcome.proved else UNPROVED, "", outcome, _hash(folder / MODEL))


def _without_place(why: str, place: Path) -> str:
    return one_line(why.replace(f"{place}/", ""))


def _hash(path: Path) -> str:
    try:
        return checksum_of_file(path)
    except OSError:
        return ""
