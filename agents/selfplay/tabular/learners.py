"""The four tabular learners: what each learns, in words, around its compiled loop in `selfplay.tabular.kernels`.

Each is a `selfplay.Learner` whose steps are games.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from selfplay.errors import UserError
from selfplay.files import write_csv, write_whole
from selfplay.plot_style import png
from selfplay.tabular import kernels
from selfplay.tabular.config import (
    LARGEST_VALUE,
    AfterstateQConfig,
    MinimaxQConfig,
    TabularConfig,
    TDBackupConfig,
    TDValueConfig,
    table_shape,
)
from selfplay.tabular.game_outcomes import (
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
from selfplay.tabular.tabular_players import TABLE, TabularPlayer, make_player, reachable_rows
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.tree import FloatArray, IntArray, game_tree

SLICE = 200_000
"""Games in one call of a compiled loop, which Ctrl-C cannot interrupt."""
MOST_GAMES = 10**15
"""Upper bound for the counts in a state that is restored."""
CURVE_GAMES = 100_000
"""Upper bound for the games in a plot of learning curves, each a line of CSV: the first ones of the run."""
GROUP = 500
"""Greedy games in one bar of a plot."""
MOST_GROUPS = 20
"""Upper bound for the bars; with more greedy games each bar holds more."""
MATCH_UPS: Mapping[str, Literal[0, 1, "none"]] = {
    "random against random": "none",
    "learner against random": 0,
    "random against learner": 1,
}
"""The learner's seat in each of the published match-ups of afterstate-q; the first seat is named first."""


