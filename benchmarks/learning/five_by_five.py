"""Train DQNs on 5,5,4 for an hour of a core each, and count the ways to beat them.

    python -m benchmarks.learning.five_by_five --seed 1 --out FOLDER

The same command continues a run that was broken off. Written are the evaluations of the run, the ways to beat its player in one large search at some times, which is the same
search each time and is not part of the hour, and its weights. At the end all of its play is followed.
"""

import json
import time
from pathlib import Path
from typing import Any

import torch
import tyro

from benchmarks import harness
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.learner import DQNLearner
from selfplay.judge.evaluate import BOTH_SEATS, search_seat
from selfplay.runs.loop import Counters, Recorder, learner_policy, train
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
    config = DQNConfig(preset="5x5", seed=seed, device="cpu", total_steps=1_000_000_000)
    learner = DQNLearner(config)
    saved = out / f"{seed}.pt"
    progress = Counters(due=config.eval_every)
    before = 0.0
    data: dict[str, Any] = {"seed": seed, "searches": [], "evaluations": []}
    if saved.exists():
        state = torch.load(saved)
        learner.restore(state["learner"])
        progress = Counters(**state["progress"])
        before, data = state["minutes"], state["data"]
    else:
        data["measured on"] = harness.start("5,5,4", seeds=[seed])
    not_counted = 0.0
    started = time.process_time()

    def spent() -> float:
        return before + (time.process_time() - started - not_counted) / 60

    class Checkpoints(Recorder):
        """Writes what the run needs to continue, every minute."""

        last = before

        def checkpoint(self, progress: Counters, now: bool) -> None:
            if now or spent() > self.last + 1:
                self.last = spent()
                state = {"learner": learner.state(), "progress": vars(progress), "minutes": spent(), "data": data}
                torch.save(state, saved.with_suffix(".new"))
                saved.with_suffix(".new").rename(saved)

    due = [minute for minute in MINUTES if len(data["searches"]) <= MINUTES.index(minute)]
    for record in train(learner, config, progress, Checkpoints(), should_stop=lambda: spent() >= minutes):
        verdict = record.verdict
        data["evaluations"].append(
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
            search_started = time.process_time()
            row = {"minutes": due.pop(0), "plies": record.steps, **searched(learner, SEARCHED, SEARCH_SEED)}
            data["searches"].append(row)
            print(seed, json.dumps(row), flush=True)
            not_counted += time.process_time() - search_started
            write_tensors(out / f"{seed}.safetensors", learner.player().tensors())
        (out / f"{seed}.json").write_text(json.dumps(data, indent=1))
    print(seed, "ended after", spent(), "minutes", learner.steps, "plies", flush=True)


if __name__ == "__main__":
    tyro.cli(main)
