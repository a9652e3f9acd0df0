"""The four tabular learners: what each learns, in words, around its compiled loop in `selfplay.tabular.kernels`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import torch

from selfplay.errors import UserError
from selfplay.files import write_csv, write_whole
from selfplay.learner import RunLearner, State
from selfplay.learning.plots import png
from selfplay.tabular import kernels
from selfplay.tabular.config import (
    AfterstateQConfig,
    MinimaxQConfig,
    TabularConfig,
    TDBackupConfig,
    TDValueConfig,
    table_shape,
)
from selfplay.tabular.players import TABLE, AfterstatePlayer, MinimaxQPlayer, reachable_rows
from selfplay.tabular.results import (
    COLUMNS,
    count,
    cumulative_counts,
    cumulative_figure,
    density_figure,
    group_counts,
    groups_figure,
    shares,
    write_curves,
)
from selfplay.tabular.table_csv import read_table
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.tree import FloatArray, IntArray, game_tree

SLICE = 200_000
"""Games in one call of a compiled loop, which Ctrl-C cannot interrupt."""
CURVE_GAMES = 100_000
"""Upper bound for the games in a plot of learning curves, each a line of CSV: the first ones of the run."""
GROUP, MOST_GROUPS = 500, 20
"""Greedy games in one bar, and upper bound for the bars, which hold more games if there were too many."""
MATCH_UPS: Mapping[str, Literal[0, 1, "none"]] = MappingProxyType(
    {"random against random": "none", "learner against random": 0, "random against learner": 1}
)
"""The learner's seat in each of the published match-ups of afterstate-q; the first seat is named first."""


class TabularLearner(RunLearner):
    """Learn a value table from whole games, each with its own updates.

    `table` is float64; `has_line` [2^A] says which marks of one seat hold a line; `powers` [A] is 3^i, what the first
    seat's mark in cell i adds to the row of the table.
    """

    config: TabularConfig
    kernel: Callable[..., None]
    """The compiled loop."""
    steps = 0

    def __init__(self, config: TabularConfig) -> None:
        self.config = config
        self.rules = config.rules
        self.rng = np.random.Generator(np.random.PCG64(config.seed))
        self.has_line = self.rules.has_line(np.arange(2**self.rules.cells))
        self.powers = 3 ** np.arange(self.rules.cells)
        self.table = self.initial_table()
        self.counts = count(np.empty(0, dtype=np.int8))
        """How the games since the last evaluation ended."""
        self.play(0)  # compiles the loop or loads it, which is not learning

    def initial_table(self) -> FloatArray:
        """Return the table before the first game: zeros, unless a learner says otherwise."""
        return np.zeros(table_shape(self.config))

    def play(self, games: int) -> kernels.Outcomes:
        """Play and learn; return the outcome of each game, [games] int8, as the kernels define it.

        Several calls in a row leave the same bits as one call with as many games.
        """
        outcomes = np.empty(games, dtype=np.int8)
        self.kernel(self.table, self.has_line, self.powers, self.rng, outcomes, *self.arguments())
        self.steps += games
        return outcomes

    def arguments(self) -> tuple[Any, ...]:
        """Return what the compiled loop of this learner alone takes."""
        raise NotImplementedError

    def advance(self, most: int) -> None:
        """Play at most this many games, and fewer if Ctrl-C would have to wait for them."""
        self.counts += count(self.play(min(most, SLICE)))

    def check_finite(self) -> None:
        """Stop a run whose values have overflowed, before a player or a checkpoint is saved.

        Raises:
            UserError: a value is not a finite number.
        """
        if not np.isfinite(self.table).all():
            raise UserError("the values are no longer finite numbers; start from smaller ones")

    def player(self) -> AfterstatePlayer | MinimaxQPlayer:
        """Return the current greedy player, whose table goes on learning."""
        return AfterstatePlayer(self.rules, self.table)

    def metrics(self) -> dict[str, float]:
        """Return the fraction of games with each result since the last call, by TensorBoard tag."""
        metrics = shares(self.counts)
        self.counts = np.zeros_like(self.counts)
        return metrics

    def state(self) -> State:
        """Return the table, the counts and the state of the random generator."""
        counters = {
            "counts": self.counts.tolist(),
            "games_played": self.steps,
            "generator": dict(self.rng.bit_generator.state),
        }
        return State({TABLE: torch.from_numpy(self.table)}, counters)

    def restore(self, state: State, _written_with: Mapping[str, Any]) -> None:
        """Restore a state returned by `state`."""
        self.table[:] = state.tensors[TABLE].numpy()
        self.rng.bit_generator.state = state.counters["generator"]
        self.steps = state.counters["games_played"]
        self.counts = np.array(state.counters["counts"])


