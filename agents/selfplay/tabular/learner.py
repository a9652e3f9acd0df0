"""The tabular algorithms as learners: games in compiled slices, how they end, and what each reports besides."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.checks import LARGEST
from selfplay.errors import UserError
from selfplay.files import write_whole
from selfplay.learner import State
from selfplay.tabular.afterstate_q import AfterstateQ, match_up_curves
from selfplay.tabular.boards import IntArray
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.minimax_q import MinimaxQ, one_table, write_table
from selfplay.tabular.outcomes import Counts, count, cumulative_counts, group_counts, shares, write_curves, write_groups
from selfplay.tabular.pictures import cumulative_figure, density_figure, groups_figure
from selfplay.tabular.players import TABLE, AfterstatePlayer, MinimaxQPlayer
from selfplay.tabular.td_backup import TDBackup, learned_values
from selfplay.tabular.td_value import TDValue
from selfplay.training.pictures import png

Algorithm: TypeAlias = MinimaxQ | AfterstateQ | TDValue | TDBackup

SLICE = 200_000
"""Games in one call of a compiled loop, which Ctrl-C cannot interrupt."""
CURVE_GAMES = 100_000
"""Games that curves are drawn of at most: the first ones, with a line of CSV each."""
GROUP, MOST_GROUPS = 500, 20
"""Greedy games in one bar, unless that makes too many bars."""


class TabularLearner:
    """Learn by whole games; every one has its own updates."""

    stride = 1
    updates = None
    takes_counterexamples = False

    def __init__(self, config: TabularConfig) -> None:
        self.config = config
        self.algorithm = make_algorithm(config)
        self.counts = Counts()
        """How the games since the last evaluation have ended."""
        self.algorithm.play(0)  # compiles the loop or loads it, which is not learning

    @property
    def steps(self) -> int:
        """Return the games played so far."""
        return self.algorithm.games_played

    def advance(self, most: int) -> None:
        """Play so many games, or fewer where Ctrl-C would have to wait for them."""
        self._count(self.algorithm.play(min(most, SLICE)))

    def finish(self) -> bool:
        """Play td-backup's greedy games; they come after the last checkpoint, so that the run can be made longer."""
        if not isinstance(self.algorithm, TDBackup):
            return False
        self._count(self.algorithm.play_greedily(self.algorithm.config.greedy_games))
        return True

    def _count(self, outcomes: np.ndarray[Any, np.dtype[np.int8]]) -> None:
        self.counts = Counts(*map(sum, zip(self.counts, count(outcomes), strict=True)))

    def check_finite(self) -> None:
        """Stop a run whose values have overflowed, before a player or a checkpoint of them is kept.

        Raises:
            UserError: a value is not a finite number.
        """
        if not np.isfinite(self.algorithm.table).all():
            raise UserError("the values are no longer finite numbers; start from smaller ones")

    def teach(self, mover: NDArray[np.integer], opponent: NDArray[np.integer]) -> None:
        """Learn nothing from it: its games are those that were published."""

    def player(self) -> AfterstatePlayer | MinimaxQPlayer:
        """Return a greedy player that has the table as it is now."""
        return self.algorithm.player()

    def metrics(self) -> dict[str, float]:
        """Return what part of the games since it was last asked ended how, by TensorBoard tag."""
        metrics = shares(self.counts)
        self.counts = Counts()
        return metrics

    def state(self) -> State:
        """Return the table, the counts and how the random stream stands."""
        counters = {
            "counts": self.counts._asdict(),
            "games_played": self.algorithm.games_played,
            "generator": dict(self.algorithm.rng.bit_generator.state),
        }
        return State({TABLE: torch.from_numpy(self.algorithm.table)}, counters)

    def restore(self, state: State, _written_with: Mapping[str, Any]) -> None:
        """Become what `state` said earlier.

        Raises:
            UserError: no such run can have stood so.
        """
        counts, played, generator = (state.counters[name] for name in ("counts", "games_played", "generator"))
        if not sum(counts.values()) <= played <= LARGEST:
            raise UserError("its checkpoint is not one of such a run; start a new run")
        try:
            self.algorithm.rng.bit_generator.state = generator
        except (ValueError, TypeError, OverflowError) as error:
            raise UserError(f"its checkpoint holds no state of a generator: {error}") from None
        self.algorithm.table[:] = state.tensors[TABLE].numpy()
        self.algorithm.games_played = played
        self.counts = Counts(**counts)

    def notes(self) -> Mapping[str, str]:
        """Return nothing: the settings say it all."""
        return {}

    def write_report(self, folder: Path) -> None:
        """Write what the published system shows beside the evaluation, as CSV files and pictures."""
        match self.algorithm:
            case MinimaxQ(table=table):
                write_table(folder / "table.csv", one_table(table))
            case AfterstateQ(config=config):
                shown = replace(config, games=min(config.games, CURVE_GAMES))
                _write_curves(folder, match_up_curves(shown, [config.seed]), config.seed)
            case TDValue(config=config):
                _write_curves(folder, learning_curves(config), config.seed)
            case TDBackup(rules=rules, table=table, greedy_outcomes=outcomes):
                size = max(GROUP, -(-len(outcomes) // MOST_GROUPS))
                counts = group_counts(outcomes, size)
                write_groups(folder / "groups.csv", counts)
                write_whole(folder / "groups.png", png(groups_figure(counts, size)))
                write_whole(folder / "values.png", png(density_figure(*learned_values(rules, table))))


def make_algorithm(config: TabularConfig) -> Algorithm:
    """Return the algorithm of these settings as it is before its first game."""
    match config:
        case MinimaxQConfig():
            return MinimaxQ(config)
        case AfterstateQConfig():
            return AfterstateQ(config)
        case TDValueConfig():
            return TDValue(config)
        case TDBackupConfig():
            return TDBackup(config)


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
