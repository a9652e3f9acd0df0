"""Draw the pictures of docs/results.md from the data files.

python -m benchmarks.pictures --docs docs               # all
python -m benchmarks.pictures lapses peers --docs docs  # some
"""

import csv
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import tyro
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from benchmarks import data
from benchmarks.learning import lapses
from benchmarks.peers import peer_runs
from benchmarks.peers.compared_learners import TOLD
from benchmarks.peers.evaluations import ONLINE, NetworkResult
from selfplay.files import write_whole
from selfplay.plot_style import BOTH, CURVES, FIRST, png, styled
from selfplay.sweep import report_plots
from selfplay.sweep.sweep_results import SweepResult

EARLIEST = 0.3
"""Where the strips begin, s."""
MARKERS = "osD^vP*"
"""One for each player."""


def sweep(docs: Path, name: str, picture: str) -> Figure:
    """Return a picture of a sweep's report, over plies."""
    found: dict[str, list[SweepResult]] = {}
    with (docs / "evidence" / f"{name}.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            steps, updates, seconds = int(line["steps"]), int(line["updates"]), float(line["seconds"])
            result = SweepResult("", line["setting"], int(line["seed"]), line["end"], "", steps, updates, seconds)
            found.setdefault(result.setting, []).append(result)
    return report_plots.figures(found, {"steps": "plies"})[picture]


def beaten_again(docs: Path) -> Figure:
    """Plot the share of runs that will be beaten again, over the plies so far, with a curve for each row."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    for row, results in data.saved_results(docs, lapses.TITLE).items():
        lasts = sorted(result["last lapse, plies"] for result in results if result["lapses"])
        shares = [100 * left / len(results) for left in range(len(lasts), -1, -1)]
        label = f"{lapses.FLAGS[row]}: {len(results)} runs"
        axes.step([1e4, *lasts, lapses.ROWS[row].plies], [*shares, 0], where="post", label=label)
    axes.set(xscale="log", xlabel="plies of training so far", ylabel="% of its runs", ylim=(-2, 102))
    axes.set_title("Runs that will be beaten after a proof: a line falls at a run's last lapse")
    axes.legend()
    return figure


def proved(docs: Path) -> dict[str, list[NetworkResult]]:
    """Return the runs of the comparison by player, without players of which no run was proved."""
    found: dict[str, list[NetworkResult]] = {}
    for run in peer_runs.read(docs):
        found.setdefault(run.player, []).append(run)
    return {player: runs for player, runs in found.items() if any(math.isfinite(run.first_s) for run in runs)}


def strips(docs: Path) -> Figure:
    """Plot a strip per run and network over training seconds: pale from the first proof, full from the last lapse."""
    runs = [run for of_player in proved(docs).values() for run in of_player]
    figure = Figure(figsize=(9, 1.6 + 0.1 * len(runs)), layout="constrained")
    axes = figure.subplots()
    end = max(run.seconds for run in runs)
    shades = {
        f"{FIRST}10": "not proved yet",
        f"{FIRST}60": "proved, but beaten again later",
        FIRST: "not beaten again",
    }
    names: dict[float, str] = {}
    place, previous = 0.0, ""
    for run in runs:
        row = peer_runs.name(run)
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
    figure.suptitle("A strip for each run of a player: what the exact evaluations found")
    patches = [Patch(facecolor=shade) for shade in shades]
    figure.legend(patches, shades.values(), loc="outside lower center", ncols=3)
    return figure


def first_proofs(docs: Path) -> Figure:
    """Plot the seconds to the first proof over its updates, of the online network, coloured by what is told."""
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.subplots()
    colours = dict(zip(dict.fromkeys(TOLD.values()), CURVES.by_key()["color"], strict=False))
    for marker, (player, runs) in zip(MARKERS, proved(docs).items(), strict=False):
        online = [run for run in runs if run.network == ONLINE and math.isfinite(run.first_s)]
        updates, seconds = [run.first_updates for run in online], [run.first_s for run in online]
        told = TOLD[player]
        axes.scatter(updates, seconds, marker=marker, color=colours[told], label=f"{player} ({told})", alpha=0.8)
    for rate, updates_of_text in ((100, 700), (1_000, 2_600)):
        axes.axline((1_000, 1_000 / rate), (10_000, 10_000 / rate), color=BOTH, linewidth=0.8, linestyle=":")
        axes.text(updates_of_text, 0.6 * updates_of_text / rate, f"{rate:,} updates a second", fontsize="small")
    axes.set(xscale="log", yscale="log", xlabel="updates to the first proof", ylabel="seconds of training to it")
    axes.set_title("A mark for each run that was proved: the first proof of its online network")
    axes.legend(fontsize="small")
    return figure


PICTURES: Mapping[str, Callable[[Path], Figure]] = {
    "evidence/proof": lambda docs: sweep(docs, "proof", "proved-steps.png"),
    "evidence/defaults": lambda docs: sweep(docs, "defaults", "settings-steps.png"),
    "lapses": beaten_again,
    "first-proofs": first_proofs,
    "peers": strips,
}
"""The function that plots each picture, by its path in the folder of the pages."""


def main(names: tyro.conf.Positional[tuple[str, ...]] = tuple(PICTURES), docs: Path = Path("docs")) -> None:
    """Draw pictures.

    Args:
        names: Which; all if none is named.
        docs: Folder of the pages, with the data files.
    """
    for name in names or PICTURES:
        with styled():
            figure = PICTURES[name](docs)
        write_whole(docs / f"{name}.png", png(figure))


if __name__ == "__main__":
    tyro.cli(main)
