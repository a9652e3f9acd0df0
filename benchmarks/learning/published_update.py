"""Take back the two parts of our DQN's update that differ from the published one.

    python -m benchmarks.learning.published_update --docs docs/evidence

Mnih et al. (2015) take steps of RMSProp and clip the error of each transition to [-1, 1], as Huber's loss does. We take
steps of Adam (Kingma and Ba 2015) on the squared error. Each row changes one of these and leaves everything else as
`python train.py` has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import torch

from benchmarks import harness
from benchmarks.data import Result
from benchmarks.learning.time_to_unbeatable import train
from selfplay.command_line import run_command
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.optimizer import Adam
from selfplay.files import write_csv

PROG = "python -m benchmarks.learning.published_update"
DECAY, LEAST = 0.95, 0.01
"""Of the means of gradient and squared gradient, and what is added below the root, as published."""


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


UPDATES: Mapping[str, tuple[type[Adam], DQNConfig]] = {
    "ours": (Adam, DQNConfig()),
    "RMSProp, 0.00025": (RMSProp, DQNConfig(learning_rate=0.00025)),
    "RMSProp, our learning rate": (RMSProp, DQNConfig()),
    "clipped error": (Adam, DQNConfig(loss="huber")),
}
"""Optimizer and settings of each row."""


@dataclass(frozen=True)
class Flags:
    """Take back what differs from the published update, one part at a time."""

    seeds: tuple[int, ...] = tuple(range(20))
    """Seeds of every row."""
    total_steps: int = 2_000_000
    """Plies after which a run without a proof ends."""
    docs: Path | None = None
    """Folder to write published-update.csv into."""


def measure(update: str, seed: int, total_steps: int) -> Result:
    """Train until three evaluations in a row have proved it."""
    optimizer, config = UPDATES[update]
    with patch("selfplay.dqn.dqn.Adam", optimizer):
        result, _ = train(replace(config, seed=seed, total_steps=total_steps, device="cpu"))
    return {"proved": result["proved"], "plies": result["plies"]}


def main(args: Sequence[str]) -> None:
    """Measure all, and print a table."""
    flags = harness.read_flags(Flags, args, PROG)
    results = harness.run(
        "The published update",
        UPDATES,
        flags.seeds,
        lambda update, seed: measure(update, seed, flags.total_steps),
        "plies to the first of three proofs in a row",
    )
    if flags.docs is not None:
        lines = [(name, seed, results[name][row]["plies"]) for row, seed in enumerate(flags.seeds) for name in UPDATES]
        write_csv(flags.docs / "published-update.csv", [("update", "seed", "plies"), *lines])


if __name__ == "__main__":
    run_command(main, PROG)
