"""Search for settings of Stable-Baselines3's DQN, of one in CleanRL's manner and of ours, all alike; then train longer.

The README's figures (about an hour and a quarter with two processes):

    python -m benchmarks.peers.tuning --processes 2 --docs docs

Each contestant has the same number of trials of the same seconds, with settings that Optuna samples from `RANGES`, and
is evaluated exactly at equal moments; `score` says what a trial is worth. Those that learn alone may play against
random moves, the heuristic, or frozen copies of themselves. Their first trial has the settings of their examples. Ours
begins with what is sampled, and what it alone has keeps its default (canonical boards, counterexamples). Trials have
the seeds from 1000 up. Seconds are those that a run's process spent on the processor, so that other programs on the
same cores change little. Then the settings of each one's best trial are trained for longer, with the seeds that are
reported, and evaluated at moments as `python -m benchmarks.peers` does.

Each run is written to `--dir` when it ends. The same command goes on where a search was stopped or killed, and loses
what was running. A run that fails counts as the worst, and is shown. With `--docs` the trials are written to
peers-tuning.csv, and the final runs to peers.csv and peers.png, in the place of what the examples' settings of
Stable-Baselines3 and CleanRL led to.
"""

import json
import math
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import torch

from benchmarks import harness
from benchmarks.peers import evaluations, report
from benchmarks.peers.evaluations import SEARCHED, Evaluation
from selfplay.command_line import run_command
from selfplay.errors import UserError, one_line, what_failed
from selfplay.files import locked, write_csv, write_whole
from selfplay.settings import require
from selfplay.sweep import search_space
from selfplay.sweep.search_space import Range

PROG = "python -m benchmarks.peers.tuning"
SEARCH_SEED = 1_000
"""Seed of the first trial; each further one has the next."""
Contestant = Literal["ours", "stable-baselines3", "cleanrl-style"]
Ranges: TypeAlias = Mapping[str, Range | tuple[str, ...]]

