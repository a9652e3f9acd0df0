"""What the comparison shows: a table of the runs' ends and bests, and the curves of all evaluations."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter
from rich.console import Console

from benchmarks import harness
from benchmarks.peers.evaluations import SEARCHED, Evaluation
from selfplay.errors import UserError
from selfplay.files import write_csv, write_whole
from selfplay.training.plots import png

COLOURS: Mapping[str, str] = {
    "ours": "#0072b2",
    "stable-baselines3": "#e69f00",
    "cleanrl-style": "#009e73",
    "maskable-ppo": "#d55e00",
    "open-spiel": "#cc79a7",
    "tianshou": "#000000",
}
"""Colours of Okabe and Ito's palette, which people with any colour vision can tell apart."""
STYLES: Mapping[str, str | tuple[int, tuple[int, ...]]] = {
    **{name: name for name in ("solid", "dashed", "dotted", "dashdot")},
    "dash-dot-dot": (0, (6, 2, 1, 2, 1, 2)),
}
"""Line styles of the seeds."""
NOTE = (
    "at the end of the training, as X + as O; fewest lost and illegal games of both seats at any evaluation; "
    "evaluations that prove the player unbeatable, and the first of them"
)


def in_order(lines: Sequence[Evaluation]) -> list[Evaluation]:
    """Return the evaluations by player, seed and time."""
    names = [name + searched for name in COLOURS for searched in ("", SEARCHED)]
    return sorted(lines, key=lambda line: (names.index(line.player), line.seed, line.seconds))


def runs(lines: Sequence[Evaluation]) -> dict[tuple[str, int], list[Evaluation]]:
    """Return the evaluations of each run, by player and seed."""
    histories: dict[tuple[str, int], list[Evaluation]] = {}
    for line in in_order(lines):
        histories.setdefault((line.player, line.seed), []).append(line)
    return histories


def table(lines: Sequence[Evaluation]) -> list[list[str]]:
    """Return a line per player, with the results of its seeds, separated by semicolons."""
    cells: dict[str, list[tuple[str, str, str, str]]] = {}
    for (name, _), history in runs(lines).items():
        end, proofs = history[-1], [line.seconds for line in history if line.unbeatable]
        lost, illegal = end.first_losses, end.first_illegal
        cells.setdefault(name, []).append(
            (
                f"{lost} + {end.second_losses}",
                f"{illegal} + {end.second_illegal}",
                str(min(line.bad_games for line in history)),
                f"first after {proofs[0]:.1f} s, at {len(proofs)} of {len(history)}" if proofs else "never",
            )
        )
    header = ["DQN", "lost at the end", "illegal at the end", "fewest of both, ever", "unbeatable"]
    return [header, *([name, *map("; ".join, zip(*of_name, strict=True))] for name, of_name in cells.items())]


def show(console: Console, lines: Sequence[Evaluation]) -> None:
    """Print the table as Markdown, as the README has it.

    Raises:
        UserError: There are no runs.
    """
    if not lines:
        raise UserError("there is nothing to show: no run was made, and none is in the folder")
    console.print(harness.markdown(table(lines)), soft_wrap=True)
    console.print(f"{NOTE}; load {harness.load()} at the end", soft_wrap=True)


def write(docs: Path, lines: Sequence[Evaluation]) -> None:
    """Write all evaluations and their plot."""
    write_csv(docs / "peers.csv", [Evaluation._fields, *in_order(lines)])
    write_whole(docs / "peers.png", png(plot(lines)))


def plot(lines: Sequence[Evaluation]) -> Figure:
    """Plot the lost and illegal games over training seconds: a colour per library, a line style per seed."""
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    axes = figure.subplots()
    seeds = sorted({line.seed for line in lines})
    styles = dict(zip(seeds, list(STYLES) * len(seeds), strict=False))
    labelled: set[str] = set()
    for (name, seed), history in runs(lines).items():
        library = name.removesuffix(SEARCHED)
        axes.plot(
            [line.seconds for line in history],
            [line.bad_games for line in history],
            color=COLOURS[library],
            linestyle=STYLES[styles[seed]],
            linewidth=2.2 if library == "ours" else 1.5,
            marker="o" if name == library else "s",
            markersize=3,
            label=None if name in labelled else name,
            clip_on=False,
            zorder=3 if library == "ours" else 2,
        )
        labelled.add(name)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yscale("symlog", linthresh=1)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_ylim(bottom=0)
    named = ", ".join(f"seed {seed} {style}" for seed, style in styles.items())
    axes.set_title(f"How much beats each player, by exact evaluation while it trains\n({named})")
    axes.set_xlabel("seconds of training on one core")
    axes.set_ylabel("lost and illegal games, both seats (0: unbeatable)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure
