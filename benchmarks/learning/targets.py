"""Measure what the three two-player targets learn by plain self-play.

    python -m benchmarks.learning.targets --docs docs

Every run is `python train.py --target TARGET --stop never --total-steps 1500000` with the plain self-play of other
libraries (`--symmetry augment --counterexamples 0 --eval-every 12800`), so that only the target differs. The
exploitability of one player of 3,3,3 is 0, 1/2 or 1, for the number of seats in which it is beaten, and jumps between
them from one evaluation to the next; the table has its mean over the last few evaluations, the CSV holds each of them.
"""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import tyro

import selfplay
from benchmarks import harness
from benchmarks.data import Result
from selfplay.dqn.config import DQNConfig, Target
from selfplay.files import write_csv

TARGETS: tuple[Target, ...] = get_args(Target)
WINDOW = 8
"""Evaluations in the means of the table."""


def train(target: Target, seed: int, total_steps: int) -> list[Result]:
    """Return all evaluations of one run."""
    config = DQNConfig(
        seed=seed,
        target=target,
        symmetry="augment",
        counterexamples=0.0,
        eval_every=12_800,
        total_steps=total_steps,
        stop="never",
        device="cpu",
    )
    lines = []
    for record in selfplay.training(config):
        verdict, first, second = record.verdict, record.verdict.first, record.verdict.second
        lines.append(
            {
                "plies": record.steps,
                "exploitability": verdict.exploitability,
                "first_losses": first.losses,
                "second_losses": second.losses,
                "first_illegal": first.illegal,
                "second_illegal": second.illegal,
                "optimal_states": verdict.optimal_states,
            }
        )
    return lines


def last_evaluations(lines: Sequence[Result]) -> Result:
    """Return the means over the last evaluations of a run."""
    last = lines[-WINDOW:]
    bad = [sum(line[name] for name in line if name.endswith(("losses", "illegal"))) for line in last]
    return {
        "exploitability": statistics.mean(line["exploitability"] for line in last),
        "ways to beat it": statistics.mean(bad),
        "optimal states": statistics.mean(line["optimal_states"] for line in last),
        "unbeatable, % of evaluations": 100 * bad.count(0) / len(last),
    }


def main(seeds: tuple[int, ...] = tuple(range(5)), total_steps: int = 1_500_000, docs: Path | None = None) -> None:
    """Measure what the three two-player targets learn by plain self-play, and write every evaluation.

    Args:
        seeds: Seeds of every target.
        total_steps: Plies of every run; by default as many as epsilon rises over.
        docs: Folder to write targets.csv into.
    """
    curves: dict[tuple[Target, int], list[Result]] = {}

    def measure(target: Target, seed: int) -> Result:
        curves[target, seed] = train(target, seed, total_steps)
        return last_evaluations(curves[target, seed])

    note = f"mean over the last {WINDOW} evaluations of each run"
    harness.run("The three targets", TARGETS, seeds, measure, note, docs=docs)
    if docs is not None:
        lines = [[*run, *line.values()] for run, of_run in curves.items() for line in of_run]
        header = ["target", "seed", *next(iter(curves.values()))[0]]
        write_csv(docs / "targets.csv", [header, *lines])


if __name__ == "__main__":
    tyro.cli(main)
