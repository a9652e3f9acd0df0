"""Measure plies per second of every face of the environment beside its peers.

The README's figures:

    python -m benchmarks.environment.faces

Every row plays random legal games on one thread, and each ply delivers observation, mask, reward and end to the
caller. What is timed is that loop (`face_loops.py`), resets included; making environments, drawing the
games, compiling and a first warm-up are not. The cells to play come from random orders drawn before the clock starts,
alike for all. Rows "from the mask" draw among the cells of the delivered masks instead, each library in
its natural way: NumPy tables here (`random_play.py`), `jax.random.categorical` for pgx.

All rows run in this process, pinned to one core so that JAX starts no second thread; `--no-one-core` lets it. The rows
of a group take turns, and one turn of all of them is a round: a ratio is one of the same round. "plies per game"
tells whether two rows played the same: 7.6 on 3,3,3 under random play. CartPole knows no mask, and its games are
its episodes. A peer that is not installed is skipped.
"""

import math
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.environment import face_rows
from benchmarks.environment.face_loops import Chunk, Played
from benchmarks.environment.face_rows import DISTRIBUTIONS, PEERS, Goal, Group, Row, Subject
from benchmarks.environment.import_time import import_milliseconds
from benchmarks.measuring import machine
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import INSTALL, installed, round_by_round
from selfplay.command_line import run_command

PROG = "python -m benchmarks.environment.faces"


@dataclass(frozen=True)
class Flags:
    """Measure plies per second of every face of the environment beside its peers."""

    subjects: tuple[Subject, ...] = get_args(Subject)
    """What to measure; `device` is skipped without a GPU."""
    rounds: int = 5
    """Turns of each row."""
    seconds: float = 0.5
    """Time of a turn, or one chunk of plies if that takes longer."""
    seed: int = 0
    """Seed of the games, which are the same for all rows of a kind."""
    one_core: bool = True
    """Pin the process to one core."""


@dataclass
class Measured:
    """Hold what a row did in each round."""

    rates: list[float]
    """Plies per second by round."""
    plies: int = 0
    games: int = 0


def turn(chunk: Chunk, seconds: float) -> tuple[float, Played]:
    """Play chunks for so long, and return plies per second and what was played."""
    plies = games = 0
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < seconds or not plies:
        played = chunk()
        plies += played.plies
        games += played.games
    return plies / elapsed, Played(plies, games)


def measure(rows: Iterable[Row], rounds: int, seconds: float, seed: int = 0) -> dict[str, Measured]:
    """Measure rows in turns; those whose peer is not installed are left out."""
    chunks = {row.name: row.make(np.random.default_rng(seed)) for row in rows if installed(row.needs)}
    for chunk in chunks.values():
        chunk()
    measured = {name: Measured([]) for name in chunks}
    for _ in range(rounds):
        for name, chunk in chunks.items():
            rate, played = turn(chunk, seconds)
            measured[name].rates.append(rate)
            measured[name].plies += played.plies
            measured[name].games += played.games
    return measured


def speeds(group: Group, measured: dict[str, Measured]) -> Table:
    """Return the plies per second of each row."""
    table = Table(group.title, "plies per second", "plies per game")
    for row in group.rows:
        if row.name in measured:
            of_row = measured[row.name]
            per_game = of_row.plies / of_row.games if of_row.games else math.inf
            table.add_row(row.name, spread(of_row.rates).text(), f"{per_game:.2f}")
        else:
            table.add_row(row.name, "not installed", "")
    return table


def ratio(goal: Goal, measured: dict[str, Measured]) -> tuple[str, str, str]:
    """Return a ratio as text, what it must be at least, and whether its median is."""
    asked = "" if goal.at_least is None else f"{goal.at_least:.2f}"
    if goal.ours not in measured or goal.peer not in measured:
        return "not installed", asked, ""
    ratios = spread(round_by_round(measured[goal.ours].rates, measured[goal.peer].rates))
    reached = "" if goal.at_least is None else "yes" if ratios.median >= goal.at_least else "NO"
    return ratios.text(2), asked, reached


def ratios(group: Group, measured: dict[str, Measured]) -> Table:
    """Return the ratios between rows of a group."""
    table = Table("ours", "over", "ratio", "at least", "reached")
    for goal in group.goals:
        table.add_row(goal.ours, goal.peer, *ratio(goal, measured))
    return table


def pin(console: Console) -> None:
    """Keep the process, and the threads that JAX will start, on one core where the system can."""
    if hasattr(os, "sched_setaffinity"):
        core = max(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {core})
        console.print(f"pinned to core {core}")
    else:
        console.print("this system pins no process to a core: pgx may use several")


def main(args: Sequence[str]) -> None:
    """Measure group after group, and print the tables of each as it ends."""
    flags = read_flags(Flags, args, PROG)
    console = machine.start("Speed of the faces", PEERS, [flags.seed])
    if flags.one_core:
        pin(console)
    for module, distribution in DISTRIBUTIONS.items():
        if not installed(module):
            console.print(f"{distribution} is not installed: {INSTALL} for its rows")
    for subject in flags.subjects:
        groups = face_rows.groups(subject)
        if not groups:
            console.print(f"{subject}: torch sees no GPU, so it is skipped")
        for group in groups:
            measured = measure(group.rows, flags.rounds, flags.seconds, flags.seed)
            console.print(speeds(group, measured))
            if group.goals:
                console.print(ratios(group, measured))
    console.print(f"median (least to most) over {flags.rounds} rounds of {flags.seconds} s a row")
    console.print(f"import tictactoe after numpy and gymnasium: {import_milliseconds().text(1)} ms")


if __name__ == "__main__":
    run_command(main, PROG)
