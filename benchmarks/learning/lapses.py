"""Count how often a player that was proved unbeatable is beaten again, if its training continues.

    python -m benchmarks.learning.lapses --docs docs

A lapse is an evaluation after the first proof in which the player can be beaten. With "optimal" both mean that it
chooses a best move in every state. Training ends by itself after three proofs in a row, so lapses after these are
counted too. "Before" are the former defaults.
"""

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from unittest.mock import patch

import numpy as np
import torch
import tyro
from matplotlib.figure import Figure

import selfplay
from benchmarks import data, harness
from benchmarks.data import Result
from selfplay import pictures
from selfplay.dqn.dqn import DQNAgent
from selfplay.judge import teach
from selfplay.runs import loop
from tictactoe.tree import IntArray

TITLE = "Lapses"
STOPS_AFTER = loop.PROOFS_TO_STOP
"""Proofs in a row after which training ends by itself."""
PLIES = 2_500_000
FEWER_PLIES = 1_000_000
MOST_PLIES = 3_000_000


class TargetPlayer(DQNAgent):
    """An agent whose player has the weights of its target network."""

    def average(self) -> None:
        """Copy the target network."""
        torch._foreach_copy_(self.average_weights, self.target_weights)


class Training(NamedTuple):
    """What a row trains, for how many plies, and with how many seeds."""

    settings: Mapping[str, Any]
    agent: type[DQNAgent] = DQNAgent
    plies: int = PLIES
    seeds: int = 20
    proof: str = "unbeatable"
    replies: bool = True
    """Whether games also start with the replies that beat the player."""


Row = Literal[
    "now", "before", "now, mask", "now, optimal", "now, constant learning rate", "now, separate", "4,4,4 now",
]  # fmt: skip
FORMER: Mapping[str, Any] = {
    "learning_rate_hold": 3_000,
    "batch_size": 384,
    "memory_size": 20_000,
    "updates_per_step": 1,
    "counterexamples": 0.5,
}
LARGE: Mapping[str, Any] = {"preset": "large", "mask": True}
ROWS: Mapping[Row, Training] = {
    "now": Training({}, seeds=100),
    "before": Training({**FORMER, "counterexample_margin": 0.0}, TargetPlayer, replies=False),
    "now, mask": Training({"mask": True}, plies=FEWER_PLIES, seeds=100),
    "now, optimal": Training({}, plies=FEWER_PLIES, proof="optimal"),
    "now, constant learning rate": Training({"learning_rate_hold": 0}, plies=FEWER_PLIES),
    "now, separate": Training({"networks": "separate"}, plies=FEWER_PLIES),
    "4,4,4 now": Training(LARGE, plies=MOST_PLIES, seeds=5),
}


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
    refutations = teach.refutations if training.replies else no_replies
    with no_stop, clock, patch.object(teach, "refutations", refutations):
        for record in selfplay.training(agent=training.agent, **settings):
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


def no_replies(*_: object) -> IntArray:
    """Return no positions."""
    return np.zeros((3, 0), np.int64)


@pictures.styled()
def plot(results: Mapping[str, Sequence[Result]]) -> Figure:
    """Plot the share of seeds that will be beaten again, over the plies so far, with a curve for each row."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    for row in ("before", "now"):
        if row in results:
            lasts = sorted(result["last lapse, plies"] for result in results[row] if result["lapses"])
            shares = [100 * left / len(results[row]) for left in range(len(lasts), -1, -1)]
            label = {"before": "earlier defaults", "now": "today's defaults"}.get(row, row)
            axes.step([2e4, *lasts], shares, where="post", label=f"{label}, {len(results[row])} runs")
    axes.set(xscale="log", xlabel="plies", ylabel="runs that will be beaten again, %", ylim=(-2, 102))
    axes.set_title(f"Players that were proved and train on, up to {PLIES / 1e6:g} million plies")
    axes.legend()
    return figure


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
                (docs / "lapses.png").write_bytes(pictures.png(plot(data.saved_results(docs, TITLE))))


if __name__ == "__main__":
    tyro.cli(main)
