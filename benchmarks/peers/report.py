"""What the comparison shows: a table with a line per run, and a strip per run of when its player is unbeatable."""

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from benchmarks import harness
from benchmarks.data import Result, Seats
from benchmarks.peers import evaluations
from benchmarks.peers.evaluations import MODULES, SEARCHED, Evaluation
from selfplay.files import write_csv
from selfplay.pictures import BOTH, FIRST, png, styled
from selfplay.sweep.statistics import proportion

SHADES = {"unbeatable": FIRST, "1 to 10": f"{FIRST}80", "11 to 100": f"{FIRST}40", "more": f"{FIRST}18"}
"""Colours of numbers of ways to beat it, ever paler; they differ in print and for every kind of colour vision."""
LIMITS = (1, 11, 101)
"""Numbers of games at which the next colour begins."""
Histories: TypeAlias = Mapping[tuple[str, int], list[Evaluation]]
"""The evaluations of each run by player and seed; none of a run that failed."""


def in_order(lines: Sequence[Evaluation]) -> list[Evaluation]:
    """Return the evaluations by player, seed and time; a custom player comes last."""
    names = [name + searched for name in MODULES for searched in ("", SEARCHED)]
    names += sorted({line.player for line in lines} - {*names})
    return sorted(lines, key=lambda line: (names.index(line.player), line.seed, line.seconds))


def runs(lines: Sequence[Evaluation]) -> dict[tuple[str, int], list[Evaluation]]:
    """Return the evaluations of each run, by player and seed."""
    histories: dict[tuple[str, int], list[Evaluation]] = {}
    for line in in_order(lines):
        histories.setdefault((line.player, line.seed), []).append(line)
    return histories


def read(docs: Path, seconds: float) -> list[Evaluation]:
    """Return the evaluations in a folder to which runs of some seconds are added.

    Raises:
        SystemExit: They are of runs of another length, which no table can show with these.
    """
    lines = evaluations.read(docs / "peers.csv")
    if lines and round(lines[-1].seconds / seconds) != 1:  # the last step of a run may be long
        raise SystemExit(
            f"{docs}: its peers.csv holds runs of {lines[-1].seconds:.0f} s; train as long, or name another --docs"
        )
    return lines


def outcome(history: Sequence[Evaluation]) -> Result:
    """Return what became of a run: when its player was unbeatable, and how it was at the end unless it failed."""
    held = harness.held_from([line.unbeatable for line in history])
    found = {
        "first unbeatable, s": next((line.seconds for line in history if line.unbeatable), math.inf),
        "unbeatable to the end from, s": math.inf if held is None else history[held].seconds,
    }
    if not history:
        return found
    end = history[-1]
    return {
        **found,
        "lost at the end": Seats(end.first_losses, end.second_losses),
        "illegal at the end": Seats(end.first_illegal, end.second_illegal),
        "optimal states at the end": end.optimal_states,
    }


def table(results: Mapping[str, Sequence[Result]], histories: Histories) -> str:
    """Return a table in Markdown; what never happened did not within the seconds of the runs."""
    seconds = min(history[-1].seconds for history in histories.values() if history)
    return harness.markdown(harness.summary(results)).replace("never", f"not within {harness.number(seconds)} s")


def table_of_runs(histories: Histories) -> str:
    """Return the table with a line per run."""
    return table({f"{player}, seed {seed}": [outcome(run)] for (player, seed), run in histories.items()}, histories)


def table_of_players(histories: Histories, proofs: Mapping[str, str]) -> str:
    """Return the table with a line per player; the share that is unbeatable has Wilson's interval.

    `proofs` holds how many trials of a search were proved, by player.
    """
    by_player: dict[str, list[Result]] = {}
    for (player, _), history in histories.items():
        by_player.setdefault(player, []).append(outcome(history))
    results = {}
    for player, of_player in by_player.items():
        ends = [math.isfinite(result["unbeatable to the end from, s"]) for result in of_player]
        share = {"unbeatable at the end": f"{harness.cell(ends)}, {proportion(sum(ends), len(ends)).text(2)}"}
        searched = {"proved trials": proofs.get(player, "not searched")}
        results[player] = [share | result for result in of_player]
        results[player].append(searched)
    return table(results, histories)


def write(docs: Path, lines: Sequence[Evaluation]) -> None:
    """Write all evaluations and their plot."""
    write_csv(docs / "peers.csv", [Evaluation._fields, *in_order(lines)])
    (docs / "peers.png").write_bytes(png(plot(lines)))


@styled()
def plot(lines: Sequence[Evaluation]) -> Figure:
    """Plot a strip per run over training seconds, a cell of it per evaluation, in full colour where unbeatable."""
    histories = runs(lines)
    players, previous = [*dict.fromkeys(player for player, _ in histories)], ""
    figure = Figure(figsize=(9, 1.4 + 0.24 * len(histories)), layout="constrained")
    axes = figure.subplots()
    names: dict[float, str] = {}
    for number, ((player, seed), history) in enumerate(histories.items()):
        place = number + 0.6 * players.index(player)
        names[place] = f"{seed}" if player == previous else f"{player}, seed {seed}"
        previous = player
        seconds = [line.seconds for line in history]
        edges = [seconds[0], *np.sqrt(np.multiply(seconds[1:], seconds[:-1])), seconds[-1]]
        shades = [[*SHADES.values()][bisect(LIMITS, line.bad_games)] for line in history]
        axes.barh(place, np.diff(edges), left=edges[:-1], height=0.84, color=shades)
    axes.set_yticks([*names], names.values())
    axes.invert_yaxis()
    axes.tick_params(left=False)
    axes.margins(y=0.01)
    axes.set_xscale("log")
    axes.set_xlim(0.99 * lines[0].seconds, 1.01 * lines[-1].seconds)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("seconds of training on one core")
    axes.spines[:].set_visible(False)
    patches = [Patch(facecolor=shade, edgecolor=BOTH) for shade in SHADES.values()]
    figure.legend(patches, SHADES, title="ways to beat it", loc="outside upper center", ncols=4)
    return figure
