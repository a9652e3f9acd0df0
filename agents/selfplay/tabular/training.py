"""How the tabular learners are trained: games in compiled slices, exact evaluations between them, and a report."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from selfplay import experiment
from selfplay.algorithms import TabularConfig
from selfplay.errors import UserError
from selfplay.evaluation import evaluate
from selfplay.experiment import Record
from selfplay.files import write_whole
from selfplay.plots import png
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


def run(config: TabularConfig) -> None:
    """Train one of the published learners as its settings say, and leave a run folder behind."""
    learner = make_learner(config)
    total = config.games + (config.greedy_games if isinstance(config, TDBackupConfig) else 0)
    finished = experiment.run(config, "games", total, learner.player, train(learner))
    write_report(finished.folder, learner)
    experiment.present(finished, "exploitability 0", lambda evaluation: evaluation.unexploitable)


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


def train(learner: Learner) -> Iterator[Record]:
    """Play the games that are still to be played, and evaluate every `eval_every` of them and at the end."""
    learner.play(0)  # compiles the loop or loads it, which is not training
    training = 0.0
    for play, games in stages(learner):
        started = time.perf_counter()
        counts = play_in_slices(play, games)
        seconds = time.perf_counter() - started
        training += seconds
        if not np.isfinite(learner.table).all():
            raise UserError("the values are no longer finite numbers; start from smaller ones")
        rates = {"time/games_per_s": games / seconds, "time/training_s": training}
        yield Record(learner.games_played, evaluate(learner.player(), learner.rules), shares(counts) | rates)


def stages(learner: Learner) -> Iterator[tuple[Callable[[int], NDArray[np.int8]], int]]:
    """Yield what to play, and how many games of it, between one evaluation and the next."""
    config = learner.config
    while learner.games_played < config.games:
        yield learner.play, min(config.eval_every, config.games - learner.games_played)
    if config.games == 0:
        yield learner.play, 0
    if isinstance(learner, TDBackup):
        yield learner.play_greedily, learner.config.greedy_games


def play_in_slices(play: Callable[[int], NDArray[np.int8]], games: int) -> Counts:
    """Play so many games, never more than a slice at once, and count how they ended."""
    slices = (play(min(SLICE, games - done)) for done in range(0, games, SLICE))
    return Counts(*map(sum, zip(Counts(), *map(count, slices), strict=True)))


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
