"""What the comparison shows: tables with a row for each network of a player, and a strip for each run."""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from benchmarks import harness
from benchmarks.data import Result
from benchmarks.peers.evaluations import ONLINE, Run
from benchmarks.peers.learners import OTHERS, SEARCHED, TOLD, Told, told_by
from benchmarks.peers.our_dqn import CHANGES, WALK
from selfplay.files import write_csv
from selfplay.pictures import FIRST, png, styled

FILE = "peers.csv"
EARLIEST = 0.1
"""Where the plot begins, s."""
NONE = harness.markdown([["no run has been measured yet"]])


def in_order(runs: Sequence[Run]) -> list[Run]:
    """Return the runs by player, network and seed; a custom player comes last."""
    names = [name + searched for name in (*WALK, *OTHERS) for searched in ("", SEARCHED)]
    names += sorted({run.player for run in runs} - {*names})
    return sorted(runs, key=lambda run: (names.index(run.player), run.network != ONLINE, run.seed))


def read(docs: Path) -> list[Run]:
    """Return the runs in a folder; none if it has none."""
    path = docs / FILE
    if not path.exists():
        return []
    with path.open(newline="") as file:
        kinds = Run.__annotations__.values()
        return [
            Run(*(kind(field) for kind, field in zip(kinds, fields, strict=True)))
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


def add(docs: Path, runs: Sequence[Run]) -> None:
    """Add a run's networks to those in a folder, in the place of earlier ones of its player and seed, and plot all."""
    replaced = {(run.player, run.seed) for run in runs}
    others = [run for run in read(docs) if (run.player, run.seed) not in replaced]
    every = in_order([*others, *runs])
    write_csv(docs / FILE, [Run._fields, *every])
    (docs / "peers.png").write_bytes(png(plot(pictured(every))))


def compared(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of the table of learners: all but those of the walk, which begins with ours."""
    return [run for run in runs if run.player not in [*WALK][1:]]


def pictured(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of the picture: those of the table, of a learner that was searched only those."""
    players = {run.player for run in runs}
    chosen = [run for run in compared(runs) if run.player + SEARCHED not in players]
    return chosen or [*runs]


def outcome(run: Run) -> Result:
    """Return what a table shows of a run at one of its networks."""
    found: Result = {"proved": math.isfinite(run.first_s), "first proof, s": run.first_s}
    if run.looks_after:
        found["lapses, % of looks after it"] = 100 * run.lapses / run.looks_after
    if run.lapses:
        found["last lapse, s"] = run.last_lapse_s
    return {
        **found,
        "proved at the end": run.ways_at_end == 0,
        "ways to beat it at the end": run.ways_at_end,
        "optimal states at the end": run.optimal_at_end,
        "updates between looks": run.look_every,
    }


def table_of_the_walk(runs: Sequence[Run]) -> str:
    """Return the table of the walk, each row with what it changes as well as what the rows above it change."""
    notes = {}
    for player, changes in CHANGES.items():
        flags = [f"`--{name.replace('_', '-')} {value}`" for name, value in changes.items()]
        notes[player] = {"changed": " ".join(flags) or "nothing"}
    return table([run for run in runs if run.player in WALK], notes)


def table(runs: Sequence[Run], notes: Mapping[str, Result] = MappingProxyType({})) -> str:
    """Return the table with a row for each network of a player, and notes on some players.

    What never happened did not within the time.
    """
    if not runs:
        return NONE
    results: dict[str, list[Result]] = {}
    for run in in_order(runs):
        results.setdefault(f"{run.player}: {run.network}", [notes.get(run.player, {})]).append(outcome(run))
    seconds = min(run.seconds for run in runs)
    return harness.markdown(harness.summary(results)).replace("never", f"not within {harness.number(seconds)} s")


def table_of_what_is_told() -> str:
    """Return a table of what each learner is told beyond play."""
    told = {**{player: told_by(settings) for player, settings in WALK.items()}, **TOLD}
    lines = [["what", *(name.replace("_", " ") for name in Told._fields)]]
    return harness.markdown([*lines, *([player, *of_player] for player, of_player in told.items())])


@styled()
def plot(runs: Sequence[Run]) -> Figure:
    """Plot a strip per run and network over training seconds: pale from the first proof, full from the last lapse."""
    figure = Figure(figsize=(9, 1.6 + 0.1 * len(runs)), layout="constrained")
    axes = figure.subplots()
    end = max(run.seconds for run in runs)
    shades = {
        f"{FIRST}10": "not proved yet",
        f"{FIRST}60": "proved, beaten again later",
        FIRST: "not beaten at a later look",
    }
    names: dict[float, str] = {}
    place, previous = 0.0, ""
    for run in runs:
        row = f"{run.player}: {run.network}"
        place += 1 if row == previous else 2.2
        if row != previous:
            names[place] = row
        previous = row
        first = min(run.first_s, end)
        lasting = first
        if run.lapses:
            lasting = end if run.ways_at_end else run.last_lapse_s
        for shade, left, right in zip(shades, (EARLIEST, first, lasting), (first, lasting, end), strict=True):
            axes.barh(place, right - left, left=left, height=0.8, color=shade)
    axes.set_yticks([*names], names.values())
    axes.tick_params(left=False)
    axes.set_xscale("log")
    axes.set_xlim(EARLIEST, 1.01 * end)
    axes.set_ylim(place + 1, 0.5)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("seconds of training on one core")
    axes.spines[:].set_visible(False)
    seeds = len({run.seed for run in runs})
    figure.suptitle(f"Exact looks at the player while it trains: a strip for each of up to {seeds} seeds")
    patches = [Patch(facecolor=shade) for shade in shades]
    figure.legend(patches, shades.values(), loc="outside lower center", ncols=3)
    return figure
