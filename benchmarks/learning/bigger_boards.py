"""Train DQNs on boards beyond tic-tac-toe until they are proved, or for some time, and say how far they come.

The README's table:

    python -m benchmarks.learning.bigger_boards --markdown table.md

Every row is what `python train.py` does with the same flags and seed, but for the time limit. The time is that of
training alone, up to the first evaluation from which the proof holds to the end of the run; without a proof it is the
time limit; beside it stands the time that passed in all, with the evaluations. The player at the end is followed over
more positions than while it trains. Its games against the built-in opponents are sampled.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import check_known, read_flags
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import in_turns
from benchmarks.training import runs
from selfplay import training
from selfplay.agent import Player
from selfplay.arena.matches import sample
from selfplay.command_line import run_command
from selfplay.dqn.config import DQNConfig
from selfplay.evaluation.agents import built_in_policy, player_policy
from selfplay.evaluation.evaluate import evaluate_policy
from selfplay.evaluation.verdict import SeatVerdict, Verdict
from tictactoe.opponents import OPPONENTS

PROG = "python -m benchmarks.learning.bigger_boards"
LARGE = "--preset large"
SMALLER = "--lines 4 --hidden 256"
LARGER = f"{SMALLER} --mask --memory-size 400000 --epsilon-start 0.9 --eval-every 256000"
PLAIN = "--lines 0 --symmetry augment --counterexamples 0"
"""A dense network and plain self-play, as other libraries do it."""
ROWS = MappingProxyType(
    {
        "4x4x4": f"{LARGE} {SMALLER} --mask",
        "4x4x4-unmasked": LARGE,
        "4x4x4-dense": f"{LARGE} --lines 0 --mask",
        "4x4x4-canonical": f"{LARGE} {SMALLER} --mask --counterexamples 0",
        "4x4x4-counterexamples": f"{LARGE} {SMALLER} --mask --symmetry augment",
        "4x4x4-plain": f"{LARGE} --mask {PLAIN} --eval-every 51200",
        "4x4x4-unmasked-canonical": f"{LARGE} --counterexamples 0",
        "4x4x4-unmasked-counterexamples": f"{LARGE} --symmetry augment",
        "4x4x4-unmasked-plain": f"{LARGE} {PLAIN} --hidden 1024 --learning-rate-hold 0 --eval-every 51200",
        "4x4x3": f"{LARGE} --k 3 --mask",
        "5x5x4": f"{LARGE} --rows 5 --cols 5 {LARGER}",
        "5x5x4-plain": f"{LARGE} --rows 5 --cols 5 --mask {PLAIN} --hidden 1024 --eval-every 2048000",
        "5x5x5": f"{LARGE} --rows 5 --cols 5 --k 5 {LARGER}",
        "6x5x4": f"{LARGE} --rows 6 --cols 5 {LARGER}",
    }
)
"""The flags of each row by its name."""
BUILT_IN = ("random", "heuristic")
HEADER = (
    "`python train.py`",
    "proved",
    "plies",
    "training s",
    "all s",
    "seat",
    "lost lines",
    "illegal lines",
    *BUILT_IN,
)


@dataclass(frozen=True)
class Flags:
    """Train DQNs on larger boards, and say how far they come."""

    rows: tuple[str, ...] = tuple(ROWS)
    """What to train, by name."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds of every row."""
    seconds: float = 600.0
    """Training time after which a run ends at the latest."""
    total_steps: int = 1_000_000_000
    """Plies after which it ends at the latest."""
    positions: int = 1_000_000
    """Distinct positions that the player at the end is followed to at each ply, at most."""
    games: int = 10_000
    """Games sampled in each seat against each built-in opponent."""
    markdown: Path | None = None
    """File to write the table to, as Markdown."""


class Run(NamedTuple):
    """Hold one training and what its player is in the end."""

    name: str
    seed: int
    plies: int
    """Up to the proof, or all without one."""
    seconds: float
    """Of training up to the proof; infinity without one."""
    passed: float
    """Seconds up to the proof with all evaluations; infinity without one."""
    evaluation: Verdict
    results: tuple[dict[str, tuple[float, float, float]], ...]
    """By seat and opponent: probabilities that the player wins, draws and loses."""

    def text(self) -> str:
        """Return the run as a line."""
        passed = f"proved after {self.seconds:.1f} s of training, {self.passed:.1f} s in all, "
        when = passed if self.seconds < math.inf else "not proved, "
        seats = self.evaluation.first, self.evaluation.second
        lines = " and ".join(f"{extent(seat)}{seat.losses:,} lost, {seat.illegal:,} illegal" for seat in seats)
        against = " and ".join(
            ", ".join(f"{name} {percent(shares)}" for name, shares in of_seat.items()) for of_seat in self.results
        )
        return f"{self.name}, seed {self.seed}: {when}{self.plies:,} plies; {lines}; win/draw/loss % {against}"


