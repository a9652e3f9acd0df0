"""The runs of the comparison: their file, and a table with a row for each network of a player."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks import harness
from benchmarks.data import Result
from benchmarks.peers.compared_learners import TOLD
from benchmarks.peers.evaluations import ONLINE, NetworkResult
from selfplay.files import write_csv

FILE = "peers.csv"


def in_order(runs: Sequence[NetworkResult]) -> list[NetworkResult]:
    """Return the runs by player, network and seed; a custom player comes last."""
    names = [*TOLD, *sorted({run.player for run in runs} - {*TOLD})]
    return sorted(runs, key=lambda run: (names.index(run.player), run.network != ONLINE, run.seed))


def read(docs: Path) -> list[NetworkResult]:
    """Return the runs in a folder; none if it has none."""
    path = docs / FILE
    if not path.exists():
        return []
    with path.open(newline="") as file:
        kinds = NetworkResult.__annotations__.values()
        return [
            NetworkResult(*(kind(field) for kind, field in zip(kinds, fields, strict=True)))
            for fields in list(csv.reader(file))[1:]
        ]


def check_length(docs: Path, seconds: float) -> None:
    """Refuse a folder whose runs have another length, which no table can show with these.

    Raises:
        SystemExit: It has such runs.
    """
    for run in read(docs):
        if round(run.seconds / seconds) != 1:  # the last step of a run may be long
            raise SystemExit(
                f"{docs}: its {FILE} holds runs of {run.seconds:.0f} s; train as long, or name another --docs"
            )


def add(docs: Path, runs: Sequence[NetworkResult]) -> None:
    """Add a run's networks to those in a folder, in the place of earlier ones of its player and seed."""
    replaced = {(run.player, run.seed) for run in runs}
    others = [run for run in read(docs) if (run.player, run.seed) not in replaced]
    write_csv(docs / FILE, [NetworkResult._fields, *in_order([*others, *runs])])


def name(run: NetworkResult) -> str:
    """Return the player and the network of a run."""
    return f"{run.player}: {run.network}"


def table(runs: Sequence[NetworkResult]) -> str:
    """Return the table with a row for each network of a player; what never happened did not within the run."""
    rows: dict[str, list[NetworkResult]] = {}
    for run in runs:
        rows.setdefault(name(run), []).append(run)
    return harness.markdown(harness.summary({row: [outcome(of_row)] for row, of_row in rows.items()}))


def outcome(runs: Sequence[NetworkResult]) -> Result:
    """Return what the table shows of the runs at one network of a player."""
    after = sum(run.looks_after for run in runs)
    return {
        "told": TOLD.get(runs[0].player, "-"),
        "proved": harness.cell([math.isfinite(run.first_s) for run in runs]),
        "first proof, updates": harness.cell([run.first_updates for run in runs]),
        "first proof, s": harness.middle([run.first_s for run in runs]),
        "updates/s": harness.middle([run.updates / run.seconds for run in runs]),
        "lapses, %": harness.number(100 * sum(run.lapses for run in runs) / after) if after else "-",
    }
