"""Search for settings of Stable-Baselines3's DQN, of one in CleanRL's manner and of ours, all alike; then train longer.

The README's figures (about an hour and a quarter with two processes):

    python -m benchmarks.peers.tuning --processes 2 --docs docs

Each contestant has the same number of trials of the same seconds, with settings that Optuna draws from the ranges in
`ranges.py`, and is judged by the same exact evaluation at equal moments; `score.py` says what a trial comes to. Those
that learn alone may play against random moves, the heuristic, or frozen copies of themselves. Their first trial has the
settings of their examples. Ours begins with what is drawn, and what it alone has keeps its default (canonical boards,
counterexamples). Trials have the seeds from 1000 up. Seconds are those that a run's process spent on the processor, so
that other programs on the same cores change little.

Then the settings of each one's best trial are trained for longer, with the seeds that are reported, and judged at
moments as `python -m benchmarks.peers` does.

Each run is kept in `--dir` when it ends. The same command goes on where a search was stopped or killed, and loses what
was running. A run that fails counts as the worst, and is shown. With `--docs` the trials are written to
peers-tuning.csv, and the final runs to peers.csv and peers.png, in the place of what the examples' settings of
Stable-Baselines3 and CleanRL had come to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from rich.console import Console

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.peers import judging, learners, report
from benchmarks.peers.judging import SEARCHED, Judged
from benchmarks.peers.tuning import workers
from benchmarks.peers.tuning.ranges import WITH_EXAMPLE, draw
from benchmarks.peers.tuning.record import FILE, SEARCH_SEED, Contestant, Ended, Job, Record
from benchmarks.peers.tuning.score import text
from selfplay.checks import require
from selfplay.command_line import run_command
from selfplay.files import locked, write_csv, write_whole
from selfplay.training.plots import png

PROG = "python -m benchmarks.peers.tuning"
DISTRIBUTIONS = ("stable-baselines3", "optuna")
CSV_HEADER = ("trial", "settings", "failure", *Judged._fields)
NOTHING = [""] * (len(Judged._fields) - 2)
"""In place of an evaluation, behind the player and its seed."""
HEADER = ("player", "trial", "came to", "settings")


@dataclass(frozen=True)
class Flags:
    """Search for settings of peers' DQNs and of ours, all alike, and train the best for longer."""

    players: tuple[Contestant, ...] = get_args(Contestant)
    """Whose settings to search for."""
    trials: int = 20
    """Of each; with more than before a search goes on."""
    seconds: float = 60.0
    """Training of each trial, s."""
    evaluations: int = 12
    """Evaluations of each trial, at equal intervals."""
    seeds: tuple[int, ...] = tuple(range(5))
    """Seeds of the final runs."""
    final_seconds: float = 300.0
    """Training of each final run, s."""
    final_evaluations: int = 40
    """Evaluations of each final run: the first after 1/300 of its time, the last at its end, each interval longer."""
    processes: int = 1
    """Runs at once, each in a process of its own with one torch thread; at most as many as there are cores."""
    dir: Path = Path("runs/peers-tuning")
    """Folder for every run as it ends; one that is there is gone on with."""
    docs: Path | None = None
    """Folder to write peers-tuning.csv, peers.csv and peers.png into."""

    @property
    def trial_due(self) -> list[float]:
        """Return the moments at which a trial is judged."""
        return [self.seconds * number / self.evaluations for number in range(1, self.evaluations + 1)]

    @property
    def final_due(self) -> list[float]:
        """Return the moments at which a final run is judged."""
        return judging.times(self.final_seconds, self.final_evaluations)


def trials(flags: Flags, players: Sequence[Contestant], record: Record) -> Iterator[Job]:
    """Yield the trials that are missing, each drawn when it is asked for; the players take turns."""
    for number in range(flags.trials):
        for player in players:
            ended = record.of("trial", player)
            if number not in (one.job.number for one in ended):
                yield Job("trial", player, number, draw(player, number, ended), flags.trial_due)


