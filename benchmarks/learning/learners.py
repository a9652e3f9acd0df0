"""Train the five published learners, and our DQN at its best, and compare them by exact evaluation.

The README's table:

    python -m benchmarks.learning.learners --markdown table.md

Every row is what `python train.py` does with the same flags and seed. The time is that of training alone:
compiling, making tables and networks, and evaluating are left out. A DQN that stops when something is proved
has trained until the third evaluation running that proves it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from benchmarks.measuring import machine, tables
from benchmarks.measuring.counts import known
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import in_turns
from benchmarks.training import runs
from selfplay import training
from selfplay.agent import AnyAgent
from selfplay.command_line import run_command
from selfplay.dqn.config import DQNConfig
from selfplay.evaluation.agents import AgentPolicy
from selfplay.evaluation.evaluate import evaluate
from selfplay.evaluation.games import self_play_game
from selfplay.evaluation.report import live_score
from selfplay.evaluation.verdict import SeatVerdict, Verdict
from tictactoe import Rules

PROG = "python -m benchmarks.learning.learners"
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

COMMANDS = (
    "dqn --preset article",
    "dqn",
    "dqn --mask --stop optimal",
    "minimax-q",
    "afterstate-q --seat 0",
    "afterstate-q --seat 1",
    "td-value",
    "td-value --no-back-up-losses",
    "td-value --opponent self",
    "td-value --opponent self --no-back-up-losses",
    "td-backup",
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


class Run(NamedTuple):
    """Hold one training and the exact evaluation of its player."""

    command: str
    seed: int
    amount: int
    """Plies of a DQN, games of a tabular learner."""
    seconds: float
    evaluation: Verdict
    ties: bool
    """Whether the greedy player's game against itself is a draw."""

    @property
    def unit(self) -> str:
        """Return what `amount` counts."""
        return "plies" if self.command.startswith("dqn") else "games"

    def text(self) -> str:
        """Return the run as a line."""
        ties = "ties" if self.ties else "does not tie"
        return (
            f"{self.command}, seed {self.seed}: {self.amount:,} {self.unit} in {self.seconds:.3f} s; "
            f"{live_score(self.evaluation)}; {ties} with itself"
        )


def ties_with_itself(player: AnyAgent) -> bool:
    """Tell whether a greedy player draws against itself."""
    return self_play_game(AgentPolicy(player, RULES)).endswith("A draw.")


def measure(command: str, seed: int, shorten: int = 1) -> Run:
    """Train one player and evaluate it."""
    config = runs.configuration(command, seed)
    if isinstance(config, DQNConfig):
        config = replace(config, total_steps=max(config.total_steps // shorten, config.warmup))
    else:
        config = replace(config, games=max(config.games // shorten, 1))
    *_, last = training(config)
    evaluation, ties = evaluate(last.player, RULES), ties_with_itself(last.player)
    return Run(command, seed, last.steps, last.metrics["time/training_s"], evaluation, ties)


def table_rows(trained: Sequence[Run]) -> Iterator[list[str]]:
    """Return two rows per learner, one for each seat; what is of both seats stands in the first."""
    for command in dict.fromkeys(run.command for run in trained):
        of_row = [run for run in trained if run.command == command]
        seats = [[run.evaluation.first for run in of_row], [run.evaluation.second for run in of_row]]
        amount = spread(run.amount for run in of_row).text()
        seconds = spread(run.seconds for run in of_row)
        yield [
            f"`{command}`",
            "X",
            *seat_cells(seats[0]),
            spread(known(run.evaluation.optimal_states) for run in of_row).text(),
            f"{sum(run.ties for run in of_row)} of {len(of_row)}",
            f"{amount} {of_row[0].unit}",
            seconds.text(1 if seconds.median >= 1 else 3),
        ]
        yield ["", "O", *seat_cells(seats[1]), *[""] * 4]


def seat_cells(seats: Sequence[SeatVerdict]) -> list[str]:
    """Return lost and illegal lines, and wins, draws and losses against random in percent, over the seeds."""
    lines = [spread(getattr(seat, kind) for seat in seats).text() for kind in ("losses", "illegal")]
    return [*lines, *(spread(100 * getattr(seat, end) for seat in seats).text(1) for end in ("win", "draw", "loss"))]


def main(args: Sequence[str]) -> None:
    """Measure, and print each run as it ends and the table at the end."""
    flags = read_flags(Flags, args, PROG)
    commands = [command for command in COMMANDS if command.split()[0] in flags.algorithms]
    console = machine.start("The published learners", ["numba"], flags.seeds)
    trained = in_turns(console, flags.seeds, commands, lambda command, seed: measure(command, seed, flags.shorten))
    note = (
        f"median (least to most) over {len(flags.seeds)} seeds, or what all of them show; wins, draws and losses are "
        f"exact, against a uniformly random opponent; load {machine.load()} at the end"
    )
    tables.present(console, HEADER, table_rows(trained), note, flags.markdown)


if __name__ == "__main__":
    run_command(main, PROG)