def extent(seat: SeatVerdict) -> str:
    """Return how far a seat was followed if it was not to the end."""
    return f"in {seat.plies} plies, {seat.positions:,} positions: " if not seat.complete else ""


def percent(shares: Sequence[float]) -> str:
    """Return probabilities as whole percents, of which 0 and 100 mean never and always in the games sampled."""
    return "/".join(
        f"{100 * share:.0f}" if share in {0, 1} else f"{min(max(100 * share, 1), 99):.0f}" for share in shares
    )


def configuration(name: str, seed: int, total_steps: int) -> DQNConfig:
    """Return the settings of a run, as the command line gives them."""
    config = runs.configuration(ROWS[name], seed)
    if not isinstance(config, DQNConfig):
        raise TypeError(f"{name} is no DQN")
    return replace(config, total_steps=total_steps)


def measure(name: str, seed: int, flags: Flags) -> Run:
    """Train one player, and follow it and let it play in the end."""
    config = configuration(name, seed, flags.total_steps)
    history, passed, started = [], [], time.perf_counter()
    for record in training(config):
        history.append(record)
        passed.append(time.perf_counter() - started)
        if record.metrics["time/training_s"] >= flags.seconds:
            break
    first, last = runs.proved_from(history, config.stop), history[-1]
    proved = last if first is None else history[first]
    evaluation = last.evaluation
    if not evaluation.complete:
        evaluation = evaluate_policy(player_policy(last.player), positions=flags.positions)
    return Run(
        name,
        seed,
        proved.steps,
        math.inf if first is None else proved.metrics["time/training_s"],
        math.inf if first is None else passed[first],
        evaluation,
        tuple(against_built_in(last.player, config, seat, flags.games) for seat in (0, 1)),
    )


def against_built_in(player: Player, config: DQNConfig, seat: int, games: int) -> dict[str, tuple[float, float, float]]:
    """Return how a player's games in one seat end, by opponent, from the player's view."""
    found = {}
    for name in BUILT_IN:
        pair = player_policy(player), built_in_policy(OPPONENTS[name], config.rules)
        first, second = pair if seat == 0 else pair[::-1]
        result = sample(config.rules, first, second, games, np.random.default_rng([config.seed, seat]))
        shares = result.win, result.draw, result.loss
        found[name] = shares if seat == 0 else shares[::-1]
    return found


def table_rows(done: Sequence[Run]) -> Iterator[list[str]]:
    """Return two rows per training, one for each seat; what is of both seats stands in the first."""
    for name in dict.fromkeys(run.name for run in done):
        of_row = [run for run in done if run.name == name]
        proved = f"{sum(run.seconds < math.inf for run in of_row)} of {len(of_row)}"
        plies, seconds, passed = (
            spread(getattr(run, field) for run in of_row) for field in ("plies", "seconds", "passed")
        )
        yield [f"`{ROWS[name]}`", proved, plies.text(), seconds.text(1), passed.text(1), "X", *seat_cells(of_row, 0)]
        yield [""] * 5 + ["O", *seat_cells(of_row, 1)]


def seat_cells(done: Sequence[Run], seat: int) -> list[str]:
    """Return lost and illegal lines, and the median shares against each built-in opponent."""
    seats = [(run.evaluation.first, run.evaluation.second)[seat] for run in done]
    at_least = "at least " if not all(each.complete for each in seats) else ""
    shares = [
        percent([spread(run.results[seat][opponent][end] for run in done).median for end in range(3)])
        for opponent in BUILT_IN
    ]
    lost, illegal = (spread(getattr(each, kind) for each in seats).text() for kind in ("losses", "illegal"))
    return [at_least + lost, at_least + illegal, *shares]


def main(args: Sequence[str]) -> None:
    """Measure, and print each run as it ends and the table at the end."""
    flags = read_flags(Flags, args, PROG)
    check_known("--rows", flags.rows, ROWS)
    console = machine.start("Bigger boards", [], flags.seeds)
    done = in_turns(console, flags.seeds, flags.rows, lambda name, seed: measure(name, seed, flags))
    note = (
        f"median (least to most) over {len(flags.seeds)} seeds, or what all of them show; at most {flags.seconds:g} s "
        f"of training; {flags.games:,} sampled games; load {machine.load()} at the end"
    )
    tables.present(console, HEADER, table_rows(done), note, flags.markdown)


if __name__ == "__main__":
    run_command(main, PROG)
