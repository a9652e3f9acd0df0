"""Count how often a player that was proved unbeatable is beaten again, if its training continues.

    python -m benchmarks.learning.lapses --docs docs

A lapse is an evaluation after the first proof in which the player can be beaten. With "optimal" both mean that it
chooses a best move in every state. Training ends by itself after three proofs in a row, so lapses after these are
counted too.
"""

import math
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from unittest.mock import patch

import torch
import tyro

import selfplay
from benchmarks import data, harness
from benchmarks.data import Result
from selfplay.runs import loop

TITLE = "Lapses"
STOPS_AFTER = loop.PROOFS_TO_STOP
"""Proofs in a row after which training ends by itself."""
PLIES = 2_500_000
FEWER_PLIES = 1_000_000
MOST_PLIES = 3_000_000


class Training(NamedTuple):
    """The training of a row, for how many plies, and with how many seeds."""

    settings: Mapping[str, Any]
    plies: int = PLIES
    seeds: int = 20
    proof: str = "unbeatable"


Row = Literal["default", "mask", "separate", "optimal", "constant-rate", "4x4x4"]
LARGE: Mapping[str, Any] = {"preset": "large", "mask": True}
ROWS: Mapping[str, Training] = {
    "default": Training({}, seeds=100),
    "mask": Training({"mask": True}, plies=FEWER_PLIES, seeds=100),
    "separate": Training({"networks": "separate"}, plies=FEWER_PLIES),
    "optimal": Training({}, plies=FEWER_PLIES, proof="optimal"),
    "constant-rate": Training({"learning_rate_hold": 0}, plies=FEWER_PLIES),
    "4x4x4": Training(LARGE, plies=MOST_PLIES, seeds=5),
}
FLAGS: Mapping[str, str] = {
    "default": "default",
    "mask": "--mask",
    "separate": "--networks separate",
    "optimal": "--stop optimal",
    "constant-rate": "--learning-rate-hold 0",
    "4x4x4": "--preset large --mask",
}
"""The training of a row, as flags."""


def train(row: Row, seed: int, most_plies: int) -> Result:
    """Train one player to the end of its plies, and return when it was first proved and how often it lapsed."""
    torch.set_num_threads(1)
    training = ROWS[row]
    first, last, lapses, evaluations, seconds = math.inf, math.inf, 0, 0, math.inf
    in_a_row, third, later_lapses = 0, math.inf, 0
    settings = {
        **training.settings,
        "device": "cpu",
        "total_steps": min(training.plies, most_plies),
        "stop": training.proof,
        "seed": seed,
    }
    no_stop = patch.object(loop, "PROOFS_TO_STOP", math.inf)
    clock = patch.object(time, "perf_counter", time.process_time)  # by which the loop counts its seconds
    with no_stop, clock:
        for record in selfplay.training(**settings):
            proved = loop.proves(record.verdict, training.proof)
            in_a_row = in_a_row + 1 if proved else 0
            if math.isfinite(third):
                later_lapses += not proved
            elif in_a_row == STOPS_AFTER:
                third = record.steps
            if math.isfinite(first):
                evaluations += 1
                lapses += not proved
                last = last if proved else record.steps
            elif proved:
                first, seconds = record.steps, record.metrics["time/training_s"]
    print(f"{row}, seed {seed}: first proof after {first:,} plies, {lapses} lapses", flush=True)
    result: Result = {
        "first proof, plies": first,
        "first proof, s": seconds,
        "evaluations after it": evaluations,
        "lapses": lapses,
        "last lapse, plies": last,
        "without a lapse": bool(lapses == 0 and math.isfinite(first)),
        "third proof in a row, plies": third,
        "without a lapse after it": bool(later_lapses == 0 and math.isfinite(third)),
        "proved at the end": proved,
    }
    if record.verdict.optimal_states is not None:
        result["optimal states at the end"] = record.verdict.optimal_states
    return result


def main(
    rows: tuple[Row, ...] = get_args(Row),
    most_seeds: int = 100,
    most_plies: int = MOST_PLIES,
    processes: int = 2,
    docs: Path | None = None,
) -> None:
    """Count how often a player that was proved unbeatable is beaten again.

    Args:
        rows: What to train.
        most_seeds: Largest number of seeds of a row; fewer only to try the script.
        most_plies: Longest training; shorter only to try the script.
        processes: Trainings at once.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    measured_on = harness.start(TITLE)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for row in rows:
            seeds = range(min(ROWS[row].seeds, most_seeds))
            results = {row: list(pool.map(train, repeat(row), seeds, repeat(most_plies)))}
            harness.present(results, f"seeds 0 to {len(seeds) - 1}, {ROWS[row].plies:,} plies")
            if docs is not None:
                data.save(docs, TITLE, results, measured_on)


if __name__ == "__main__":
    tyro.cli(main)