ALL: Ranges = {
    "learning_rate": Range(1e-4, 2e-2),
    "batch_size": Range(32, 512),
    "hidden": ("64x64", "120x84", "128x128", "256", "256x256", "512"),
    "updates_per_step": Range(1 / 256, 1.0),  # of a step of one board, so at least one each time that it learns
    "target": ("copied", "moved"),  # every so many steps, or a part of the way at each
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
RANGES: Mapping[str, Ranges] = {
    "ours": {
        **ALL,
        "learning_rate_hold": Range(300, 100_000),  # updates
        "epsilon_steps": Range(10_000, 3_000_000),
        "boards": BOARDS,
    },
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

    def due(self, stage: str) -> list[float]:
        """Return the moments at which a run is evaluated."""
        if stage == "final":
            return evaluations.growing_times(self.final_seconds, self.final_evaluations)
        return [self.seconds * number / self.evaluations for number in range(1, self.evaluations + 1)]


class Job(NamedTuple):
    """Say what is to be trained; `number` is a trial's, or the seed of a final run."""

    stage: str
    player: str
    number: int
    sampled: dict[str, Any]
    """Settings; none for those of the library's example."""
    due: list[float]
    """Seconds of training after each of which it is evaluated; the last is the end."""

    @property
    def name(self) -> str:
        """Return the name of the run, and of its file."""
        return f"{self.stage}-{self.player}-{self.number}"

    @property
    def seed(self) -> int:
        """Return the seed of its training."""
        return SEARCH_SEED + self.number if self.stage == "trial" else self.number

    @property
    def settings(self) -> str:
        """Return its settings as words."""
        return " ".join(f"{name}={value}" for name, value in self.sampled.items()) or "its example's settings"


class Ended(NamedTuple):
    """Hold a run that has ended; one that failed has no evaluations."""

    job: Job
    history: list[Evaluation]
    failure: str = ""

    def text(self) -> str:
        """Return the run as a line."""
        first = harness.held_from([line.unbeatable for line in self.history])
        worth = (
            f"{score(self.history):.1f} lines" if first is None else f"proved from {self.history[first].seconds:.1f} s"
        )
        return f"{self.job.name}: {self.failure or worth}; {self.job.settings}"


def score(history: Sequence[Evaluation]) -> float:
    """Return what the evaluations of a trial at equal moments are worth; less is better.

    A proof that holds to the end comes first: the number of the moment from which it holds over the number of all, less
    1, which is 0 or below. Without one it is the mean of the lost and illegal lines of both seats over the last quarter
    of the moments, because they swing by dozens from one to the next, and the fewest ever would reward luck. A trial
    that failed, and has none, comes last.
    """
    if not history:
        return math.inf
    first = harness.held_from([line.unbeatable for line in history])
    if first is not None:
        return (first + 1) / len(history) - 1
    return statistics.mean(line.bad_lines for line in history[-math.ceil(len(history) / 4) :])


class Search:
    """Hold the runs that have ended, each in a file of its own in `--dir`.

    Raises:
        UserError: There is a run that was evaluated at other moments.
    """

    def __init__(self, flags: Flags) -> None:
        self.flags = flags
        self.ended = {path.stem: parsed(path.read_text()) for path in flags.dir.glob("*.json")}
        for job, *_ in self.ended.values():
            if job.due != (due := flags.due(job.stage)):
                was, now = (f"{times[-1]:g} s and {len(times)}" for times in (job.due, due))
                raise UserError(
                    f"{flags.dir}: has a {job.stage} run of {was} evaluations, not of {now}; "
                    "go on with the same, or name another --dir"
                )

    def add(self, ended: Ended) -> None:
        """Keep a run."""
        self.ended[ended.job.name] = ended
        write_whole(self.flags.dir / f"{ended.job.name}.json", json.dumps(ended).encode())

    def trials(self, player: str) -> list[Ended]:
        """Return the trials of a player in order."""
        names = (f"trial-{player}-{number}" for number in range(self.flags.trials))
        return [self.ended[name] for name in names if name in self.ended]

    def best(self, player: str) -> Job:
        """Return the best of its trials, the first of equals."""
        return min(self.trials(player), key=lambda one: score(one.history)).job

    def finals(self, player: str) -> list[Ended]:
        """Return its final runs with the settings of its best trial."""
        names = (f"final-{player}-{seed}" for seed in self.flags.seeds)
        finals = [self.ended[name] for name in names if name in self.ended]
        return [one for one in finals if one.job.sampled == self.best(player).sampled]

    def missing_trials(self, players: Sequence[str]) -> Iterator[Job]:
        """Yield the trials that are missing, each sampled when it is asked for; the players take turns."""
        for number in range(self.flags.trials):
            for player in players:
                if f"trial-{player}-{number}" not in self.ended:
                    sampled = sample(player, number, self.trials(player))
                    yield Job("trial", player, number, sampled, self.flags.due("trial"))

    def missing_finals(self, players: Sequence[str]) -> Iterator[Job]:
        """Yield the final runs that are missing."""
        for seed in self.flags.seeds:
            for player in players:
                if seed not in (one.job.number for one in self.finals(player)):
                    yield Job("final", player, seed, self.best(player).sampled, self.flags.due("final"))


def parsed(text: str) -> Ended:
    """Return the run that JSON holds."""
    job, history, failure = json.loads(text)
    return Ended(Job(*job), [Evaluation(*evaluation) for evaluation in history], failure)


def sample(player: str, number: int, ended: Sequence[Ended]) -> dict[str, Any]:
    """Return the settings of a trial, by the scores of those that have ended; nothing for those of the example.

    What is sampled depends on the arguments alone, so that a search that was stopped goes on like one that was not.
    """
    if number == 0 and player in WITH_EXAMPLE:
        return {}
    # The example's may lie between what can be sampled.
    tried = [(one.job.sampled, score(one.history)) for one in ended if one.job.sampled]
    return next(search_space.sample(RANGES[player], tried, SEARCH_SEED + number))


def run(job: Job) -> Ended:
    """Train; a failure, too, is a result."""
    torch.set_num_threads(1)
    try:
        module = evaluations.load(job.player)
        make = partial(module.make, settings=module.sampled_settings(job.sampled)) if job.sampled else module.make
        name = job.player + ("" if job.stage == "trial" else SEARCHED)
        return Ended(job, evaluations.measure(name, make(job.seed), job.seed, job.due, time.process_time))
    except Exception as error:
        return Ended(job, [], one_line(what_failed(error)))


def run_fresh(job: Job) -> Ended:
    """Train in a fresh process: what a learner leaves in torch or Python is not for the next."""
    call = f"tuning.run(tuning.Job(*json.loads({json.dumps(job)!r})))"
    try:
        return parsed(harness.run_fresh(f"import json\nfrom benchmarks.peers import tuning\nprint(json.dumps({call}))"))
    except RuntimeError as error:
        return Ended(job, [], one_line(error))


def run_all(jobs: Iterator[Job], processes: int) -> Iterator[Ended]:
    """Yield the jobs' runs as they end, some at once; the next job is asked for when there is room for it."""
    running: set[Future[Ended]] = set()
    with ThreadPoolExecutor(processes) as pool:
        while True:
            while len(running) < processes and (job := next(jobs, None)) is not None:
                running.add(pool.submit(run_fresh, job))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()


def write(docs: Path, search: Search, players: Sequence[str], lines: Sequence[Evaluation]) -> None:
    """Write the trials, and the final runs in the place of what they are better than."""
    rows: list[Sequence[object]] = [("trial", "settings", "failure", *Evaluation._fields)]
    for job, history, failure in (one for player in players for one in search.trials(player)):
        failed = [player_and_seed(job)] if failure else []
        rows += [(job.number, job.settings, failure, *line) for line in (*history, *failed)]
    write_csv(docs / "peers-tuning.csv", rows)
    replaced = {player + SEARCHED for player in players} | {player for player in players if player in WITH_EXAMPLE}
    others = [one for one in evaluations.read(docs / "peers.csv") if one.player not in replaced]
    report.write(docs, [*others, *lines])


def player_and_seed(job: Job) -> list[object]:
    """Return the fields of an evaluation of a run that failed, with nothing but its player and seed."""
    return [job.player, job.seed, *[""] * (len(Evaluation._fields) - 2)]


def main(args: Sequence[str]) -> None:
    """Do what is missing, print each run as it ends and the table, and write the figure and the CSVs."""
    flags = harness.read_flags(Flags, args, PROG)
    cores = harness.cores()
    require(flags.processes <= cores, "processes", f"at most the cores, {cores}", flags.processes)
    flags.dir.mkdir(exist_ok=True)
    with locked(flags.dir):
        search = Search(flags)
        if flags.docs is not None:
            evaluations.read(flags.docs / "peers.csv")  # or another file there would be refused after hours of work
        console = harness.start("Settings searched for alike", ("stable-baselines3", "optuna"), flags.seeds)
        console.print(f"{len(search.ended)} runs are in {flags.dir}")
        players = evaluations.available(flags.players, console)
        for missing in (search.missing_trials, search.missing_finals):
            for ended in run_all(missing(players), flags.processes):
                search.add(ended)
                console.print(ended.text(), soft_wrap=True)
        for player in players:
            console.print(f"best of {player}: {search.ended[search.best(player).name].text()}", soft_wrap=True)
        lines = [line for player in players for one in search.finals(player) for line in one.history]
        report.show(console, lines)
        if flags.docs is not None:
            write(flags.docs, search, players, lines)


if __name__ == "__main__":
    run_command(main, PROG)
