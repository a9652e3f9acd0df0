"""Search for settings of every library's learner and of ours told alike, all in the same way.

    python -m benchmarks.peers.tuning --docs docs    # all, some two hours on one core
    python -m benchmarks.peers.tuning --players open-spiel --docs docs    # some, or on another core

Each contestant has the same number of trials, and each trial the same seeds, from 1000 up, and the same seconds. The
first trial has the settings of the learner's own example, ours its defaults; then come its `STARTS`; Optuna samples
those of the others from `RANGES`. A trial is worth the mean of its runs' scores (`evaluations.score`), by the network
with the better mean. Seconds are those on the processor, without the looks.

Each trial is added to peers-tuning.csv in the folder when it ends, and the same command continues after the last trial
there; `--trials` above that number continues a search, and removing the file begins anew. Commands for different
players may run side by side. A run that fails counts as one that could be beaten at all times, and is shown.
"""

import csv
import math
import statistics
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import tyro

from benchmarks import harness
from benchmarks.peers.evaluations import ONLINE, Make, measure, score
from benchmarks.peers.learners import SEARCHED, load
from benchmarks.peers.our_dqn import DEFAULTS

TRIALS, TRIAL_SECONDS = 16, 30.0
SEEDS = (1_000, 1_001)
"""Seeds of every trial."""
FAILED = 2.0
"""The score of a run that failed, above all others."""
RANDOM_TRIALS = 5
"""Trials after which Optuna samples near the best ones."""
DIGITS = 3
"""Significant digits of a sampled number."""
FILE = "peers-tuning.csv"
Contestant = Literal["ours-any-cell", "stable-baselines3", "cleanrl-style", "maskable-ppo", "open-spiel", "alphazero"]


class Range(NamedTuple):
    """The ends of a range, both included: of integers if they are, on a logarithmic scale if they are above 0."""

    low: float
    high: float


