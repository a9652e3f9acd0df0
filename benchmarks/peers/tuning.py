"""Search for settings of Stable-Baselines3's DQN, of a CleanRL-style one and of ours, all alike; then train longer.

The README's figures (an hour and three quarters with two processes):

    python -m benchmarks.peers.tuning --processes 2 --docs docs

Each contestant has the same number of trials of the same seconds, with settings that Optuna samples from `RANGES`, and
is evaluated exactly at equal moments; `score` says what a trial is worth. Those that learn alone may play against
random moves, the heuristic, or frozen copies of themselves. Their first trial has the settings of their examples. Ours
begins with what is sampled, and what it alone has keeps its default (canonical boards, counterexamples); `ours-plain`
has neither. Trials have the seeds from 1000 up. Seconds are those that a run's process spent on the processor, so that
other programs on the same cores change little. Then the settings of each one's best trial are trained for longer, with
the seeds that are reported, and evaluated at moments as `python -m benchmarks.peers` does.

Each run is written to `--dir` when it ends. The same command goes on where a search was stopped or killed, and loses
what was running. A run that fails counts as the worst, and is shown. With `--docs` the trials are written to
peers-tuning.csv, and the final runs to peers.csv and peers.png, in the place of earlier ones of the same players.
"""

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import torch
from rich.console import Console

from benchmarks import data, harness
from benchmarks.peers import evaluations, report
from benchmarks.peers.evaluations import SEARCHED, Evaluation
from selfplay.cli.flags import run_command
from selfplay.files import locked, write_csv, write_whole
from selfplay.settings import require
from selfplay.sweep import search_space
from selfplay.sweep.search_space import Range

PROG = "python -m benchmarks.peers.tuning"
LIBRARIES = ("stable-baselines3", "optuna")
SEARCH_SEED = 1_000
"""Seed of the first trial; each further one has the next."""
Contestant = Literal["ours", "ours-plain", "stable-baselines3", "cleanrl-style"]
Ranges: TypeAlias = Mapping[str, Range | tuple[str, ...]]

ALL: Ranges = {
    "learning_rate": Range(1e-4, 2e-2),
    "batch_size": Range(32, 512),
    "hidden": ("64x64", "120x84", "128x128", "256", "256x256", "512"),
    "updates_per_step": Range(1 / 256, 1.0),  # of a step of one board, so at least one each time that it learns
    "target": ("copied", "moved"),  # once in some steps, or a part of the way at each
    "target_every": Range(10, 5_000),
    "soft_update": Range(1e-3, 0.1),
    "epsilon_end": Range(0.0, 0.9),
    "gamma": Range(0.9, 1.0),
    "memory_size": Range(10_000, 200_000),
    "learning_starts": Range(100, 10_000),
    "rewards": ("shaped", "sparse"),
}
"""The same for every contestant; the settings of all libraries' examples are in them."""
ALONE: Ranges = {
    "learning_rate_hold": Range(1_000, 1_000_000),  # steps; at its end, more than most runs have
    "epsilon_steps": Range(1_000, 300_000),
    "opponent": ("random", "heuristic", "self"),
    "copy_every": Range(500, 50_000),
    "opponent_random": Range(0.0, 0.5),
}
"""Of those that learn alone."""
BOARDS = Range(1, 256)
OURS: Ranges = {
    **ALL,
    "learning_rate_hold": Range(300, 100_000),  # updates
    "epsilon_steps": Range(10_000, 3_000_000),
    "boards": BOARDS,
}
RANGES: Mapping[str, Ranges] = {
    "ours": OURS,
    "ours-plain": OURS,
    "stable-baselines3": {**ALL, **ALONE, "boards": BOARDS, "train_every": Range(1, 256)},
    "cleanrl-style": {**ALL, **ALONE},
}
"""CleanRL's loop has one board by its own limit. Where a contestant counts in units of its own, its file says so."""
WITH_EXAMPLE = ("stable-baselines3", "cleanrl-style")
"""Contestants whose first trial has their examples' settings; our defaults come from a longer search."""


