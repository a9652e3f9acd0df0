"""Train the five published learners, and our DQN at its best, and compare them by exact evaluation.

The README's table:

    python -m benchmarks.learning.learners --markdown table.md

Every row is what `python train.py` does with the same flags and seed. The time is that of training alone:
compiling, making tables and networks, and evaluating are left out. A DQN that stops when something is proved
has trained until the third evaluation running that proves it.
"""

import collections
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, get_args

import torch

import train
from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import Spread, spread
from benchmarks.measuring.turns import in_turns
from selfplay.agent import Agent
from selfplay.command_line import run_command
from selfplay.config import PRESETS, DQNConfig
from selfplay.evaluation import Evaluation, SeatEvaluation, evaluate
from selfplay.games import self_play_game
from selfplay.tabular.afterstate_q import AfterstateQ, AfterstateQConfig
from selfplay.tabular.minimax_q import MinimaxQ, MinimaxQConfig
from selfplay.tabular.td_backup import TDBackup, TDBackupConfig
from selfplay.tabular.td_value import TDValue, TDValueConfig
from tictactoe import Rules

PROG = "python -m benchmarks.learning.learners"
DEVICE = torch.device("cpu")
RULES = Rules()
HEADER = (
    "`python train.py`",
    "seat",
    "lost lines",
    "illegal lines",
    "win %",
    "draw %",
    "loss %",
    "optimal states",
    "ties with itself",
    "trained on",
    "seconds",
)

Algorithm = Literal["dqn", "minimax-q", "afterstate-q", "td-value", "td-backup"]


@dataclass(frozen=True)
class Flags:
    """Compare the published learners, and our DQN at its best, by exact evaluation."""

    algorithms: tuple[Algorithm, ...] = get_args(Algorithm)
    """What to train."""
    seeds: tuple[int, ...] = tuple(range(5))
    """Seeds of every row."""
    markdown: Path | None = None
    """File to write the table to, as Markdown."""
    shorten: int = 1
    """Divide the length of every training by this; more than 1 only to try the script."""


class Trained(NamedTuple):
    """Hold a trained player and what its training took."""

    player: Agent
    amount: int
    """Plies of a DQN, games of a tabular learner."""
    seconds: float


class Row(NamedTuple):
    """Name a row of the table by its flags, and say how to train it with a seed."""

    command: str
    unit: Literal["plies", "games"]
    train: Callable[[int], Trained]

    @property
    def algorithm(self) -> str:
        """Return the first word of the command."""
        return self.command.split()[0]


class Run(NamedTuple):
    """Hold one training and the exact evaluation of its player."""

    row: Row
    seed: int
    trained: Trained
    evaluation: Evaluation
    ties: bool
    """Whether the greedy player's game against itself is a draw."""

    def text(self) -> str:
        """Return the run as a line."""
        seats = " and ".join(
            f"{seat.losses:,} lost, {seat.illegal:,} illegal, {seat.win:.2%} won"
            for seat in (self.evaluation.first, self.evaluation.second)
        )
        return (
            f"{self.row.command}, seed {self.seed}: {self.trained.amount:,} {self.row.unit} in "
            f"{self.trained.seconds:.3f} s; {seats}; {self.evaluation.optimal_states:,} optimal states; "
            f"{'ties' if self.ties else 'does not tie'} with itself"
        )


class Learner(Protocol):
    """What the tabular learners have in common."""

    config: Any

    def __init__(self, config: Any) -> None: ...

    def play(self, games: int) -> Any:
        """Play and learn."""

    def player(self) -> Agent:
        """Return the greedy player."""


def train_dqn(config: DQNConfig) -> Trained:
    """Train a DQN until it stops."""
    agents = train.make_agents(config, DEVICE)
    last = collections.deque(train.train(config, agents, DEVICE), maxlen=1).pop()
    return Trained(agents.player(), last.progressed.plies, last.seconds)


def train_tabular(learner: Learner) -> Trained:
    """Train a tabular learner for as many games as its configuration says."""
    type(learner)(learner.config).play(1)  # compiles, which is slow only once in a process
    games = learner.config.games
    started = time.perf_counter()
    learner.play(games)
    if isinstance(learner, TDBackup):
        learner.play_greedily(learner.config.greedy_games)
        games += learner.config.greedy_games
    return Trained(learner.player(), games, time.perf_counter() - started)


