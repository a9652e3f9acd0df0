"""Train DQNs of other libraries and ours for the same time, and judge all by the same exact evaluation.

The README's figures:

    python -m benchmarks.peers --docs docs

Each learner has its own library's settings; where they come from stands in the docstring of its file here. All run on
one torch thread for the same seconds of training; the clock stands still during evaluations, and what is done once
before (imports, environments, networks, the trial runs that tell how long exploration is to fall) is not counted.
Stable-Baselines3's, Tianshou's and the DQN in CleanRL's manner learn against a random opponent; OpenSpiel's and ours
learn by self-play. A player that learns with a mask is judged with it.

With `--docs` runs are added to those in the folder's peers.csv, in the place of any of the same player and seed, so
that a measurement can be made in pieces; the table and the picture show all of them. `--players` with no name
trains nothing and shows what is there.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.turns import INSTALL, installed
from benchmarks.peers import judging, report
from benchmarks.peers.judging import Make, Run
from selfplay.commands.command_line import run_command
from selfplay.errors import UserError
from selfplay.files import write_whole
from selfplay.runs.pictures import png

PROG = "python -m benchmarks.peers"
DISTRIBUTIONS = ("stable-baselines3", "open-spiel", "tianshou")

Name = Literal["ours", "stable-baselines3", "cleanrl-style", "open-spiel", "tianshou"]


class Learner(NamedTuple):
    """Say where a learner is, and what it needs."""

    module: str
    """Its file in this folder."""
    imports: tuple[str, ...] = ()


LEARNERS: Mapping[Name, Learner] = {
    "ours": Learner("ours"),
    "stable-baselines3": Learner("stable_baselines3_dqn", ("stable_baselines3",)),
    "cleanrl-style": Learner("cleanrl_dqn", ("stable_baselines3",)),
    "open-spiel": Learner("open_spiel_dqn", ("open_spiel", "tree")),
    "tianshou": Learner("tianshou_dqn", ("tianshou",)),
}


@dataclass(frozen=True)
class Flags:
    """Train DQNs of other libraries and ours for the same time, and judge all by the same exact evaluation."""

    players: tuple[Name, ...] = get_args(Name)
    """Whom to train; none to show what earlier runs have left."""
    seeds: tuple[int, ...] = (0, 1)
    """Seeds of every player."""
    seconds: float = 300.0
    """Training of each run, s."""
    evaluations: int = 40
    """Evaluations of each run: the first after 1/300 of its time, the last at its end, each interval longer."""
    docs: Path | None = None
    """Folder to write peers.png and peers.csv into."""


def missing(learner: Learner) -> list[str]:
    """Return what it imports and is not installed."""
    return [name for name in learner.imports if not installed(name)]


def text(run: Run) -> str:
    """Return a run as a line."""
    last = run.history[-1]
    return (
        f"{last.player}, seed {last.seed}: after {last.seconds:.1f} s and {last.updates:,} updates {last.losses} lost "
        f"and {last.illegal} illegal lines, {last.optimal_states:,} optimal states; worked {run.busy:.0%} of the time"
    )


def main(args: Sequence[str]) -> None:
    """Train all, print each run as it ends and the table at the end, and write the figure and the CSV."""
    flags = read_flags(Flags, args, PROG, may_be_empty=["players"])
    if not flags.players and flags.docs is None:
        raise UserError("--players with no name shows what is in a folder: name it by --docs")
    path = None if flags.docs is None else flags.docs / "peers.csv"
    lines = [] if path is None else judging.read(path)
    console = machine.start("Learning quality beside other libraries", DISTRIBUTIONS, flags.seeds)
    there = []
    for name in flags.players:
        lacking = missing(LEARNERS[name])
        if lacking:
            console.print(f"{name} is left out: no {' and no '.join(lacking)} here; {INSTALL}")
        else:
            there.append(name)
    for seed in flags.seeds:  # the players take turns, so that what slows the machine slows all of them
        for name in there:
            make: Make = importlib.import_module(f"benchmarks.peers.{LEARNERS[name].module}").make
            run = judging.measure(name, make, seed, flags.seconds, flags.evaluations)
            console.print(text(run), soft_wrap=True)
            lines = [line for line in lines if (line.player, line.seed) != (name, seed)] + run.history
            lines = [line for history in report.runs(lines) for line in history]
            if path is not None:
                judging.write(path, lines)
    if not lines:
        raise UserError("there is nothing to show: no run was made, and none is in the folder")
    console.print(tables.terminal(report.HEADER, report.table_rows(lines)))
    console.print(
        "at the end of the training; fewest lost and illegal lines of both seats at any evaluation; evaluations that "
        f"prove the player unbeatable, and the first of them; load {machine.load()} at the end",
        soft_wrap=True,
    )
    if flags.docs is not None:
        write_whole(flags.docs / "peers.png", png(report.figure(lines)))


if __name__ == "__main__":
    run_command(main, PROG)