def finals(flags: Flags, players: Sequence[Contestant], record: Record) -> Iterator[Job]:
    """Yield the final runs that are missing."""
    for seed in flags.seeds:
        for player in players:
            if seed not in (one.job.number for one in record.finals(player, flags.trials, flags.seeds)):
                yield Job("final", player, seed, record.best(player, flags.trials).job.drawn, flags.final_due)


def line(ended: Ended) -> str:
    """Return a run as a line."""
    job, what = ended.job, ended.failure or text(ended.history)
    if job.stage == "trial":
        return f"{job.name}, trial {job.number}: {what}; worked {ended.busy:.0%} of the time; {job.words}"
    lost = "" if ended.failure else f", {ended.history[-1].bad_lines} lost and illegal lines at the end"
    return f"{job.name}, seed {job.seed}: {what}{lost}; worked {ended.busy:.0%} of the time"


def show(flags: Flags, players: Sequence[Contestant], record: Record, console: Console) -> list[Judged]:
    """Print what every trial has come to, the best settings and the table, and return the final runs' evaluations."""
    rows = [
        ("" if one.job.number else player, str(one.job.number), one.failure or text(one.history), one.job.words)
        for player in players
        for one in record.of("trial", player)[: flags.trials]
    ]
    console.print(tables.terminal(HEADER, rows))
    lines: list[Judged] = []
    for player in players:
        best = record.best(player, flags.trials)
        found = f"best of {player}: trial {best.job.number}, {text(best.history)}: {best.job.words}"
        console.print(found, soft_wrap=True)
        of_player = record.finals(player, flags.trials, flags.seeds)
        lines += [judged for one in of_player for judged in one.history]
        for one in of_player:
            if one.failure:
                console.print(line(one), soft_wrap=True)
    report.show(console, lines)
    return lines


def csv_lines(flags: Flags, players: Sequence[Contestant], record: Record) -> Iterator[list[object]]:
    """Return a line for each evaluation of each trial, and one for each that failed."""
    for player in players:
        for one in record.of("trial", player)[: flags.trials]:
            for judged in one.history:
                yield [one.job.number, one.job.words, "", *judged]
            if one.failure:
                yield [one.job.number, one.job.words, one.failure, player, one.job.seed, *NOTHING]


def write(docs: Path, flags: Flags, players: Sequence[Contestant], record: Record, lines: Sequence[Judged]) -> None:
    """Write the trials, and the final runs in the place of what they are better than."""
    write_csv(docs / "peers-tuning.csv", [CSV_HEADER, *csv_lines(flags, players, record)])
    replaced = {player + SEARCHED for player in players} | {player for player in players if player in WITH_EXAMPLE}
    others = [one for one in judging.read(docs / "peers.csv") if one.player not in replaced]
    together = [one for history in report.runs([*others, *lines]) for one in history]
    judging.write(docs / "peers.csv", together)
    write_whole(docs / "peers.png", png(report.figure(together)))


def main(args: Sequence[str]) -> None:
    """Do what is missing, print each run as it ends and what all came to, and write the figure and the CSVs."""
    flags = read_flags(Flags, args, PROG)
    cores = machine.cores()
    require(flags.processes <= cores, "processes", f"at most the cores, {cores}", flags.processes)
    flags.dir.mkdir(exist_ok=True)
    with locked(flags.dir):
        record = Record(flags.dir / FILE)
        record.check("trial", flags.trial_due)
        record.check("final", flags.final_due)
        if flags.docs is not None:
            judging.read(flags.docs / "peers.csv")  # or another file there would be refused after hours of work
        console = machine.start("Settings searched for alike", DISTRIBUTIONS, flags.seeds)
        of_trials = f"trials have the seeds {SEARCH_SEED} to {SEARCH_SEED + flags.trials - 1}"
        console.print(f"{of_trials}; {len(record.ended)} runs are in {flags.dir}")
        players = learners.those_there(flags.players, console)
        for stage in (trials, finals):
            for ended in workers.results(stage(flags, players, record), flags.processes):
                record.add(ended)
                console.print(line(ended), soft_wrap=True)
        lines = show(flags, players, record, console)
        if flags.docs is not None:
            write(flags.docs, flags, players, record, lines)


if __name__ == "__main__":
    run_command(main, PROG)
