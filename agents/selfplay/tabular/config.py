"""What can be set for the published tabular learners: one dataclass each, with the published settings as defaults.

It imports neither torch nor numba.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from selfplay.checks import check_counts, check_fractions, require
from selfplay.errors import UserError
from selfplay.settings import RunSettings
from tictactoe import Rules

TABLE_CELLS = 16
"""Cells of the largest board that a table is made for: 3^16 values are 0.3 GiB, and every cell more triples that."""
MOST_GREEDY_GAMES = 100_000


@dataclass(frozen=True)
class MinimaxQConfig(RunSettings):
    """Train minimax Q-learning by self-play on 3,3,3.

    Source: Littman (1994), Markov games as a framework for multi-agent reinforcement learning; the settings are those
        of a published learner. What is learned stands in `selfplay.tabular.minimax_q`.

    Raises:
        UserError: a setting has a value that it cannot have, alone or beside the others.
    """

    algorithm: ClassVar[str] = "minimax-q"

    games: int = 10_000_000
    """Games of self-play; 0 with --from-table proves that table as it is."""
    eval_every: int = 500_000
    """Games between exact evaluations. One takes as long as some 30,000 games, so at this spacing they cost little."""
    tables: Literal["shared", "separate"] = "shared"
    """One table for both seats, or one per seat."""
    from_table: Path | None = None
    """CSV file to start from instead of random numbers: 19,683 lines of 9 numbers, as in a run's table.csv."""
    alpha: float = 0.1
    """Step size: the part of the way that a value moves to its target."""
    gamma: float = 0.9
    """Discount per ply."""
    epsilon: float = 0.6
    """Probability of playing one of the nine cells at random, taken ones included."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.games == 0:
            require(self.from_table is not None, "games", "at least 1, or 0 with --from-table", 0)
        else:
            check_counts(self, "games")
        check_fractions(self, "gamma", "epsilon")
        require(0 < self.alpha <= 1, "alpha", "above 0 and at most 1", self.alpha)

    @property
    def table_shape(self) -> tuple[int, ...]:
        """Return the shape of the table, [1 or 2, 3^A, A]."""
        return (1 if self.tables == "shared" else 2, 3**self.rules.cells, self.rules.cells)


@dataclass(frozen=True)
class AfterstateQConfig(RunSettings):
    """Train afterstate values against a random opponent on 3,3,3.

    The settings are those of a published learner; what is learned stands in `selfplay.tabular.afterstate_q`.

    Raises:
        UserError: a setting has a value that it cannot have, alone or beside the others.
    """

    algorithm: ClassVar[str] = "afterstate-q"

    games: int = 10_000
    """Games against the random opponent."""
    eval_every: int = 500
    """Games between exact evaluations; one takes longer than these games do."""
    seat: Literal[0, 1, "none"] = 0
    """The learner's seat; "none" lets two random players meet, and nothing is learned."""
    alpha: float = 0.2
    """Step size: the part of the way that a value moves to its target."""
    gamma: float = 0.8
    """Discount per move of the learner, the last one included."""
    exploration: float = 0.1
    """Probability of a random move."""
    draw_reward: float = 0.1
    """What a draw is worth between a loss, -1, and a win, +1; the published text has 0.2, its program 0.1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(self, "games")
        check_fractions(self, "gamma", "exploration")
        require(0 < self.alpha <= 1, "alpha", "above 0 and at most 1", self.alpha)
        require(-1 <= self.draw_reward <= 1, "draw_reward", "between -1 and 1", self.draw_reward)

    @property
    def table_shape(self) -> tuple[int, ...]:
        """Return the shape of the table, [3^A]."""
        return (3**self.rules.cells,)


@dataclass(frozen=True)
class TDValueConfig(RunSettings):
    """Train the value tables of Sutton and Barto's first chapter on 3,3,3.

    Source: Sutton and Barto (2018), Reinforcement Learning, 2nd edition, section 1.5; exercise 1.1 is
        `opponent="self"`. What is learned stands in `selfplay.tabular.td_value`.

    Raises:
        UserError: a setting has a value that it cannot have, alone or beside the others.
    """

    algorithm: ClassVar[str] = "td-value"

    games: int = 100_000
    """Games to learn from."""
    eval_every: int = 5_000
    """Games between exact evaluations; one takes about as long as these games do."""
    opponent: Literal["random", "heuristic", "optimal", "self"] = "random"
    """Who plays the other seat; "self" is a second learner."""
    alpha: float = 0.1
    """Step size: the part of the way that a value moves to its successor's."""
    exploration: float = 0.1
    """Probability of a random move, after which nothing is backed up."""
    back_up_losses: bool = True
    """Back up the lost position after the opponent's winning move as well."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(self, "games")
        check_fractions(self, "exploration")
        require(0 < self.alpha <= 1, "alpha", "above 0 and at most 1", self.alpha)

    @property
    def table_shape(self) -> tuple[int, ...]:
        """Return the shape of the tables, [2, 3^A]."""
        return (2, 3**self.rules.cells)


@dataclass(frozen=True)
class TDBackupConfig(RunSettings):
    """Train afterstate values by self-play, on any board whose table fits.

    The settings are those of a published learner; what is learned stands in `selfplay.tabular.td_backup`.

    Raises:
        UserError: a setting has a value that it cannot have, alone or beside the others.
    """

    algorithm: ClassVar[str] = "td-backup"

    rows: int = 3
    """Board height, cells."""
    cols: int = 3
    """Board width, cells."""
    k: int = 3
    """Marks in a row that win."""
    games: int = 100_000
    """Games of self-play with the probability `exploit`."""
    greedy_games: int = 2_500
    """Games after these that always exploit, and still learn."""
    eval_every: int = 10_000
    """Games between exact evaluations. Above 12 cells one takes up to some seconds."""
    exploit: float = 0.8
    """Probability of moving to the best-valued board instead of at random."""
    alpha: float = 0.35
    """Step size: the part of the way that a value moves to its target."""
    gamma: float = 0.9
    """Discount per move of one seat, the last one included."""
    draw_first: float = 0.1
    """What a draw is worth to the first seat between a loss, 0, and a win, 1."""
    draw_second: float = 0.5
    """What a draw is worth to the second seat."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(self, "games", "greedy_games")
        wanted = f"at most {MOST_GREEDY_GAMES:,}, which are reported one by one"
        require(self.greedy_games <= MOST_GREEDY_GAMES, "greedy_games", wanted, self.greedy_games)
        check_fractions(self, "exploit", "gamma", "draw_first", "draw_second")
        require(0 < self.alpha <= 1, "alpha", "above 0 and at most 1", self.alpha)
        try:
            rules = self.rules
        except ValueError as error:
            raise UserError(str(error)) from None
        check_table_fits(rules)

    @property
    def rules(self) -> Rules:
        """Return the rules of the board."""
        return Rules(self.rows, self.cols, self.k)

    @property
    def table_shape(self) -> tuple[int, ...]:
        """Return the shape of the table, [3^A]."""
        return (3**self.rules.cells,)


TabularConfig: TypeAlias = MinimaxQConfig | AfterstateQConfig | TDValueConfig | TDBackupConfig


def check_table_fits(rules: Rules) -> None:
    """Refuse a board whose table would not fit into memory.

    Raises:
        UserError: the board has more than 16 cells.
    """
    if rules.cells > TABLE_CELLS:
        raise UserError(
            f"a table for a {rules.rows}x{rules.cols} board holds 3^{rules.cells} values of 8 bytes: "
            f"choose --rows and --cols with at most {TABLE_CELLS} cells"
        )
