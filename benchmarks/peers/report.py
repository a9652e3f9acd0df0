"""What the comparison shows: a table of the runs' ends and bests, and the curves of all evaluations."""

from collections.abc import Iterator, Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter
from rich.console import Console

from benchmarks.measuring import machine, tables
from benchmarks.peers.judging import SEARCHED, Judged
from selfplay.errors import UserError

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
MARKERS = {False: "o", True: "s"}
"""A square where the settings were searched for."""
STYLES: Mapping[str, str | tuple[int, tuple[int, ...]]] = {
    **{name: name for name in ("solid", "dashed", "dotted", "dashdot")},
    "dash-dot-dot": (0, (6, 2, 1, 2, 1, 2)),
}
"""By seed."""
README_HEADER = ("DQN", "lost at the end", "illegal at the end", "fewest of both, ever", "unbeatable")
NOTE = (
    "at the end of the training; fewest lost and illegal lines of both seats at any evaluation; evaluations that prove "
    "the player unbeatable, and the first of them"
)


def runs(lines: Sequence[Judged]) -> list[list[Judged]]:
    """Return the evaluations of each run, players and seeds in their order."""
    names = [name + searched for name in COLOURS for searched in ("", SEARCHED)]
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


def readme_rows(lines: Sequence[Judged]) -> Iterator[list[str]]:
    """Return a row per player as the README has it: what its seeds have come to, with a semicolon between them."""
    histories = runs(lines)
    for name in dict.fromkeys(history[0].player for history in histories):
        of_player = [history for history in histories if history[0].player == name]
        ends = [history[-1] for history in of_player]
        proofs = [_proofs(history) for history in of_player]
        yield [
            name,
            "; ".join(f"{end.first_losses} + {end.second_losses}" for end in ends),
            "; ".join(f"{end.first_illegal} + {end.second_illegal}" for end in ends),
            "; ".join(str(min(line.bad_lines for line in history)) for history in of_player),
            "never" if set(proofs) == {"never"} else "; ".join(proofs),
        ]


def _proofs(history: Sequence[Judged]) -> str:
    proved = [line.seconds for line in history if line.unbeatable]
    return f"first after {proved[0]:.1f} s, at {len(proved)} of {len(history)}" if proved else "never"


def show(console: Console, lines: Sequence[Judged]) -> None:
    """Print the table of all runs, and the README's rows of them.

    Raises:
        UserError: there are none.
    """
    if not lines:
        raise UserError("there is nothing to show: no run was made, and none is in the folder")
    console.print(tables.terminal(HEADER, table_rows(lines)))
    console.print(f"{NOTE}; load {machine.load()} at the end", soft_wrap=True)
    console.print(tables.markdown(README_HEADER, readme_rows(lines)), soft_wrap=True)


def figure(lines: Sequence[Judged]) -> Figure:
    """Draw the lost and illegal lines over training seconds: a colour per library, a line per seed."""
    drawn = Figure(figsize=(9, 5.4), layout="constrained")
    axes = drawn.subplots()
    seeds = sorted({line.seed for line in lines})
    styles = [list(STYLES)[number % len(STYLES)] for number in range(len(seeds))]
    labelled: set[str] = set()
    for history in runs(lines):
        name, seed = history[0].player, history[0].seed
        library = name.removesuffix(SEARCHED)
        axes.plot(
            [line.seconds for line in history],
            [line.bad_lines for line in history],
            color=COLOURS[library],
            linestyle=STYLES[styles[seeds.index(seed)]],
            linewidth=2.2 if library == "ours" else 1.5,
            marker=MARKERS[name != library],
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
    named = ", ".join(f"seed {seed} {style}" for seed, style in zip(seeds, styles, strict=True))
    axes.set_title(f"How much beats each player, by exact evaluation while it trains\n({named})")
    axes.set_xlabel("seconds of training on one core")
    axes.set_ylabel("lost and illegal game lines, both seats (0: unbeatable)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    drawn.legend(loc="outside lower center", ncols=3, frameon=False)
    return drawn
