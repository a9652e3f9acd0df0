"""Train DQNs on boards beyond tic-tac-toe until they are proved, and say how long it takes.

    python -m benchmarks.learning.bigger_boards --docs docs

Every row is `python train.py` with the same flags and seed, but for the time limit. The seconds are those of training
up to the first evaluation from which the proof holds to the end of the run; "all seconds" also count the evaluations.
"""

import shlex
from dataclasses import replace
from pathlib import Path

import tyro

from benchmarks import harness
from benchmarks.data import Result
from benchmarks.learning.time_to_unbeatable import train
from selfplay.cli.train import read
from selfplay.dqn.config import DQNConfig

ROWS = {
    "4x4x4": "--preset large --mask",
    "4x4x4-unmasked": "--preset large",
    "4x4x3": "--preset large --k 3 --mask",
}
"""Flags of each row by its name."""


def measure(flags: str, seed: int, seconds: float, total_steps: int) -> Result:
    """Train one player on a CPU, and return how long it took to a proof."""
    given, _ = read(shlex.split(flags), "python train.py")
    assert isinstance(given.settings, DQNConfig)
    return train(replace(given.settings, seed=seed, device="cpu", total_steps=total_steps), seconds)


def main(
    rows: tuple[str, ...] = (),
    seeds: tuple[int, ...] = tuple(range(10)),
    seconds: float = 600.0,
    total_steps: int = 1_000_000_000,
    docs: Path | None = None,
) -> None:
    """Train DQNs on larger boards, and say how long a proof takes.

    Args:
        rows: What to train; everything if nothing is named.
        seeds: Seeds of every row.
        seconds: Training time after which a run ends at the latest.
        total_steps: Plies after which it ends at the latest.
        docs: Folder of the pages, in whose data file the results are saved.
    """

    def measured(row: str, seed: int) -> Result:
        return measure(ROWS[row], seed, seconds, total_steps)

    harness.run("Bigger boards", rows or ROWS, seeds, measured, f"at most {seconds:g} s of training", docs=docs)


if __name__ == "__main__":
    tyro.cli(main)
