"""Take back the two parts of our DQN's update that differ from the published one and that no setting takes back.

    python -m benchmarks.learning.published_update

Mnih et al. (2015) take steps of RMSProp and clip the error of each transition to [-1, 1]. We take steps of Adam (Kingma
and Ba 2015) on the squared error. Each row changes one of these and leaves everything else as `python train.py` has it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import torch
from torch import Tensor

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import number, spread
from benchmarks.measuring.turns import in_turns
from selfplay import DQNConfig, Record, training
from selfplay.command_line import run_command
from selfplay.dqn.optimizer import Adam
from selfplay.files import write_csv
from selfplay.training.loop import first_of_final_streak

PROG = "python -m benchmarks.learning.published_update"
DECAY, LEAST = 0.95, 0.01
"""Of the means of gradient and squared gradient, and what is added below the root, as published."""
UPDATES = ("ours", "RMSProp, 0.00025", "RMSProp, our learning rate", "clipped error")
HEADER = ("update", "proved", "plies to the first of three proofs")


class RMSProp(Adam):
    """Take steps of the published RMSProp (Graves 2013, equations 38 to 40, without momentum)."""

    @torch.no_grad()
    def step(self) -> None:
        """Move the weights against the gradient."""
        self.steps += 1
        fallen = min(1.0, self.hold / self.steps) if self.hold else 1.0
        self.mean.lerp_(self.gradient, 1 - DECAY)
        self.square.mul_(DECAY).addcmul_(self.gradient, self.gradient, value=1 - DECAY)
        variance = self.square.addcmul(self.mean, self.mean, value=-1).add_(LEAST)
        self.weights.addcdiv_(self.gradient, variance.sqrt_(), value=-self.learning_rate * fallen)


def clipped_error(values: Tensor, targets: Tensor) -> Tensor:
    """Return a loss whose gradient is the error clipped to [-1, 1], over the size of the batch.

    It is twice Huber's, because the gradient of the squared error is twice the error.
    """
    return 2 * torch.nn.functional.huber_loss(values, targets)


@dataclass(frozen=True)
class Flags:
    """Take back what differs from the published update, one part at a time."""

    seeds: tuple[int, ...] = tuple(range(20))
    """Seeds of every row."""
    total_steps: int = 2_000_000
    """Plies after which a run without a proof ends."""
    docs: Path | None = None
    """Folder to write published-update.csv into."""


class Run(NamedTuple):
    """Hold what one run came to."""

    update: str
    seed: int
    plies: float
    """To the first evaluation from which the proof held; infinite without one."""

    def text(self) -> str:
        """Return it as a line."""
        return f"{self.update}, seed {self.seed}: {number(self.plies)}"


def measure(update: str, seed: int, total_steps: int) -> Run:
    """Train until three evaluations running have proved it."""
    rate = 0.00025 if update == UPDATES[1] else DQNConfig().learning_rate
    config = DQNConfig(seed=seed, total_steps=total_steps, learning_rate=rate, device="cpu")
    optimizer = RMSProp if update.startswith("RMSProp") else Adam
    loss = clipped_error if update == UPDATES[3] else torch.nn.functional.mse_loss
    with patch("selfplay.dqn.dqn.Adam", optimizer), patch("torch.nn.functional.mse_loss", loss):
        records = list(training(config))
    first = first_of_final_streak([is_proof(record) for record in records])
    return Run(update, seed, math.inf if first is None else records[first].steps)


def is_proof(record: Record) -> bool:
    """Tell whether an evaluation proved the player, which it can at any time on 3,3,3."""
    return record.evaluation.unbeatable


def main(args: Sequence[str]) -> None:
    """Measure all, and print a table."""
    flags = read_flags(Flags, args, PROG)
    console = machine.start("The published update", [], flags.seeds)
    done = in_turns(console, flags.seeds, UPDATES, partial(measure, total_steps=flags.total_steps))
    rows = []
    for update in UPDATES:
        plies = [run.plies for run in done if run.update == update]
        rows.append([update, f"{sum(map(math.isfinite, plies))} of {len(plies)}", spread(plies).text()])
    tables.present(console, HEADER, rows, "median (least to most) of the seeds")
    if flags.docs is not None:
        write_csv(flags.docs / "published-update.csv", [Run._fields, *map(list, done)])


if __name__ == "__main__":
    run_command(main, PROG)
