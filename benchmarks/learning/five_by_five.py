"""Train DQNs on 5,5,4 for an hour of a core each, and count the ways to beat them.

    python -m benchmarks.learning.five_by_five --seed 1 --out FOLDER

Written are the evaluations of the run, the ways to beat its player in one large search at some times, which is the same
search each time and is not part of the hour, and its weights. At the end all of its play is followed.
"""

import json
import time
from pathlib import Path
from typing import Any

import tyro

from benchmarks import harness
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.learner import DQNLearner
from selfplay.judge.evaluate import BOTH_SEATS, search_seat
from selfplay.runs.loop import learner_policy, train
from selfplay.tensor_file import write_tensors

SEARCHED = 100_000
"""Positions followed at each ply by the search that is repeated."""
SEARCH_SEED = 7
MINUTES = (5, 10, 20, 40, 60)
"""Times of that search."""


def searched(learner: DQNLearner, limit: int, sample_seed: int | None) -> dict[str, Any]:
    """Return how many ways to beat the player a search finds, and how much of its play it follows, by seat."""
    policy = learner_policy(learner, learner.player())
    found: dict[str, Any] = {}
    for name, seat in zip("XO", BOTH_SEATS, strict=True):
        started = time.process_time()
        verdict, plies = search_seat(policy, seat, limit, sample_seed)
        found[name] = {
            "ways": verdict.ways_to_beat,
            "complete": verdict.complete,
            "positions": sum(len(ply.mine) for ply in plies),
            "seconds": time.process_time() - started,
        }
    return found


def main(seed: int, out: Path, minutes: float = 60.0) -> None:
    """Train one player.

    Args:
        seed: Seed of the run.
        out: Folder for its data and its weights.
        minutes: Processor time of training and evaluations together.
    """
    out.mkdir(parents=True, exist_ok=True)
    measured_on = harness.start("5,5,4", seeds=[seed])
    config = DQNConfig(preset="5x5", seed=seed, device="cpu", total_steps=1_000_000_000)
    learner = DQNLearner(config)
    not_counted = 0.0
    started = time.process_time()

    def spent() -> float:
        return (time.process_time() - started - not_counted) / 60

    due = [minute for minute in MINUTES if minute <= minutes]
    rows: list[dict[str, Any]] = []
    searches: list[dict[str, Any]] = []
    for record in train(learner, config, should_stop=lambda: spent() >= minutes):
        verdict = record.verdict
        rows.append(
            {
                "minutes": spent(),
                "plies": record.steps,
                "updates": learner.updates,
                "seconds_of_training": record.metrics["time/training_s"],
                "X": verdict.first.ways_to_beat,
                "O": verdict.second.ways_to_beat,
                "complete": verdict.complete,
                "positions": record.metrics["teach/positions"],
            }
        )
        if due and spent() >= due[0]:
            before = time.process_time()
            row = {"minutes": due.pop(0), "plies": record.steps, **searched(learner, SEARCHED, SEARCH_SEED)}
            searches.append(row)
            print(seed, json.dumps(row), flush=True)
            not_counted += time.process_time() - before
            write_tensors(out / f"{seed}.safetensors", learner.player().tensors())
        data = {"measured on": measured_on, "seed": seed, "searches": searches, "evaluations": rows}
        (out / f"{seed}.json").write_text(json.dumps(data, indent=1))
    print(seed, "ended after", spent(), "minutes", learner.steps, "plies", flush=True)


if __name__ == "__main__":
    tyro.cli(main)
