"""Search for settings of Stable-Baselines3's DQN, of a CleanRL-style one and of ours, all alike; then train longer.

The README's figures (three hours and a half):

    python -m benchmarks.peers.tuning --docs docs

Each contestant has the same number of trials of the same seconds, with settings that Optuna samples from `RANGES`, and
is evaluated exactly at equal moments; `evaluations.score` says what a trial is worth. Those that learn alone may play
against random moves, the heuristic, or frozen copies of themselves. Their first trial has the settings of their
examples. Ours begins with what is sampled, and what it alone has keeps its default (canonical boards,
counterexamples); `ours-plain` has neither. Trials have the seeds from 1000 up. Seconds are those that the process spent
on the processor, so that other programs on the same cores change little. Then the settings of each one's best trial are
trained for longer, with the seeds that are reported, and evaluated at moments as `python -m benchmarks.peers` does.

A trial is added to peers-tuning.csv in the folder when it ends, and the same command continues after the last one
there. To search anew, remove the file first. A run that fails counts as the worst, and is shown. The final runs are
written to peers.csv and peers.png, in the place of earlier ones of the same players.
"""

import csv
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import tyro

from benchmarks import data, harness
from benchmarks.peers import report
from benchmarks.peers.evaluations import (
    FINAL_EVALUATIONS,
    FINAL_SECONDS,
    SEARCHED,
    TRIAL_EVALUATIONS,
    TRIAL_SECONDS,
    TRIALS,
    Evaluation,
    even_times,
    from_fields,
    growing_times,
    load,
    measure,
    score,
)

LIBRARIES = ("stable-baselines3", "optuna")
SEARCH_SEED = 1_000
"""Seed of the first trial; each further one has the next."""
DIGITS = 3
"""Significant digits of a sampled number."""
Contestant = Literal["ours", "ours-plain", "stable-baselines3", "cleanrl-style"]


class Range(NamedTuple):
    """The ends of a range, both included: of integers if they are, on a logarithmic scale if they are above 0."""

    low: float
    high: float


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
EXAMPLE = "its example's settings"
WITH_EXAMPLE = ("stable-baselines3", "cleanrl-style")
"""Contestants whose first trial has their examples' settings; our defaults come from a longer search."""


class Trial(NamedTuple):
    """A trial that has ended; one that failed has no evaluations."""

    settings: str
    """Words such as gamma=0.9, or `EXAMPLE`."""
    history: list[Evaluation]


def read_trials(path: Path) -> dict[str, list[Trial]]:
    """Return the trials of each player in a CSV file; none if there is no such file."""
    trials: dict[str, dict[int, Trial]] = {}
    if path.exists():
        with path.open(newline="") as file:
            for number, settings, failure, player, *fields in list(csv.reader(file))[1:]:
                trial = trials.setdefault(player, {}).setdefault(int(number), Trial(settings, []))
                if not failure:
                    trial.history.append(from_fields([player, *fields]))
    return {player: list(of_player.values()) for player, of_player in trials.items()}