Ranges: TypeAlias = Mapping[str, Range | tuple[str, ...]]
NETWORK: Ranges = {
    "learning_rate": Range(3e-5, 5e-2),
    "batch_size": Range(16, 1_024),
    "width": Range(32, 2_048),
    "layers": Range(1, 4),
    "gamma": Range(0.8, 1.0),
}
"""Of every contestant with a network, if its own settings include it."""
Q_LEARNING: Ranges = {
    **NETWORK,
    "learning_rate_hold": Range(100, 1_000_000),  # steps; ours and OpenSpiel's: updates
    "updates_per_step": Range(1 / 512, 1.0),  # of a step of one board, so at least one each time that it learns
    "target": ("copied", "moved"),  # once in some steps, or a part of the way at each
    "target_every": Range(5, 10_000),
    "soft_update": Range(3e-4, 0.3),
    "epsilon_end": Range(0.0, 1.0),
    "epsilon_steps": Range(300, 3_000_000),
    "memory_size": Range(2_000, 500_000),
    "learning_starts": Range(50, 20_000),
}
REWARDS: Ranges = {"rewards": ("shaped", "sparse")}
ALONE: Ranges = {
    **REWARDS,
    "opponent": ("random", "heuristic", "self"),
    "copy_every": Range(200, 100_000),
    "opponent_random": Range(0.0, 1.0),
}
"""Of those that learn alone."""
BOARDS: Ranges = {"boards": Range(1, 512)}
RANGES: Mapping[Contestant, Ranges] = {
    "ours-any-cell": {**Q_LEARNING, **REWARDS, **BOARDS},
    "stable-baselines3": {**Q_LEARNING, **ALONE, **BOARDS, "train_every": Range(1, 512)},
    "cleanrl-style": {
        **Q_LEARNING,
        **ALONE,
        "soft_update": Range(3e-5, 0.3),  # at each step, of which there may be dozens to an update
    },
    "maskable-ppo": {
        **NETWORK,
        **ALONE,
        **BOARDS,
        "rollout": Range(128, 32_768),
        "n_epochs": Range(1, 30),
        "gae_lambda": Range(0.5, 1.0),
        "clip_range": Range(0.03, 0.6),
        "ent_coef": Range(1e-4, 0.3),
        "vf_coef": Range(0.1, 2.0),
    },
    "open-spiel": {**Q_LEARNING, "optimizer": ("adam", "rmsprop", "sgd"), "loss": ("mse", "huber")},
    "alphazero": {
        **{name: NETWORK[name] for name in ("learning_rate", "batch_size", "width")},
        **BOARDS,
        "memory_size": Q_LEARNING["memory_size"],
        "updates": Range(1, 512),  # after each batch of games
        "simulations": Range(4, 256),
        "exploration": Range(0.2, 10.0),
        "noise_share": Range(0.0, 1.0),
        "noise": Range(0.1, 10.0),
    },
}
"""CleanRL's loop has one board by its own limit. Where a contestant counts in units of its own, its file says so."""
EXAMPLE = "its example's settings"
OURS = (
    f"learning_rate={DEFAULTS.learning_rate} batch_size={DEFAULTS.batch_size} width={DEFAULTS.hidden[0]}"
    f" layers={len(DEFAULTS.hidden)} gamma={DEFAULTS.gamma}"
    f" updates_per_step={DEFAULTS.updates_per_step / DEFAULTS.num_envs} target=moved target_every=5"
    f" epsilon_end={DEFAULTS.epsilon_end} epsilon_steps={DEFAULTS.epsilon_plies}"
    f" memory_size={DEFAULTS.memory_size} learning_starts={DEFAULTS.warmup}"
)
"""Our defaults, as far as every DQN has them; `soft_update` follows, which some count in steps, others in updates."""
OF_EARLIER_SEARCH = (
    "learning_rate=0.0028 batch_size=160 width=512 layers=1 gamma=0.914 learning_rate_hold=78605"
    " updates_per_step=0.0385 target=moved target_every=92 epsilon_end=0.157 epsilon_steps=18477"
    " memory_size=19523 learning_starts=2288 rewards=shaped opponent=self copy_every=1335 opponent_random=0.419"
)
"""What version 0.2.0 found for Stable-Baselines3."""
RECIPE = (
    "learning_rate=0.001 batch_size=64 width=64 layers=2 gamma=0.99 rewards=sparse opponent=self copy_every=8192"
    " opponent_random=0.1 boards=8 rollout=1024 n_epochs=10 gae_lambda=0.95 clip_range=0.2 ent_coef=0.01 vf_coef=0.5"
)
"""Those of docs/recipes/maskable_ppo_self_play.py, as far as a search samples them."""
IN_UPDATES = f"learning_rate_hold={DEFAULTS.learning_rate_hold} soft_update={DEFAULTS.soft_update}"
HOLD_IN_STEPS = DEFAULTS.learning_rate_hold * DEFAULTS.num_envs // DEFAULTS.updates_per_step
ALONE_AS_OURS = f"learning_rate_hold={HOLD_IN_STEPS} rewards=shaped opponent=self copy_every=3200 opponent_random=0.1"
STARTS: Mapping[Contestant, tuple[str, ...]] = {
    "stable-baselines3": (
        f"{OURS} {ALONE_AS_OURS} soft_update=0.12 boards=256 train_every=256",
        f"{OF_EARLIER_SEARCH} soft_update=0.0159 boards=91 train_every=33",
    ),
    "cleanrl-style": (f"{OURS} {ALONE_AS_OURS} soft_update=0.00048", f"{OF_EARLIER_SEARCH} soft_update=0.000176"),
    "maskable-ppo": (RECIPE, RECIPE.replace("sparse", "shaped")),
    "open-spiel": (f"{OURS} {IN_UPDATES} optimizer=adam loss=huber",),
}
"""Settings of the trials after the first: those found by longer searches, so that no learner lacks what ours has."""


class TrialRun(NamedTuple):
    """A run of a trial at one of its networks; the fields are the columns of the CSV."""

    player: str
    trial: int
    settings: str
    """Words such as gamma=0.9, or `EXAMPLE`."""
    seed: int
    network: str
    score: float
    first_s: float
    """Training up to the first proof; infinity without one."""
    proved_at_end: str
    """Yes or no, or what failed."""
    commit: str