def dqn_row(flags: str, config: DQNConfig, shorten: int) -> Row:
    """Return the row of a DQN."""
    steps = max(config.total_steps // shorten, config.warmup)
    return Row(f"dqn {flags}".strip(), "plies", lambda seed: train_dqn(replace(config, seed=seed, total_steps=steps)))


def tabular_row(command: str, kind: Callable[[Any], Learner], config: Any, shorten: int) -> Row:
    """Return the row of a tabular learner."""
    games = max(config.games // shorten, 1)
    return Row(command, "games", lambda seed: train_tabular(kind(replace(config, seed=seed, games=games))))


def all_rows(shorten: int = 1) -> list[Row]:
    """Return the rows of the table in its order."""
    without = "--no-back-up-losses"
    return [
        dqn_row("--preset article", PRESETS["article"], shorten),
        dqn_row("", DQNConfig(), shorten),
        dqn_row("--mask --stop optimal", DQNConfig(mask=True, stop="optimal"), shorten),
        tabular_row("minimax-q", MinimaxQ, MinimaxQConfig(), shorten),
        tabular_row("afterstate-q --seat 0", AfterstateQ, AfterstateQConfig(seat=0), shorten),
        tabular_row("afterstate-q --seat 1", AfterstateQ, AfterstateQConfig(seat=1), shorten),
        tabular_row("td-value", TDValue, TDValueConfig(), shorten),
        tabular_row(f"td-value {without}", TDValue, TDValueConfig(back_up_losses=False), shorten),
        tabular_row("td-value --opponent self", TDValue, TDValueConfig(opponent="self"), shorten),
        tabular_row(
            f"td-value --opponent self {without}",
            TDValue,
            TDValueConfig(opponent="self", back_up_losses=False),
            shorten,
        ),
        tabular_row("td-backup", TDBackup, TDBackupConfig(), shorten),
    ]


def ties_with_itself(player: Agent) -> bool:
    """Tell whether a greedy player draws against itself."""
    return self_play_game(player, RULES).endswith("A draw.")


def measure(row: Row, seed: int) -> Run:
    """Train one player and evaluate it."""
    trained = row.train(seed)
    return Run(row, seed, trained, evaluate(trained.player, RULES), ties_with_itself(trained.player))


def table_rows(runs: Sequence[Run]) -> list[list[str]]:
    """Return two rows per learner, one for each seat; what is of both seats stands in the first."""
    rows = []
    for command in dict.fromkeys(run.row.command for run in runs):
        of_row = [run for run in runs if run.row.command == command]
        seats = [[run.evaluation.first for run in of_row], [run.evaluation.second for run in of_row]]
        amount = spread(run.trained.amount for run in of_row).text()
        rows += [
            [
                f"`{command}`",
                "X",
                *seat_cells(seats[0]),
                spread(run.evaluation.optimal_states for run in of_row).text(),
                f"{sum(run.ties for run in of_row)} of {len(of_row)}",
                f"{amount} {of_row[0].row.unit}",
                seconds_text(spread(run.trained.seconds for run in of_row)),
            ],
            ["", "O", *seat_cells(seats[1]), *[""] * 4],
        ]
    return rows


def seat_cells(seats: Iterable[SeatEvaluation]) -> list[str]:
    """Return lost and illegal lines, and wins, draws and losses against random in percent, over the seeds."""
    seats = list(seats)
    return [
        spread(seat.losses for seat in seats).text(),
        spread(seat.illegal for seat in seats).text(),
        spread(100 * seat.win for seat in seats).text(1),
        spread(100 * seat.draw for seat in seats).text(1),
        spread(100 * seat.loss for seat in seats).text(1),
    ]


def seconds_text(seconds: Spread) -> str:
    """Return seconds with more digits where they are few."""
    return seconds.text(1 if seconds.median >= 1 else 3)


def main(args: Sequence[str]) -> None:
    """Measure, and print each run as it ends and the table at the end."""
    flags = read_flags(Flags, args, PROG)
    rows = [row for row in all_rows(flags.shorten) if row.algorithm in flags.algorithms]
    console = machine.start("The published learners", ["numba"], flags.seeds)
    runs = in_turns(console, flags.seeds, rows, measure)
    note = (
        f"median (least to most) over {len(flags.seeds)} seeds, or what all of them show; wins, draws and losses are "
        f"exact, against a uniformly random opponent; load {machine.load()} at the end"
    )
    tables.present(console, HEADER, table_rows(runs), note, flags.markdown)


if __name__ == "__main__":
    run_command(main, PROG)