def add_trial(path: Path, player: str, number: int, settings: str, failure: str, history: list[Evaluation]) -> None:
    """Write a trial to the end of a CSV file."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(["trial", "settings", "failure", *Evaluation._fields])
        for line in history:
            writer.writerow([number, settings, failure, *line])
        if failure:
            empty = [""] * (len(Evaluation._fields) - 2)
            writer.writerow([number, settings, failure, player, SEARCH_SEED + number, *empty])


def sampled(player: str, settings: str) -> dict[str, Any]:
    """Return the settings that words name, each of the type of its range."""
    found: dict[str, Any] = {}
    for word in settings.split():
        name, value = word.split("=")
        values = RANGES[player][name]
        found[name] = type(values.low)(value) if isinstance(values, Range) else value
    return found


def sample(player: str, trials: Iterable[Trial], seed: int) -> str:
    """Return settings as words that Optuna samples in view of the scores of earlier trials."""
    import optuna  # only a search needs it

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kinds = optuna.distributions
    distributions: dict[str, Any] = {}
    for name, values in RANGES[player].items():
        if not isinstance(values, Range):
            distributions[name] = kinds.CategoricalDistribution(values)
        elif isinstance(values.low, int):
            distributions[name] = kinds.IntDistribution(*values, log=values.low > 0)
        else:
            distributions[name] = kinds.FloatDistribution(*values, log=values.low > 0)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    for trial in trials:
        if trial.settings != EXAMPLE:  # the example's settings may lie between what can be sampled
            settings = sampled(player, trial.settings)
            study.add_trial(
                optuna.create_trial(params=settings, distributions=distributions, value=score(trial.history))
            )
    words = []
    for name, value in study.ask(distributions).params.items():
        values = RANGES[player][name]
        if isinstance(value, float) and isinstance(values, Range):
            rounded = float(f"{value:.{DIGITS}g}")
            words.append(f"{name}={min(max(rounded, values.low), values.high)}")
        else:
            words.append(f"{name}={value}")
    return " ".join(words)


def train(name: str, player: str, settings: str, seed: int, due: Sequence[float]) -> list[Evaluation]:
    """Train with settings."""
    learner = load(player)
    make = learner.make
    if settings != EXAMPLE:
        make = partial(learner.make, settings=learner.sampled_settings(sampled(player, settings)))
    return measure(name, make(seed), seed, due)


def best(trials: Sequence[Trial]) -> Trial:
    """Return the best trial, the first of equals."""
    return min(trials, key=lambda trial: score(trial.history))


def settings_table(trials: Mapping[str, Sequence[Trial]]) -> list[list[str]]:
    """Return a line per setting, with what it is sampled from and its values in the best trials."""
    of_best = [dict(word.split("=") for word in best(of_player).settings.split()) for of_player in trials.values()]
    lines = [["setting", "sampled from", *trials]]
    for name in dict.fromkeys(chain(*RANGES.values())):
        texts = []
        for ranges in RANGES.values():
            if name in ranges:
                values = ranges[name]
                texts.append(f"{values.low}..{values.high}" if isinstance(values, Range) else ", ".join(values))
        lines.append([f"`{name}`", "; ".join(dict.fromkeys(texts)), *(found.get(name, "-") for found in of_best)])
    return lines


def main(
    docs: Path,
    players: tuple[Contestant, ...] = get_args(Contestant),
    trials: int = TRIALS,
    seconds: float = TRIAL_SECONDS,
    evaluations: int = TRIAL_EVALUATIONS,
    seeds: tuple[int, ...] = tuple(range(5)),
    final_seconds: float = FINAL_SECONDS,
    final_evaluations: int = FINAL_EVALUATIONS,
) -> None:
    """Do the trials that are missing, then the final runs, and write the CSVs and the figure.

    Args:
        docs: Folder of peers-tuning.csv, peers.csv and peers.png.
        players: Whose settings to search for.
        trials: Trials of each; with more than before a search is continued.
        seconds: Training of each trial, s.
        evaluations: Evaluations of each trial, at equal intervals.
        seeds: Seeds of the final runs.
        final_seconds: Training of each final run, s.
        final_evaluations: Evaluations of each final run: the first after 1/300 of its time, the last at its end, each
            interval longer.
    """
    replaced = [player + SEARCHED for player in players]
    others = [line for line in report.read(docs, final_seconds) if line.player not in replaced]
    measured_on = harness.start("Settings searched for alike", LIBRARIES, seeds)
    warnings.filterwarnings("ignore", "Choices for a categorical", UserWarning)  # a tuple could not be in its database
    path = docs / "peers-tuning.csv"
    for number in range(trials):  # the players take turns
        for player in players:
            done = read_trials(path).get(player, [])
            if number < len(done):
                continue
            seed, settings, failure = SEARCH_SEED + number, EXAMPLE, ""
            if number > 0 or player not in WITH_EXAMPLE:
                settings = sample(player, done, seed)
            try:
                history = train(player, player, settings, seed, even_times(seconds, evaluations))
            except Exception as error:  # of whatever library it is
                history, failure = [], f"{type(error).__name__}: {error}"
            add_trial(path, player, number, settings, failure, history)
            print(f"{player}, trial {number}: {failure or f'score {score(history):.2f}'}; {settings}", flush=True)
    lines: list[Evaluation] = []
    for seed in seeds:
        for player in players:
            settings = best(read_trials(path)[player]).settings
            due = growing_times(final_seconds, final_evaluations)
            lines += train(player + SEARCHED, player, settings, seed, due)
            print(lines[-1], flush=True)
            report.write(docs, [*others, *lines])
    data.save(docs, "peers", dict.fromkeys(replaced, ()), measured_on)
    print(report.table_of_runs(report.runs(lines)))


if __name__ == "__main__":
    tyro.cli(main)