@dataclass(frozen=True)
class Flags:
    """Search for settings of peers' DQNs and of ours, all alike, and train the best for longer."""

    players: tuple[Contestant, ...] = get_args(Contestant)
    """Whose settings to search for."""
    trials: int = 20
    """Trials of each; with more than before a search goes on."""
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
    """Folder for every run as it ends; an existing search is continued."""
    docs: Path | None = None
    """Folder to write peers-tuning.csv, peers.csv and peers.png into."""


def score(history: Sequence[Evaluation]) -> float:
    """Return what the evaluations of a trial at equal moments are worth; less is better.

    A proof that holds to the end comes first: the number of the moment from which it holds over the number of all, less
    1, which is 0 or below. Without one it is the mean of the lost and illegal games of both seats over the last quarter
    of the moments, because they swing by dozens from one to the next, and the fewest ever would reward luck. A trial
    that failed, and has none, comes last.
    """
    if not history:
        return math.inf
    first = harness.held_from([line.unbeatable for line in history])
    if first is not None:
        return (first + 1) / len(history) - 1
    return statistics.mean(line.bad_games for line in history[-math.ceil(len(history) / 4) :])


def words(sampled: Mapping[str, Any]) -> str:
    """Return settings as words."""
    return " ".join(f"{name}={value}" for name, value in sampled.items()) or "its example's settings"


def train(name: str, player: str, sampled: Mapping[str, Any], seed: int, due: Sequence[float]) -> list[Evaluation]:
    """Train with settings, or without any with those of the example; the seconds are those on the processor."""
    torch.set_num_threads(1)
    module = evaluations.load(player)
    make = partial(module.make, settings=module.sampled_settings(sampled)) if sampled else module.make
    return evaluations.measure(name, make(seed), seed, due)


def train_fresh(*args: object) -> tuple[list[Evaluation], str]:
    """Train in a fresh process, or return no evaluations and why it failed."""
    call = f"tuning.train(*json.loads({json.dumps(args)!r}))"
    try:
        lines = harness.run_fresh(f"import json\nfrom benchmarks.peers import tuning\nprint(json.dumps({call}))")
    except RuntimeError as error:
        return [], str(error).splitlines()[-1]
    return [Evaluation(*line) for line in json.loads(lines)], ""


class Run(NamedTuple):
    """Hold a trial or a final run that has ended; one that failed has no evaluations."""

    number: int
    """Number of the trial, or seed of the final run."""
    sampled: Mapping[str, Any]
    """Settings; none for those of the example."""
    history: list[Evaluation]
    failure: str

    def text(self) -> str:
        """Return its score, which is 0 or less for a proof, and its settings."""
        return f"{self.number}: {self.failure or f'score {score(self.history):.2f}'}; {words(self.sampled)}"


