"""What the comparison shows: a table of the runs' ends and bests, and the curves of all evaluations."""

from collections.abc import Iterator, Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from benchmarks.peers.judging import Judged

HEADER = (
    "player",
    "seed",
    "updates",
    "lost, X + O",
    "illegal, X + O",
    "optimal states",
    "fewest of both",
    "unbeatable",
    "first after, s",
)
COLOURS: Mapping[str, str] = {
    "ours": "#0072b2",
    "stable-baselines3": "#e69f00",
    "cleanrl-style": "#009e73",
    "open-spiel": "#cc79a7",
    "tianshou": "#000000",
}
"""Of Okabe and Ito's palette, which people with any colour vision can tell apart."""
STYLES = ("solid", "dashed", "dotted", "dashdot")
"""By seed."""


def runs(lines: Sequence[Judged]) -> list[list[Judged]]:
    """Return the evaluations of each run, players and seeds in their order."""
    names = list(COLOURS)
    keys = sorted({(names.index(line.player), line.seed) for line in lines})
    return [
        sorted((line for line in lines if (names.index(line.player), line.seed) == key), key=lambda line: line.seconds)
        for key in keys
    ]


def table_rows(lines: Sequence[Judged]) -> Iterator[list[str]]:
    """Return a row per run; the player's name stands in its first."""
    named: set[str] = set()
    for history in runs(lines):
        last = history[-1]
        proved = [line.seconds for line in history if line.unbeatable]
        yield [
            "" if last.player in named else last.player,
            str(last.seed),
            f"{last.updates:,}",
            f"{last.first_losses} + {last.second_losses}",
            f"{last.first_illegal} + {last.second_illegal}",
            f"{last.optimal_states:,}",
            str(min(line.bad_lines for line in history)),
            f"{len(proved)} of {len(history)}",
            f"{proved[0]:.1f}" if proved else "never",
        ]
        named.add(last.player)


def figure(lines: Sequence[Judged]) -> Figure:
    """Draw the lost and illegal lines over training seconds: a colour per player, a line per seed."""
    drawn = Figure(figsize=(9, 5.4), layout="constrained")
    axes = drawn.subplots()
    seeds = sorted({line.seed for line in lines})
    labelled: set[str] = set()
    for history in runs(lines):
        name, seed = history[0].player, history[0].seed
        axes.plot(
            [line.seconds for line in history],
            [line.bad_lines for line in history],
            color=COLOURS[name],
            linestyle=STYLES[seeds.index(seed) % len(STYLES)],
            linewidth=2.2 if name == "ours" else 1.5,
            marker="o",
            markersize=3,
            label=None if name in labelled else name,
            clip_on=False,
            zorder=3 if name == "ours" else 2,
        )
        labelled.add(name)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yscale("symlog", linthresh=1)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_ylim(bottom=0)
    styles = ", ".join(f"seed {seed} {STYLES[number % len(STYLES)]}" for number, seed in enumerate(seeds))
    axes.set_title(f"How much beats each player, by exact evaluation while it trains ({styles})")
    axes.set_xlabel("seconds of training on one core")
    axes.set_ylabel("lost and illegal game lines, both seats (0: unbeatable)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    drawn.legend(loc="outside lower center", ncols=len(labelled), frameon=False)
    return drawn
