"""The settings of the published tabular learners: one dataclass each, with the published settings as defaults.

It imports neither torch nor numba.
"""

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from selfplay.settings import (
    Count,
    CountOrZero,
    Fraction,
    Integer,
    Place,
    RunSettings,
    SettingsError,
    StepSize,
    checked,
    require,
)
from tictactoe import Rules
from tictactoe.rules import refuse_unknown_rules

TABLE_CELLS = 16
"""Cells of the largest board that a table is made for: 3^16 values are 0.3 GiB, and every cell more triples that."""
LARGEST_VALUE = 1e100
"""Upper bound for the size of a value in a table that is read, from which no update overflows."""


@checked
class MinimaxQConfig(RunSettings):
    """Train minimax Q-learning by self-play on 3,3,3.

    Source: Littman (1994), Markov games as a framework for multi-agent reinforcement learning; the settings are those
        of a published learner. The learner is `selfplay.tabular.learners.MinimaxQ`.

    Raises:
        SettingsError: a value is not allowed, by itself or together with the others.
    """

    algorithm: ClassVar[str] = "minimax-q"

    games: CountOrZero = 10_000_000
    """Games of self-play; 0 with --from-table proves that table as it is."""
    eval_every: Count = 500_000
    """Games between exact evaluations. One takes as long as about 30,000 games, so at this spacing they cost little."""
    tables: Literal["shared", "separate"] = "shared"
    """One table for both seats, or one per seat. A position tells whose turn it is, so only the initial numbers
    differ."""
    from_table: Place | None = None
    """CSV file to start from instead of random numbers: 19,683 lines of 9 numbers, as in a run's table.csv."""
    alpha: StepSize = 0.1
    """Step size: the part of the way that a value moves to its target."""
    gamma: Fraction = 0.9
    """Discount per ply."""
    epsilon: Fraction = 0.6
    """Probability of playing one of the nine cells at random, taken ones included."""

    def __post_init__(self) -> None:
        possible = self.games > 0 or self.from_table is not None
        require(possible, "games", "at least 1, or 0 with `from_table`", self.games)


@checked
class AfterstateQConfig(RunSettings):
    """Train afterstate values against a random opponent on 3,3,3.

    The settings are those of a published learner; the learner is `selfplay.tabular.learners.AfterstateQ`.

    Raises:
        SettingsError: a value is not allowed, by itself or together with the others.
    """

    algorithm: ClassVar[str] = "afterstate-q"

    games: Count = 10_000
    """Games against the random opponent."""
    eval_every: Count = 500
    """Games between exact evaluations; one takes longer than these games do."""
    seat: Literal[0, 1, "none"] = 0
    """The learner's seat; "none" lets two random players meet, and nothing is learned."""
    alpha: StepSize = 0.2
    """Step size: the part of the way that a value moves to its target."""
    gamma: Fraction = 0.8
    """Discount per move of the learner, the last one included."""
    exploration: Fraction = 0.1
    """Probability of a random move."""
    draw_reward: Annotated[float, Field(ge=-1, le=1)] = 0.1
    """The worth of a draw between a loss, -1, and a win, +1; the published text has 0.2, its program 0.1."""


@checked
class TDValueConfig(RunSettings):
    """Train the value tables of Sutton and Barto's first chapter on 3,3,3.

    Source: Sutton and Barto (2018), Reinforcement Learning, 2nd edition, section 1.5; exercise 1.1 is
        `opponent="self"`. The learner is `selfplay.tabular.learners.TDValue`.

    Raises:
        SettingsError: a value is not allowed, by itself or together with the others.
    """

    algorithm: ClassVar[str] = "td-value"

    games: Count = 100_000
    """Games to learn from."""
    eval_every: Count = 5_000
    """Games between exact evaluations; one takes about as long as these games do."""
    opponent: Literal["random", "heuristic", "optimal", "self"] = "random"
    """Who plays the other seat; "self" is a second learner."""
    alpha: StepSize = 0.1
    """Step size: the part of the way that a value moves to its successor's."""
    exploration: Fraction = 0.1
    """Probability of a random move, after which nothing is backed up."""
    back_up_losses: bool = True
    """Back up the lost position after the opponent's winning move as well."""


@checked
class TDBackupConfig(RunSettings):
    """Train afterstate values by self-play, on any board whose table fits.

    The settings are those of a published learner; the learner is `selfplay.tabular.learners.TDBackup`.

    Raises:
        SettingsError: a value is not allowed, by itself or together with the others.
    """

    algorithm: ClassVar[str] = "td-backup"

    rules: Rules = Rules()
    """The board."""
    games: Count = 100_000
    """Games of self-play with the probability `exploit`."""
    greedy_games: Annotated[Integer, Field(ge=1, le=100_000)] = 2_500
    """Games after these that always exploit, still learn, and are reported one by one."""
    eval_every: Count = 10_000
    """Games between exact evaluations. Above 12 cells one may take a few seconds."""
    exploit: Fraction = 0.8
    """Probability of moving to the best-valued board instead of at random."""
    alpha: StepSize = 0.35
    """Step size: the part of the way that a value moves to its target."""
    gamma: Fraction = 0.9
    """Discount per move of one seat, the last one included."""
    draw_first: Fraction = 0.1
    """The worth of a draw to the first seat between a loss, 0, and a win, 1."""
    draw_second: Fraction = 0.5
    """The worth of a draw to the second seat."""

    def __post_init__(self) -> None:
        refuse_unknown_rules(self.rules, self.algorithm)
        if self.rules.cells > TABLE_CELLS:
            raise SettingsError(
                f"a table for {self.rules} holds 3^{self.rules.cells} values of 8 bytes: "
                f"choose `rows` and `cols` with at most {TABLE_CELLS} cells"
            )


TabularConfig: TypeAlias = MinimaxQConfig | AfterstateQConfig | TDValueConfig | TDBackupConfig


def table_shape(config: TabularConfig) -> tuple[int, ...]:
    """Return the shape of a table: [3^A], for td-value [2, 3^A], and for minimax-q [3^A, A]."""
    positions = 3**config.rules.cells
    if isinstance(config, MinimaxQConfig):
        return positions, config.rules.cells
    if isinstance(config, TDValueConfig):
        return 2, positions
    return (positions,)