class TabularLearner:
    """A value table that is learned from whole games, each with its own updates.

    `table` is float64; `has_line` [2^A] says which marks of one seat hold a line; `powers` [A] is 3^i, what the first
    seat's mark in cell i adds to the row of the table.
    """

    config: TabularConfig

    def __init__(self, config: TabularConfig) -> None:
        self.config = config
        self.rules = config.rules
        self.steps = 0
        """Games so far."""
        self.plies = 0
        self.rng = np.random.Generator(np.random.PCG64(config.seed))
        self.has_line = self.rules.has_line(np.arange(2**self.rules.cells))
        self.powers = 3 ** np.arange(self.rules.cells)
        self.table: FloatArray = np.zeros(table_shape(config))
        self.counts = np.zeros(5, dtype=np.int64)
        """How the games since the last call of `metrics` ended, as `count` returns it."""

    def advance(self, most: int) -> None:
        """Play and learn for a moment: at most this many games, and fewer if Ctrl-C would have to wait for them."""
        outcomes = self.play(min(most, SLICE))
        self.counts += count(outcomes)

    def play(self, games: int) -> kernels.Outcomes:
        """Play and learn; return the outcome of each game, [games] int8, as the kernels define it.

        Several calls in a row leave the same bits as one call with as many games.
        """
        outcomes = np.empty(games, dtype=np.int8)
        self.plies += self.run_kernel(outcomes)
        self.steps += games
        return outcomes

    def run_kernel(self, outcomes: kernels.Outcomes) -> int:
        """Play and learn in the compiled loop, fill `outcomes` [games], and return the plies."""
        raise NotImplementedError

    def player(self) -> TabularPlayer:
        """Return the current greedy player; it shares the table, which keeps changing."""
        return make_player(self.config, self.table)

    def metrics(self) -> dict[str, float]:
        """Return the fraction of games with each result since the last call, by TensorBoard tag."""
        metrics = shares(self.counts)
        self.counts[:] = 0
        return metrics

    def state(self) -> dict[str, Any]:
        """Return the table itself, not a copy, and the counters and the state of the random generator for JSON."""
        return {
            TABLE: self.table,
            "games": self.steps,
            "plies": self.plies,
            "counts": self.counts.tolist(),
            "generator": self.rng.bit_generator.state,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that `state` returned; a refused one changes nothing.

        Raises:
            UserError: it is not a state of this learner.
        """
        check_state(state, self.table.shape)
        self.rng.bit_generator.state = state["generator"]
        self.table[:] = state[TABLE]
        self.steps = state["games"]
        self.plies = state["plies"]
        self.counts[:] = state["counts"]


def check_state(state: Mapping[str, Any], table_shape: Sequence[int]) -> None:
    """Check what the file of a stranger could hold: with a NaN in the table a compiled loop would never end.

    Raises:
        UserError: this is not the state of a learner with a table of this shape.
    """
    missing = {TABLE, "games", "plies", "counts", "generator"} - state.keys()
    if missing:
        raise UserError(f"the state of a tabular learner lacks {', '.join(sorted(missing))}")
    table = state[TABLE]
    if not isinstance(table, np.ndarray) or table.dtype != np.float64 or table.shape != table_shape:
        raise UserError(f"{TABLE} must be a float64 array of shape {table_shape}")
    if not (np.abs(table) <= LARGEST_VALUE).all():  # false for NaN too
        raise UserError(f"{TABLE} must hold numbers between -{LARGEST_VALUE:g} and {LARGEST_VALUE:g}")
    counts = state["counts"]
    if not isinstance(counts, list) or len(counts) != 5 or not all(is_count(each) for each in counts):
        raise UserError(f"counts must be 5 integers between 0 and {MOST_GAMES:,}, got {counts!r:.80}")
    for name in ("games", "plies"):
        if not is_count(state[name]):
            raise UserError(f"{name} must be an integer between 0 and {MOST_GAMES:,}, got {state[name]!r:.80}")
    try:
        np.random.PCG64().state = state["generator"]
    except (TypeError, ValueError, KeyError, OverflowError):
        raise UserError("generator must be the state of a PCG64 random generator") from None


def is_count(value: Any) -> bool:
    """Return whether a value can be a number of games."""
    return type(value) is int and 0 <= value <= MOST_GAMES


class MinimaxQ(TabularLearner):
    """Minimax Q by self-play: one table of action values, which one seat raises and the other lowers.

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

    def __init__(self, config: MinimaxQConfig) -> None:
        super().__init__(config)
        self.table = self.rng.standard_normal(self.table.shape)
        if config.tables == "separate":
            of_second = self.rng.standard_normal(self.table.shape)
            marks = np.count_nonzero(cells_of_rows(self.rules), axis=1)
            second_to_move = marks % 2 == 1
            self.table[second_to_move] = of_second[second_to_move]
        if config.from_table is not None:
            self.table = read_table(config.from_table)

    def run_kernel(self, outcomes: kernels.Outcomes) -> int:
        """Play and learn in the compiled loop, fill `outcomes` [games], and return the plies."""
        config = self.config
        return kernels.play_minimax_q(
            self.table, self.has_line, self.powers, self.rng, outcomes, config.alpha, config.gamma, config.epsilon
        )

    def write_report(self, folder: Path) -> None:
        """Write the table as CSV."""
        write_csv(folder / "table.csv", self.table.tolist())


class AfterstateQ(TabularLearner):
    """Afterstate values, learned in games against a random opponent and backed up from the end of each game.

    A position reached by a move of the learner is worth 0 until a game has passed through it. The learner plays the
    move to the best one, the first of equals, or with probability `exploration` a random move. When the game is over
    it walks its own afterstates backwards, from r = +1 for a win, -1 for a loss, `draw_reward` for a draw:

        V += alpha * (gamma * r - V),  then r = V

    `table` is [3^A]. Nothing is ever learned of the other seat's afterstates.
    """

    config: AfterstateQConfig

    def run_kernel(self, outcomes: kernels.Outcomes) -> int:
        """Play and learn in the compiled loop, fill `outcomes` [games], and return the plies."""
        config = self.config
        seat = -1 if config.seat == "none" else config.seat
        return kernels.play_afterstate_q(
            self.table,
            self.has_line,
            self.powers,
            self.rng,
            outcomes,
            seat,
            config.alpha,
            config.gamma,
            config.exploration,
            config.draw_reward,
        )

    def write_report(self, folder: Path) -> None:
        """Write the curves of the three match-ups."""
        write_curves_report(folder, match_up_curves(self.config), self.config.seed)


def match_up_curves(config: AfterstateQConfig) -> dict[str, IntArray]:
    """Play the three match-ups of afterstate-q; return cumulative counts by match-up, [games, 3]."""
    curves = {}
    for name, seat in MATCH_UPS.items():
        learner = AfterstateQ(replace(config, seat=seat))
        curves[name] = cumulative_counts(learner.play(min(config.games, CURVE_GAMES)))
    return curves


class TDValue(TabularLearner):
    """The temporal-difference player of Sutton and Barto, Reinforcement Learning, chapter 1.

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

    def __init__(self, config: TDValueConfig) -> None:
        super().__init__(config)
        self.self_play = config.opponent == "self"
        self.choices = choice_table(self.rules, "random" if self.self_play else config.opponent)
        cells = cells_of_rows(self.rules)
        bits = 1 << np.arange(self.rules.cells)
        first_has_line = self.has_line[(cells == 1) @ bits]
        second_has_line = self.has_line[(cells == 2) @ bits]
        full = (cells != 0).all(axis=1)
        self.table[:] = 0.5
        self.table[:, full | first_has_line | second_has_line] = 0
        self.table[0, first_has_line] = 1
        self.table[1, second_has_line] = 1

    def run_kernel(self, outcomes: kernels.Outcomes) -> int:
        """Play and learn in the compiled loop, fill `outcomes` [games], and return the plies."""
        config = self.config
        return kernels.play_td_value(
            self.table,
            self.has_line,
            self.powers,
            self.rng,
            outcomes,
            self.choices,
            self.steps,
            self.self_play,
            config.alpha,
            config.exploration,
            config.back_up_losses,
        )

    def write_report(self, folder: Path) -> None:
        """Write learning curves by the learner's seat."""
        write_curves_report(folder, learning_curves(self.config), self.config.seed)


def choice_table(rules: Rules, opponent: str) -> kernels.Ints:
    """Return the cells among which a built-in opponent picks, as a bitboard per row [3^A], 0 if it has no move."""
    tree = game_tree(rules)
    mover = tree.mover[tree.decisions].astype(np.int64)
    other = tree.opponent[tree.decisions].astype(np.int64)
    table = np.zeros(3**rules.cells, dtype=np.int64)
    table[reachable_rows(rules)[tree.decisions]] = OPPONENTS[opponent].choices(rules, mover, other)
    return table


def learning_curves(config: TDValueConfig) -> dict[str, IntArray]:
    """Return the cumulative counts [games, 3] of td-value's games, by who had the first seat.

    The games are played once more with the same seed, which is quicker than saving them.
    """
    outcomes = TDValue(config).play(min(config.games, CURVE_GAMES))
    if config.opponent == "self":
        return {"learner against learner": cumulative_counts(outcomes)}
    curves = {f"learner against {config.opponent}": cumulative_counts(outcomes[0::2])}
    if len(outcomes) > 1:
        curves[f"{config.opponent} against learner"] = cumulative_counts(outcomes[1::2])
    return curves


class TDBackup(TabularLearner):
    """Afterstate values by self-play, one table for both seats, backed up from the end of each game.

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

    def __init__(self, config: TDBackupConfig) -> None:
        super().__init__(config)
        self.exploit = config.exploit
        self.greedy_outcomes: kernels.Outcomes = np.empty(0, dtype=np.int8)

    def run_kernel(self, outcomes: kernels.Outcomes) -> int:
        """Play and learn in the compiled loop, fill `outcomes` [games], and return the plies."""
        config = self.config
        return kernels.play_td_backup(
            self.table,
            self.has_line,
            self.powers,
            self.rng,
            outcomes,
            config.alpha,
            config.gamma,
            self.exploit,
            (config.draw_first, config.draw_second),
        )

    def finish(self) -> bool:
        """Play the greedy games; they come after the last checkpoint, so that the run can be made longer."""
        self.exploit = 1.0
        self.greedy_outcomes = self.play(self.config.greedy_games)
        self.counts += count(self.greedy_outcomes)
        return True

    def write_report(self, folder: Path) -> None:
        """Write the results of the greedy games in groups, and plot them and the learned values."""
        size = max(GROUP, math.ceil(len(self.greedy_outcomes) / MOST_GROUPS))
        counts = group_counts(self.greedy_outcomes, size)
        lines: list[list[object]] = [["first_game", "last_game", *COLUMNS]]
        games = 0
        for group in counts.tolist():
            lines.append([games + 1, games + sum(group), *group])
            games += sum(group)
        write_csv(folder / "groups.csv", lines)
        write_whole(folder / "groups.png", png(groups_figure(counts, size)))
        write_whole(folder / "values.png", png(density_figure(*self.learned_values())))

    def learned_values(self) -> tuple[FloatArray, FloatArray]:
        """Return the values of winning positions and those of all other positions, as two flat arrays.

        A winning position is one whose last move completed a line. Positions worth exactly 0 are left out: no game
        has passed through them, or every game that did was lost by the seat that had moved.
        """
        values = self.table[reachable_rows(self.rules)]
        won = game_tree(self.rules).lost
        learned = values != 0
        return values[learned & won], values[learned & ~won]


def cells_of_rows(rules: Rules) -> IntArray:
    """Return the cells of each position of a table, [3^A, A]: 0 empty, 1 the first seat's, 2 the second's."""
    cells: IntArray = np.arange(3**rules.cells)[:, None] // 3 ** np.arange(rules.cells) % 3
    return cells


def write_curves_report(folder: Path, curves: Mapping[str, IntArray], seed: int) -> None:
    """Write cumulative counts by match-up, [games, 3], as CSV and as a plot."""
    write_curves(folder / "curves.csv", curves, seed)
    write_whole(folder / "curves.png", png(cumulative_figure(curves)))


def make_learner(config: TabularConfig) -> TabularLearner:
    """Return the learner of these settings before its first game."""
    kinds: Mapping[type, type[Any]] = {
        MinimaxQConfig: MinimaxQ,
        AfterstateQConfig: AfterstateQ,
        TDValueConfig: TDValue,
        TDBackupConfig: TDBackup,
    }
    learner: TabularLearner = kinds[type(config)](config)
    learner.play(0)  # compiles the loop or loads it, which is not learning
    return learner
