"""How the tabular learners are trained: games in compiled slices, exact evaluations between them, and a report."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay import experiment
from selfplay.algorithms import TabularConfig
from selfplay.checkpoint import Checkpoints, RunFlags, Snapshot, check_length
from selfplay.checks import LARGEST
from selfplay.errors import UserError
from selfplay.evaluation import Proof
from selfplay.experiment import Record
from selfplay.files import write_whole
from selfplay.plots import png
from selfplay.reach import Unproved, assess
from selfplay.run_folder import TABLE
from selfplay.tabular.afterstate_q import AfterstateQ, AfterstateQConfig, match_up_curves
from selfplay.tabular.boards import IntArray
from selfplay.tabular.minimax_q import MinimaxQ, MinimaxQConfig, one_table, write_table
from selfplay.tabular.outcomes import (
    Counts,
    count,
    cumulative_counts,
    group_counts,
    shares,
    write_curves,
    write_groups,
)
from selfplay.tabular.plots import cumulative_figure, density_figure, groups_figure
from selfplay.tabular.td_backup import TDBackup, TDBackupConfig, learned_values
from selfplay.tabular.td_value import TDValue, TDValueConfig

Learner: TypeAlias = MinimaxQ | AfterstateQ | TDValue | TDBackup

SLICE = 200_000
"""Games in one call of a compiled loop, which Ctrl-C cannot interrupt."""
CURVE_GAMES = 100_000
"""Games that curves are drawn of at most: the first ones, with a line of CSV each."""
GROUP, MOST_GROUPS = 500, 20
"""Greedy games in one bar, unless that makes too many bars."""


def run(config: TabularConfig, flags: RunFlags) -> None:
    """Train one of the published learners as its settings say, and leave a run folder behind."""
    learner = make_learner(config)
    total = config.games + (config.greedy_games if isinstance(config, TDBackupConfig) else 0)
    with experiment.checkpoints(config, flags) as kept:
        standing = resume(learner, kept) if kept.resuming else BEGINNING
        finished = experiment.run(
            config,
            "games",
            total,
            learner.player,
            train(learner, standing, kept),
            kept,
            lambda folder: write_report(folder, learner),
        )
    experiment.present(finished, "exploitability 0", unexploitable)


def unexploitable(evaluation: Proof | Unproved) -> bool:
    """Tell whether an evaluation proves exploitability 0."""
    return isinstance(evaluation, Proof) and evaluation.unexploitable


def make_learner(config: TabularConfig) -> Learner:
    """Return the learner of these settings as it is before its first game."""
    match config:
        case MinimaxQConfig():
            return MinimaxQ(config)
        case AfterstateQConfig():
            return AfterstateQ(config)
        case TDValueConfig():
            return TDValue(config)
        case TDBackupConfig():
            return TDBackup(config)


class Standing(NamedTuple):
    """Say how a run stands between two games, beside what its learner holds."""

    evaluations: int = 0
    seconds: float = 0.0
    """Time spent in playing so far."""
    interval_seconds: float = 0.0
    """The part of it since the last evaluation."""
    counts: Counts = Counts()
    """How the games since the last evaluation have ended."""


BEGINNING = Standing()


def train(learner: Learner, standing: Standing = BEGINNING, kept: Checkpoints | None = None) -> Iterator[Record]:
    """Play the games that are still to be played, and evaluate every `eval_every` of them and at the end.

    Checkpoints are written between two slices of games when they are due, and at the end. The greedy games of
    td-backup are played after that, in one slice, so that a run which has ended can be made longer.
    """
    learner.play(0)  # compiles the loop or loads it, which is not training
    config = learner.config
    while learner.games_played < config.games:
        due = max(config.eval_every - sum(standing.counts), 0)  # by force the interval can have become shorter
        rest = min(due, config.games - learner.games_played)
        standing = played(standing, learner.play, min(rest, SLICE))
        if rest <= SLICE:
            yield record(learner, standing)
            standing = Standing(standing.evaluations + 1, standing.seconds)
        if kept is not None and (kept.due(learner.games_played) or learner.games_played == config.games):
            kept.write(snapshot(learner, standing))
    if config.games == 0:
        yield record(learner, played(standing, learner.play, 0))
    if isinstance(learner, TDBackup):
        yield record(learner, played(standing, learner.play_greedily, learner.config.greedy_games))


def played(standing: Standing, play: Callable[[int], NDArray[np.int8]], games: int) -> Standing:
    """Play so many games in one call, and return how the run stands after them."""
    started = time.perf_counter()
    ended = count(play(games))
    seconds = time.perf_counter() - started
    counts = Counts(*map(sum, zip(standing.counts, ended, strict=True)))
    return Standing(standing.evaluations, standing.seconds + seconds, standing.interval_seconds + seconds, counts)


def record(learner: Learner, standing: Standing) -> Record:
    """Evaluate the learner as it is, and return that with what was counted since the evaluation before."""
    check_finite(learner)
    rates = {
        "time/games_per_s": sum(standing.counts) / standing.interval_seconds,
        "time/training_s": standing.seconds,
    }
    return Record(learner.games_played, assess(learner.player(), learner.rules), shares(standing.counts) | rates)


def snapshot(learner: Learner, standing: Standing) -> Snapshot:
    """Return all that a run needs to go on."""
    check_finite(learner)
    counters = standing._asdict() | {
        "counts": standing.counts._asdict(),
        "games_played": learner.games_played,
        "generator": dict(learner.rng.bit_generator.state),
    }
    return Snapshot({TABLE: torch.from_numpy(learner.table)}, counters)


def check_finite(learner: Learner) -> None:
    """Stop a run whose values have overflowed, before a player or a checkpoint of them is kept.

    Raises:
        UserError: a value is not a finite number.
    """
    if not np.isfinite(learner.table).all():
        raise UserError("the values are no longer finite numbers; start from smaller ones")


def resume(learner: Learner, kept: Checkpoints) -> Standing:
    """Make the learner what it was at the last checkpoint, and return how the run stood.

    Raises:
        UserError: there is no checkpoint of such a run, or the run is finished.
    """
    found = kept.read(snapshot(learner, BEGINNING))
    if found is None:
        return BEGINNING
    kept.check_unfinished()
    learner.table[:] = found.tensors[TABLE].numpy()
    counters = dict(found.counters)
    learner.games_played = counters.pop("games_played")
    if not sum(counters["counts"].values()) <= learner.games_played <= LARGEST:
        raise UserError(f"{kept.folder}: its checkpoint is not one of such a run; start a new run")
    check_length("games", learner.config.games, learner.games_played, 1, kept)
    try:
        learner.rng.bit_generator.state = counters.pop("generator")
    except (ValueError, TypeError, OverflowError) as error:
        raise UserError(f"{kept.folder}: its checkpoint holds no state of a generator: {error}") from None
    return Standing(**counters | {"counts": Counts(**counters["counts"])})


def write_report(folder: Path, learner: Learner) -> None:
    """Write what the published system shows beside the evaluation, as CSV files and pictures."""
    match learner:
        case MinimaxQ():
            write_table(folder / "table.csv", one_table(learner.table))
        case AfterstateQ(config=config):
            shown = replace(config, games=min(config.games, CURVE_GAMES))
            _write_curves(folder, match_up_curves(shown, [config.seed]), config.seed)
        case TDValue(config=config):
            _write_curves(folder, learning_curves(config), config.seed)
        case TDBackup():
            size = max(GROUP, -(-len(learner.greedy_outcomes) // MOST_GROUPS))
            counts = group_counts(learner.greedy_outcomes, size)
            write_groups(folder / "groups.csv", counts)
            write_whole(folder / "groups.png", png(groups_figure(counts, size)))
            density = density_figure(*learned_values(learner.rules, learner.table))
            write_whole(folder / "values.png", png(density))


def learning_curves(config: TDValueConfig) -> dict[str, IntArray]:
    """Return the cumulative counts [1, games, 3] of td-value's games by who had the first seat.

    The seed plays the run's games once more, which is quicker than keeping them.
    """
    games = min(config.games, CURVE_GAMES)
    outcomes = TDValue(config).play(games)
    if config.opponent == "self":
        return {"learner against learner": cumulative_counts(outcomes)[None]}
    by_seat = {
        f"learner against {config.opponent}": outcomes[0::2],
        f"{config.opponent} against learner": outcomes[1::2],
    }
    return {name: cumulative_counts(played)[None] for name, played in by_seat.items() if len(played)}


def _write_curves(folder: Path, curves: dict[str, IntArray], seed: int) -> None:
    write_curves(folder / "curves.csv", curves, [seed])
    write_whole(folder / "curves.png", png(cumulative_figure(curves)))
