"""Measure the published DQN beside a loop in CleanRL's manner at the same settings: steps per second.

The README's figures:

    python -m benchmarks.training.article_speed

Ours is `python train.py --preset article`, theirs `cleanrl_style.py`; both play the same game on one
board and do one update per step, on one core, without evaluation. They take turns, and each pair gives one
ratio. The preset does double DQN, as published, one more forward pass per update than theirs. Theirs writes the
TensorBoard scalars that CleanRL writes; `--no-scalars` leaves them out, for a ratio of the algorithms alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import in_turns, round_by_round
from benchmarks.training import cleanrl_style
from benchmarks.training.cleanrl_style import Timed
from selfplay import training
from selfplay.command_line import run_command
from selfplay.dqn.config import PRESETS, DQNConfig

PROG = "python -m benchmarks.training.article_speed"
WARM_UP_STEPS = 500
Who = Literal["ours", "theirs"]
HEADER = ("", "steps/s", "seconds")


@dataclass(frozen=True)
class Flags:
    """Measure the published DQN beside a loop in CleanRL's manner: steps per second."""

    steps: int = PRESETS["article"].total_steps
    """Steps of each run; by default the published ones."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds; each gives one pair of runs."""
    scalars: bool = True
    """Let the loop in CleanRL's manner write its TensorBoard scalars."""


class Run(NamedTuple):
    """Hold one run of ours or of theirs."""

    who: Who
    seed: int
    steps: int
    timed: Timed

    @property
    def speed(self) -> float:
        """Return steps per second."""
        return self.steps / self.timed.seconds

    def text(self) -> str:
        """Return the run as a line."""
        seconds, updates = self.timed
        return f"seed {self.seed}, {self.who}: {seconds:.2f} s, {self.speed:,.0f} steps/s, {updates:,} updates"


def ours(seed: int, steps: int) -> Timed:
    """Train the preset for so many steps."""
    return trained(replace(PRESETS["article"], seed=seed, total_steps=steps))


def trained(config: DQNConfig) -> Timed:
    """Train a DQN of ours to the end of its plies, without evaluation."""
    *_, last = training(replace(config, eval_every=config.total_steps, stop="never", device="cpu"))
    return Timed(last.metrics["time/training_s"], int(last.metrics["time/updates"]))


def theirs(seed: int, steps: int, *, scalars: bool) -> Timed:
    """Train the loop in CleanRL's manner for so many steps."""
    return cleanrl_style.run(cleanrl_style.Settings(seed=seed, total_steps=steps, scalars=scalars))


def table_rows(runs: Sequence[Run]) -> list[list[str]]:
    """Return the medians and spreads over the seeds, and those of the ratios pair by pair."""
    rows, speeds = [], []
    for who in ("ours", "theirs"):
        speeds.append([run.speed for run in runs if run.who == who])
        seconds = spread(run.timed.seconds for run in runs if run.who == who)
        rows.append([who, spread(speeds[-1]).text(), seconds.text(1)])
    return [*rows, ["ratio", spread(round_by_round(*speeds)).text(2), ""]]


def main(args: Sequence[str]) -> None:
    """Measure, and print each run as it comes and the table at the end."""
    flags = read_flags(Flags, args, PROG)
    steps = flags.steps
    train: dict[Who, Callable[[int, int], Timed]] = {"ours": ours, "theirs": partial(theirs, scalars=flags.scalars)}
    console = machine.start("Speed of the published DQN", ["stable-baselines3", "tensorboard"], flags.seeds)
    for of_either in train.values():
        of_either(0, WARM_UP_STEPS)  # what is slow only once in a process
    runs = in_turns(
        console, flags.seeds, tuple(train), lambda who, seed: Run(who, seed, steps, train[who](seed, steps))
    )
    note = f"median (least to most) over {len(flags.seeds)} pairs of {steps:,} steps; ratio of steps/s pair by pair"
    tables.present(console, HEADER, table_rows(runs), note)


if __name__ == "__main__":
    run_command(main, PROG)