class Trial(NamedTuple):
    """A trial that has ended."""

    settings: str
    score: float
    proved: bool
    """Whether every seed ended with a proof, at the network with the better score."""


def read_trials(path: Path) -> dict[str, list[Trial]]:
    """Return the trials of each player in a CSV file that have all their seeds; none if there is no such file."""
    found: dict[str, dict[int, list[TrialRun]]] = {}
    if path.exists():
        with path.open(newline="") as file:
            for fields in list(csv.reader(file))[1:]:
                kinds = TrialRun.__annotations__.values()
                run = TrialRun(*(kind(field) for kind, field in zip(kinds, fields, strict=True)))
                found.setdefault(run.player, {}).setdefault(run.trial, []).append(run)
    return {player: [as_trial(runs) for _, runs in sorted(trials.items())] for player, trials in found.items()}


def as_trial(runs: Sequence[TrialRun]) -> Trial:
    """Return what the runs of a trial are worth, by the network with the better mean; a failed one counts for all."""
    seeds = {run.seed for run in runs}
    by_network = {}
    for network in {run.network for run in runs}:
        of_network = {run.seed: run for run in runs if run.network == network}
        scores = [of_network[seed].score if seed in of_network else FAILED for seed in seeds]
        proved = [seed in of_network and of_network[seed].proved_at_end == "yes" for seed in seeds]
        by_network[network] = statistics.mean(scores), all(proved)
    value, proved_at_end = min(by_network.values())
    return Trial(runs[0].settings, value, proved_at_end)