class MinimaxQ(TabularLearner):
    """Learn minimax Q by self-play: one table of action values, which one seat raises and the other lowers.

    The reward is +1 if the first seat wins, -1 if the second does, 0 for a draw. After every ply

        Q(s, a) += alpha * (target - Q(s, a))

    where the target is the reward if the game is over, else gamma times the highest Q(s', a') if the first seat is to
    move in s', the lowest if the second is. All cells are open in every position, and a taken one loses.

    A position tells whose turn it is, so the tables of two seats would never use the same row. With separate
    tables the rows of the second seat therefore get initial numbers of their own, and one array holds both.

    `table` is [3^A, A]: standard normal at first, or as in the CSV file that the settings name.

    Raises:
        UserError: that file cannot be read or holds no such table.
    """

    config: MinimaxQConfig
    kernel = staticmethod(kernels.play_minimax_q)

    def initial_table(self) -> FloatArray:
        """Return random numbers, or the table that the settings name."""
        table = self.rng.standard_normal(table_shape(self.config))
        if self.config.tables == "separate":
            marks = (np.arange(len(table))[:, None] // self.powers % 3 > 0).sum(axis=1)
            table = np.where(marks[:, None] % 2 == 0, table, self.rng.standard_normal(table.shape))
        return read_table(self.config.from_table) if self.config.from_table else table

    def arguments(self) -> tuple[Any, ...]:
        """Return the settings."""
        return self.config.alpha, self.config.gamma, self.config.epsilon

    def player(self) -> MinimaxQPlayer:
        """Return the current greedy player, whose table goes on learning."""
        return MinimaxQPlayer(self.rules, self.table)

    def write_report(self, folder: Path) -> None:
        """Write the table as CSV."""
        write_csv(folder / "table.csv", self.table.tolist())


class AfterstateQ(TabularLearner):
    """Learn afterstate values in games against a random opponent, backed up from the end of each game.

    A position reached by a move of the learner is worth 0 until a game has passed through it. The learner plays the
    move to the best one, the first of equals, or with probability `exploration` a random move. When the game is over
    it walks its own afterstates backwards, from r = +1 for a win, -1 for a loss, `draw_reward` for a draw:

        V += alpha * (gamma * r - V),  then r = V

    `table` is [3^A]. Nothing is ever learned of the other seat's afterstates.
    """

    config: AfterstateQConfig
    kernel = staticmethod(kernels.play_afterstate_q)

    def arguments(self) -> tuple[Any, ...]:
        """Return the learner's seat and the settings."""
        config = self.config
        seat = -1 if config.seat == "none" else config.seat
        return seat, config.alpha, config.gamma, config.exploration, config.draw_reward

    def write_report(self, folder: Path) -> None:
        """Write the curves of the three match-ups."""
        shown = replace(self.config, games=min(self.config.games, CURVE_GAMES))
        _write_curves(folder, match_up_curves(shown, [self.config.seed]), self.config.seed)


def match_up_curves(config: AfterstateQConfig, seeds: Sequence[int]) -> dict[str, IntArray]:
    """Play the three match-ups of afterstate-q; return cumulative counts by match-up, [seeds, games, 3]."""

    def counts(seat: Literal[0, 1, "none"], seed: int) -> IntArray:
        return cumulative_counts(AfterstateQ(replace(config, seat=seat, seed=seed)).play(config.games))

    return {name: np.stack([counts(seat, seed) for seed in seeds]) for name, seat in MATCH_UPS.items()}


class TDValue(TabularLearner):
    """Learn as the temporal-difference player of Sutton and Barto, Reinforcement Learning, chapter 1.

    From a learner's own seat a position that it has won is worth 1, one that is lost or full 0, and every other 0.5 at
    first. It plays the move to the best afterstate, the first of equals, or with the exploration rate a random one.
    After each move that was not random

        V(s) += alpha * (V(s') - V(s))

    where s' is the afterstate of the move and s that of the learner's previous move; its first move has none. With
    `back_up_losses` its last afterstate also moves towards the lost position after the opponent's winning move, even
    if a random move led to that afterstate. A draw that the opponent's move completes is never backed up.

    The learner takes the two seats in turn, the first seat first, with a table for each. In self-play (the book's
    exercise 1.1) two learners, one per seat, play every game and both learn from it.

    The published description leaves open alpha, the exploration rate and the number of games; the defaults are ours.

    `table` is [2, 3^A]: the value of every position from the first and from the second seat.
    """

    config: TDValueConfig
    kernel = staticmethod(kernels.play_td_value)

    def __init__(self, config: TDValueConfig) -> None:
        self.choices = choice_table(config.rules, "random" if config.opponent == "self" else config.opponent)
        super().__init__(config)

    def initial_table(self) -> FloatArray:
        """Return 1 for positions that a seat has won, 0 for those lost or full, else 0.5."""
        cells = np.arange(3**self.rules.cells)[:, None] // self.powers % 3
        bits = 1 << np.arange(self.rules.cells)
        first, second = (self.has_line[(cells == mark) @ bits] for mark in (1, 2))
        full = (cells != 0).all(axis=1)
        return np.stack(
            [np.where(won, 1.0, np.where(lost | full, 0.0, 0.5)) for won, lost in ((first, second), (second, first))]
        )

    def arguments(self) -> tuple[Any, ...]:
        """Return what the opponent does, the games before these, and the settings."""
        config, self_play = self.config, self.config.opponent == "self"
        return self.choices, self.steps, self_play, config.alpha, config.exploration, config.back_up_losses

    def write_report(self, folder: Path) -> None:
        """Write learning curves by the learner's seat."""
        _write_curves(folder, learning_curves(self.config), self.config.seed)


def choice_table(rules: Rules, opponent: str) -> IntArray:
    """Return the cells among which a built-in opponent picks, as a bitboard per row [3^A], 0 if it has no move."""
    tree, table = game_tree(rules), np.zeros(3**rules.cells, dtype=np.int64)
    states = tree.decisions
    mover, other = tree.mover[states].astype(np.int64), tree.opponent[states].astype(np.int64)
    table[reachable_rows(rules)[states]] = OPPONENTS[opponent](rules, mover, other)
    return table


def learning_curves(config: TDValueConfig) -> dict[str, IntArray]:
    """Return the cumulative counts [1, games, 3] of td-value's games, by who had the first seat.

    The games are played once more with the same seed, which is quicker than saving them.
    """
    outcomes = TDValue(config).play(min(config.games, CURVE_GAMES))
    if config.opponent == "self":
        return {"learner against learner": cumulative_counts(outcomes)[None]}
    by_seat = {
        f"learner against {config.opponent}": outcomes[0::2],
        f"{config.opponent} against learner": outcomes[1::2],
    }
    return {name: cumulative_counts(played)[None] for name, played in by_seat.items() if len(played)}


class TDBackup(TabularLearner):
    """Learn afterstate values by self-play, one table for both seats, backed up from the end of each game.

    A board after a move is worth 0 at first. With probability `exploit` the mover goes to the best-valued board, a
    random one of equals, else anywhere at random. When the game is over each seat's own afterstates are walked
    backwards, from r = 1 for the winner, 0 for the loser, and for a draw `draw_first` or `draw_second`:

        V += alpha * (gamma * r - V),  then r = V

    The last games are greedy, with `exploit` 1, and learn too.

    The published hash counts a cell as its mark + 1, so O is 0 and an empty cell 1. Here an empty cell is 0, as in
    every table of this package: the rows are in another order and nothing else differs.

    `table` is [3^A]: the value of each board to the seat that has just moved.
    """

    config: TDBackupConfig
    kernel = staticmethod(kernels.play_td_backup)

    def __init__(self, config: TDBackupConfig) -> None:
        self.exploit = config.exploit
        self.greedy_outcomes: kernels.Outcomes = np.empty(0, dtype=np.int8)
        super().__init__(config)

    def arguments(self) -> tuple[Any, ...]:
        """Return the settings, and the probability to exploit, which is higher in the end."""
        config = self.config
        return config.alpha, config.gamma, self.exploit, config.draw_first, config.draw_second

    def finish(self) -> bool:
        """Play the greedy games; they come after the last checkpoint, so that the run can be made longer."""
        self.exploit = 1.0
        self.greedy_outcomes = self.play(self.config.greedy_games)
        self.counts += count(self.greedy_outcomes)
        return True

    def write_report(self, folder: Path) -> None:
        """Write the results of the greedy games in groups, and plot them and the learned values."""
        size = max(GROUP, -(-len(self.greedy_outcomes) // MOST_GROUPS))
        counts = group_counts(self.greedy_outcomes, size)
        last = counts.sum(axis=1).cumsum()
        lines = np.column_stack([last - counts.sum(axis=1) + 1, last, counts]).tolist()
        write_csv(folder / "groups.csv", [["first_game", "last_game", *COLUMNS], *lines])
        write_whole(folder / "groups.png", png(groups_figure(counts, size)))
        write_whole(folder / "values.png", png(density_figure(*self.learned_values())))

    def learned_values(self) -> tuple[FloatArray, FloatArray]:
        """Return the values of winning positions and those of all other positions, as two flat arrays.

        A winning position is one whose last move completed a line. Positions worth exactly 0 are left out: no game
        has passed through them, or every game that did was lost by the seat that had moved.
        """
        values, won = self.table[reachable_rows(self.rules)], game_tree(self.rules).lost
        learned = values != 0
        return values[learned & won], values[learned & ~won]


def _write_curves(folder: Path, curves: dict[str, IntArray], seed: int) -> None:
    write_curves(folder / "curves.csv", curves, [seed])
    write_whole(folder / "curves.png", png(cumulative_figure(curves)))


def make_learner(config: TabularConfig) -> TabularLearner:
    """Return the learner of these settings before its first game."""
    kinds: Mapping[Any, type[TabularLearner]] = {
        MinimaxQConfig: MinimaxQ,
        AfterstateQConfig: AfterstateQ,
        TDValueConfig: TDValue,
        TDBackupConfig: TDBackup,
    }
    return kinds[type(config)](config)
