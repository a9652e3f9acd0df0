"""Measure the published DQN beside a loop in CleanRL's manner at the same settings: steps per second.

The README's figures:

    python -m benchmarks.training.article_speed --full

Ours is `python train.py --preset article`, theirs `cleanrl_style.py`; both play the same game on one
board and do one update per step, on one core, without evaluation. They take turns, and each pair gives one
ratio. Ours uses double DQN as published, one more forward pass per update than theirs. Theirs writes the
TensorBoard scalars that CleanRL writes; `--no-scalars` leaves them out, for a ratio of the algorithms alone.
"""

import collections
import dataclasses
import time
from collections.abc import Sequence
from typing import NamedTuple

import torch
from rich.table import Table

import train
from benchmarks.measuring import machine
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.training import cleanrl_style
from benchmarks.training.cleanrl_style import Timed
from selfplay.command_line import run_command
from selfplay.config import PRESETS, DQNConfig

PROG = "python -m benchmarks.training.article_speed"
DEVICE = torch.device("cpu")
FULL_STEPS = 100_000
WARM_UP_STEPS = 500


@dataclasses.dataclass(frozen=True)
class Flags:
    """Measure the published DQN beside a loop in CleanRL's manner: steps per second."""

    steps: int = 20_000
    """Steps of each run."""
    full: bool = False
    """Do the published 100,000 steps instead."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds; each gives one pair of runs."""
    scalars: bool = True
    """Let the loop in CleanRL's manner write its TensorBoard scalars."""


class Pair(NamedTuple):
    """Hold one run of ours and the one of theirs after it."""

    steps: int
    ours: Timed
    theirs: Timed

    @property
    def ratio(self) -> float:
        """Return how many steps ours does in the time of one of theirs."""
        return self.theirs.seconds / self.ours.seconds

    @property
    def share(self) -> float:
        """Return the part of the pair's time that ours took."""
        return self.ours.seconds / (self.ours.seconds + self.theirs.seconds)

    def text(self) -> str:
        """Return the pair as a line."""
        ours, theirs = (
            f"{timed.seconds:.2f} s, {self.steps / timed.seconds:,.0f} steps/s, {timed.updates:,} updates"
            for timed in (self.ours, self.theirs)
        )
        return f"ours {ours}; theirs {theirs}; ratio {self.ratio:.2f}; ours took {self.share:.0%} of the pair's time"


def ours(seed: int, steps: int) -> Timed:
    """Train the preset for so many steps."""
    return trained(dataclasses.replace(PRESETS["article"], seed=seed, total_steps=steps))


def trained(config: DQNConfig) -> Timed:
    """Train a DQN of ours to the end of its plies, without evaluation."""
    agents = train.make_agents(config, DEVICE)
    started = time.perf_counter()
    last = collections.deque(train.self_play(config, agents, DEVICE), maxlen=1).pop()
    return Timed(time.perf_counter() - started, last.updates)


def theirs(seed: int, steps: int, *, scalars: bool) -> Timed:
    """Train the loop in CleanRL's manner for so many steps."""
    return cleanrl_style.run(cleanrl_style.Settings(seed=seed, total_steps=steps, scalars=scalars))


def measure(seed: int, steps: int, *, scalars: bool) -> Pair:
    """Run ours, then theirs."""
    return Pair(steps, ours(seed, steps), theirs(seed, steps, scalars=scalars))


def table(pairs: Sequence[Pair]) -> Table:
    """Return the medians and spreads over all pairs."""
    shown = Table("", "steps/s", "seconds", "share of the time")
    shown.add_row(
        "ours",
        spread(pair.steps / pair.ours.seconds for pair in pairs).text(),
        spread(pair.ours.seconds for pair in pairs).text(1),
        spread(pair.share for pair in pairs).text(2),
    )
    shown.add_row(
        "theirs",
        spread(pair.steps / pair.theirs.seconds for pair in pairs).text(),
        spread(pair.theirs.seconds for pair in pairs).text(1),
        spread(1 - pair.share for pair in pairs).text(2),
    )
    shown.add_row("ratio", spread(pair.ratio for pair in pairs).text(2), "", "")
    return shown


def main(args: Sequence[str]) -> None:
    """Measure, and print each pair as it comes and the table at the end."""
    flags = read_flags(Flags, args, PROG)
    steps = FULL_STEPS if flags.full else flags.steps
    console = machine.start("Speed of the published DQN", ["stable-baselines3", "tensorboard"], flags.seeds)
    measure(0, WARM_UP_STEPS, scalars=flags.scalars)  # what is slow only once in a process
    pairs = []
    for seed in flags.seeds:
        pairs.append(measure(seed, steps, scalars=flags.scalars))
        console.print(f"seed {seed}: {pairs[-1].text()}", soft_wrap=True)
    console.print(table(pairs))
    console.print(f"median (least to most) over {len(pairs)} pairs of {steps:,} steps; ratio of steps/s pair by pair")


if __name__ == "__main__":
    run_command(main, PROG)
