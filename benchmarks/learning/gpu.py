"""Train on a GPU and on a CPU, judge every player on both, and say how long each run took.

The figures of docs/results.md, on a machine with a GPU:

    python -m benchmarks.learning.gpu --docs docs

Every row is `python train.py` with the same flags and seed. Its player is judged where it was trained, and again on a
CPU, read from the run's folder. Seconds are on the wall, since a processor that waits for a GPU may count none: those
of training up to the first of the three proofs in a row, and those of the whole run, with evaluations, snapshots and
folder, but without imports.
"""

import math
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import tyro

import selfplay
from benchmarks import harness
from benchmarks.data import Result
from benchmarks.learning.learners import configuration
from selfplay.dqn.config import DQNConfig
from selfplay.learning.api import train
from selfplay.settings import Device

TITLE = "Training on a GPU"
ROWS = {
    "default": "",
    "mask": "--mask",
}
"""Flags of each row by its name."""


def measure(flags: str, device: Device, seed: int, most_plies: int | None = None) -> Result:
    """Train one player, and judge it on both devices."""
    config = configuration(flags, seed)
    assert isinstance(config, DQNConfig)
    config = replace(config, device=device, total_steps=most_plies or config.total_steps)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        run = train(config, run_dir=Path(folder) / "run", progress=False)
        seconds = time.perf_counter() - started
        on_cpu = selfplay.evaluate(run.player, every_state=run.verdict.optimal_states is not None)
    proved, updates = run.proved_from, run.records[-1].metrics["time/updates"]
    return {
        "proved": proved is not None,
        "training s": math.inf if proved is None else proved.metrics["time/training_s"],
        "all s": seconds,
        "updates/s": updates / run.records[-1].metrics["time/training_s"],
        "the same verdict on a CPU": on_cpu.to_dict() == run.verdict.to_dict(),
    }


def main(
    rows: tuple[str, ...] = tuple(ROWS),
    devices: tuple[Device, ...] = ("cpu", "cuda"),
    seeds: tuple[int, ...] = (0, 1, 2),
    most_plies: int | None = None,
    docs: Path | None = None,
) -> None:
    """Train on a GPU and on a CPU, and judge every player on both.

    Args:
        rows: What to train.
        devices: Where to train.
        seeds: Seeds of every row.
        most_plies: Plies after which a run ends at the latest; fewer only to try the script.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    on_devices = {f"{row}, {device}": (ROWS[row], device) for row in rows for device in devices}
    for device in devices:
        measure("", device, 0, most_plies=6_400)  # what is slow only once in a process

    def measured(row: str, seed: int) -> Result:
        return measure(*on_devices[row], seed, most_plies)

    harness.run(TITLE, on_devices, seeds, measured, "seconds on the wall", docs=docs)


if __name__ == "__main__":
    tyro.cli(main)