class Search(NamedTuple):
    """Search for the settings of one player; every run that has ended is in a file of its own in `--dir`."""

    player: str
    flags: Flags
    console: Console

    def due(self, stage: str) -> list[float]:
        """Return the moments at which a run is evaluated."""
        flags = self.flags
        if stage == "final":
            return evaluations.growing_times(flags.final_seconds, flags.final_evaluations)
        return [flags.seconds * part / flags.evaluations for part in range(1, flags.evaluations + 1)]

    def path(self, stage: str, number: int) -> Path:
        """Return the file of a run; those that were evaluated at other moments are in other files."""
        due = self.due(stage)
        return self.flags.dir / f"{self.player}-{stage}-{number}-{due[-1]:g}s-{len(due)}.json"

    def runs(self, stage: str, numbers: Iterable[int]) -> list[Run]:
        """Return those of the runs that have ended."""
        paths = (self.path(stage, number) for number in numbers)
        ended = (json.loads(path.read_bytes()) for path in paths if path.exists())
        return [
            Run(number, sampled, [Evaluation(*line) for line in lines], why) for number, sampled, lines, why in ended
        ]

    def trials(self) -> list[Run]:
        """Return the trials that have ended."""
        return self.runs("trial", range(self.flags.trials))

    def best(self) -> Run:
        """Return the best trial, the first of equals."""
        return min(self.trials(), key=lambda run: score(run.history))

    def finals(self) -> list[Run]:
        """Return the final runs that have ended with the settings of the best trial."""
        sampled = self.best().sampled
        return [run for run in self.runs("final", self.flags.seeds) if run.sampled == sampled]

    def do(self, stage: str, number: int) -> None:
        """Do a run unless it has been done; settings of a trial are sampled in view of those that have ended."""
        trials = self.trials()
        if number in (run.number for run in (trials if stage == "trial" else self.finals())):
            return
        name, seed = self.player, SEARCH_SEED + number
        sampled: Mapping[str, Any] = {}
        if stage == "final":
            name, seed, sampled = self.player + SEARCHED, number, self.best().sampled
        elif number or self.player not in WITH_EXAMPLE:
            # The example's settings may lie between what can be sampled.
            tried = [(run.sampled, score(run.history)) for run in trials if run.sampled]
            sampled = next(search_space.sample(RANGES[self.player], tried, seed))
        run = Run(number, sampled, *train_fresh(name, self.player, sampled, seed, self.due(stage)))
        write_whole(self.path(stage, number), json.dumps(run).encode())
        self.console.print(f"{self.player}, {stage} {run.text()}", soft_wrap=True)


def write(docs: Path, searches: Sequence[Search], lines: Sequence[Evaluation]) -> None:
    """Write the trials, and the final runs in the place of earlier ones of the same players; and the machine."""
    rows: list[Sequence[object]] = [("trial", "settings", "failure", *Evaluation._fields)]
    empty = [""] * (len(Evaluation._fields) - 2)
    for search in searches:
        for run in search.trials():
            failed = [[search.player, SEARCH_SEED + run.number, *empty]] if run.failure else []
            rows += [(run.number, words(run.sampled), run.failure, *line) for line in (*run.history, *failed)]
    write_csv(docs / "peers-tuning.csv", rows)
    replaced = {search.player + SEARCHED for search in searches}
    others = [one for one in evaluations.read(docs / "peers.csv") if one.player not in replaced]
    report.write(docs, [*others, *lines])
    data.save(docs, "peers", dict.fromkeys(replaced, ()), harness.machine(LIBRARIES))


def main(args: Sequence[str]) -> None:
    """Do what is missing, print each run as it ends and the table, and write the figure and the CSVs."""
    flags = harness.read_flags(Flags, args, PROG)
    cores = harness.cores()
    require(flags.processes <= cores, "processes", f"at most the cores, {cores}", flags.processes)
    report.earlier(flags.docs, flags.final_seconds)
    flags.dir.mkdir(exist_ok=True)
    with locked(flags.dir):
        console = harness.start("Settings searched for alike", LIBRARIES, flags.seeds)
        searches = [Search(player, flags, console) for player in evaluations.available(flags.players, console)]
        for stage, numbers in (("trial", range(flags.trials)), ("final", flags.seeds)):
            with ThreadPoolExecutor(flags.processes) as pool:  # the players take turns
                list(pool.map(lambda job, stage=stage: job[1].do(stage, job[0]), product(numbers, searches)))
        for search in searches:
            console.print(f"best of {search.player}: trial {search.best().text()}", soft_wrap=True)
        lines = [line for search in searches for run in search.finals() for line in run.history]
        console.print(report.table_of_runs(report.runs(lines)), soft_wrap=True)
        if flags.docs is not None:
            write(flags.docs, searches, lines)


if __name__ == "__main__":
    run_command(main, PROG)
