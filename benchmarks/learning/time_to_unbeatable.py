"""Measure how long training takes until the player is proved unbeatable.

The figures of docs/results.md:

    python -m benchmarks.learning.time_to_unbeatable --docs docs

Every run is `python train.py` with the same settings and seed. Its seconds are those of training up to the first
evaluation from which the proof holds to the end of the run; "all seconds" also count the evaluations, from which the
player learns too. All are seconds on the processor, so other programs on the core take none of them. The proof is
"optimal" in the mode `optimal`, else "unbeatable". Updates are those of each network.
"""

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args
from unittest.mock import patch

import tyro

import selfplay
from benchmarks import harness
from benchmarks.data import Result
from selfplay.dqn.config import DQNConfig
from selfplay.runs.loop import proves
from selfplay.runs.metrics import first_of_final_streak

TITLE = "Time to unbeatable"

Mode = Literal["default", "mask", "separate", "optimal"]
MODES: dict[Mode, DQNConfig] = {
    "default": DQNConfig(),
    "mask": DQNConfig(mask=True),
    "separate": DQNConfig(networks="separate"),
    "optimal": DQNConfig(stop="optimal"),
}


def train(config: DQNConfig, seconds: float = math.inf) -> Result:
    """Train one player, for some seconds at most; return from when its proof held."""
    records, passed, started = [], [], time.process_time()
    with patch.object(time, "perf_counter", time.process_time):  # by which the loop counts its seconds
        for record in selfplay.training(config):
            records.append(record)
            passed.append(time.process_time() - started)
            if record.metrics["time/training_s"] >= seconds:
                break
    first = first_of_final_streak([proves(record.verdict, config.stop) for record in records])
    result = {"proved": first is not None, **dict.fromkeys(("seconds", "all seconds", "updates", "plies"), math.inf)}
    if first is not None:
        metrics, plies = records[first].metrics, records[first].steps
        result |= {"seconds": metrics["time/training_s"], "all seconds": passed[first]}
        result |= {"updates": metrics["time/updates"], "plies": plies}
    return result


def main(
    modes: tuple[Mode, ...] = get_args(Mode),
    seeds: tuple[int, ...] = tuple(range(10)),
    total_steps: int = DQNConfig().total_steps,
    docs: Path | None = None,
) -> None:
    """Measure how long training takes until the player is proved unbeatable.

    Args:
        modes: What to train: no flags, --mask, --networks separate, --stop optimal.
        seeds: Seeds; of 0 to 9 the modes but default and mask have only the first five.
        total_steps: Plies after which a run ends at the latest.
        docs: Folder of the pages, in whose data file the results are saved.
    """

    def measure(mode: Mode, seed: int) -> Result:
        if mode not in ("default", "mask") and 5 <= seed < 10:
            return {}
        return train(replace(MODES[mode], total_steps=total_steps, device="cpu", seed=seed))

    harness.run(TITLE, modes, seeds, measure, "a run without the proof counts as never", docs=docs)


if __name__ == "__main__":
    tyro.cli(main)