def add(path: Path, runs: Sequence[TrialRun]) -> None:
    """Write the runs of a trial to the end of a CSV file, at once."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([*([TrialRun._fields] if new else []), *runs])


def sampled(player: Contestant, settings: str) -> dict[str, Any]:
    """Return the settings that words name, each of the type of its range."""
    found: dict[str, Any] = {}
    for word in settings.split():
        name, value = word.split("=")
        values = RANGES[player][name]
        found[name] = type(values.low)(value) if isinstance(values, Range) else value
    return found


def sample(player: Contestant, trials: Iterable[Trial], seed: int) -> str:
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
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(n_startup_trials=RANDOM_TRIALS, seed=seed))
    for trial in trials:
        if trial.settings != EXAMPLE:  # the example's settings may lie between what can be sampled
            settings = sampled(player, trial.settings)
            study.add_trial(optuna.create_trial(params=settings, distributions=distributions, value=trial.score))
    words = []
    for name, value in study.ask(distributions).params.items():
        values = RANGES[player][name]
        if isinstance(value, float) and isinstance(values, Range):
            rounded = float(f"{value:.{DIGITS}g}")
            words.append(f"{name}={min(max(rounded, values.low), values.high)}")
        else:
            words.append(f"{name}={value}")
    return " ".join(words)


def maker(player: Contestant, settings: str) -> Make:
    """Return what prepares a training with settings."""
    learner = load(player)
    make: Callable[..., Any] = learner.make
    return make if settings == EXAMPLE else partial(make, settings=learner.sampled_settings(sampled(player, settings)))


def best(trials: Sequence[Trial]) -> Trial:
    """Return the best trial, the first of equals."""
    return min(trials, key=lambda trial: trial.score)


def proved_trials(trials: Mapping[str, Sequence[Trial]]) -> dict[str, str]:
    """Return for each player with its searched settings how many of its trials were proved."""
    return {
        player + SEARCHED: harness.cell([trial.proved for trial in of_player]) for player, of_player in trials.items()
    }


def best_maker(docs: Path, player: Contestant) -> Make:
    """Return what prepares a training with the settings of a player's best trial.

    Raises:
        SystemExit: There is no trial of this player.
    """
    trials = read_trials(docs / FILE).get(player)
    if not trials:
        raise SystemExit(f"{docs / FILE}: no trial of {player}; python -m benchmarks.peers.tuning searches")
    return maker(player, best(trials).settings)


def run_trial(player: Contestant, number: int, settings: str, seeds: Iterable[int], seconds: float) -> list[TrialRun]:
    """Train with settings and all seeds, and return what came of it."""
    runs = []
    for seed in seeds:
        start = player, number, settings, seed
        try:
            looks = measure(maker(player, settings), seed, seconds).looks
        except Exception as error:  # of any library
            failure = f"{type(error).__name__}: {error}"
            runs.append(TrialRun(*start, ONLINE, FAILED, math.inf, failure, harness.commit()))
            continue
        for network, seen in looks.items():
            first = next((look.seconds for look in seen if look.ways == 0), math.inf)
            ended = "no" if seen[-1].ways else "yes"
            runs.append(TrialRun(*start, network, round(score(seen), 5), first, ended, harness.commit()))
    return runs


def at_an_end(value: str, values: Range | tuple[str, ...]) -> bool:
    """Return whether a sampled number is within a fiftieth of an end of its range where the range could be wider."""
    if not isinstance(values, Range):
        return False
    scale = math.log if values.low > 0 else float
    low, high, place = (scale(float(each)) for each in (*values, value))
    part = (place - low) / (high - low)
    return (part < 0.02 and values.low not in {0, 1}) or (part > 0.98 and values.high != 1)


def settings_table(trials: Mapping[str, Sequence[Trial]]) -> list[list[str]]:
    """Return a line per setting, with what it is sampled from and its values in the best trials."""
    lines = [["setting", "sampled from", *trials]]
    winners = {}
    for player, of_player in trials.items():
        settings = best(of_player).settings
        winners[player] = {} if settings == EXAMPLE else dict(word.split("=") for word in settings.split())
    for name in dict.fromkeys(chain(*(RANGES[player] for player in trials))):  # type: ignore[index]
        texts, cells = [], []
        for player, found in winners.items():
            values = RANGES[player].get(name)  # type: ignore[index]
            if isinstance(values, Range):
                texts.append(f"{values.low:.4g} to {values.high:,}")
            elif values is not None:
                texts.append(", ".join(values))
            mark = " (at an end)" if name in found and values and at_an_end(found[name], values) else ""
            cells.append(found.get(name, "-" if values is None else "example's") + mark)
        lines.append([f"`{name}`", "; ".join(dict.fromkeys(texts)), *cells])
    return lines


def main(
    docs: Path,
    players: tuple[Contestant, ...] = get_args(Contestant),
    trials: int = TRIALS,
    seconds: float = TRIAL_SECONDS,
    seeds: tuple[int, ...] = SEEDS,
) -> None:
    """Do the trials that are missing.

    Args:
        docs: Folder of peers-tuning.csv.
        players: Whose settings to search for.
        trials: Trials of each; with more than before a search is continued.
        seconds: Training of each run, s.
        seeds: Seeds of each trial.
    """
    harness.start("Settings searched for alike", ("stable-baselines3", "sb3-contrib", "open-spiel", "optuna"), seeds)
    warnings.filterwarnings("ignore", "Choices for a categorical", UserWarning)  # a tuple could not be in its database
    docs.mkdir(parents=True, exist_ok=True)
    path = docs / FILE
    for number in range(trials):  # the players take turns
        for player in players:
            done = read_trials(path).get(player, [])
            if number < len(done):
                continue
            starts = (EXAMPLE, *STARTS.get(player, ()))
            settings = starts[number] if number < len(starts) else sample(player, done, SEEDS[0] + number)
            runs = run_trial(player, number, settings, seeds, seconds)
            add(path, runs)
            print(f"{player}, trial {number}: score {as_trial(runs).score:.4f}; {settings}", flush=True)
            for run in runs:
                print(f"  {run.network}, seed {run.seed}: {run.score}, first proof {run.first_s}, {run.proved_at_end}")
    print(harness.markdown(settings_table(read_trials(path))))


if __name__ == "__main__":
    tyro.cli(main)
