"""Measure what a run costs as a trial of Ray Tune, and as a plain Ray task, as `selfplay sweep` trains it.

    pip install 'ray[tune]'
    python -m benchmarks.sweeps.ray_tune --docs docs

A way trains the same runs of three seconds or so, side by side. The seconds of a run are those of all, times the cores,
over the runs; the start of Ray does not count.
"""

import logging
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1"}  # before Ray is imported

import ray
from ray import tune

import selfplay
from benchmarks import harness
from benchmarks.data import Result
from selfplay.cli.flags import parse, run_command

PROG = "python -m benchmarks.sweeps.ray_tune"
Way: TypeAlias = Literal["plain Ray tasks", "Ray Tune", "Ray Tune, reused actors"]


@dataclass(frozen=True)
class Flags:
    """Measure what a run costs as a trial of Ray Tune, and as a plain Ray task."""

    runs: int = 20
    """Runs, each with its seed."""
    total_steps: int = 200_000
    """Plies of a run, which take three seconds on a quiet core."""
    cores: int = 2
    """Runs side by side."""
    rounds: int = 1
    """Times that everything is measured."""
    docs: Path | None = None
    """Folder of the pages, in whose data file the results are saved."""


def measure(way: Way, flags: Flags) -> Result:
    """Train all runs in one way, on a Ray that is started for it."""
    with tempfile.TemporaryDirectory() as folder:

        def train(seed: int) -> float:
            began = time.perf_counter()
            settings: dict[str, Any] = {
                "seed": seed,
                "total_steps": flags.total_steps,
                "stop": "never",
                "device": "cpu",
            }
            selfplay.train(run_dir=f"{folder}/{seed}", progress=False, **settings)
            return time.perf_counter() - began

        def trial(config: dict[str, Any]) -> None:
            tune.report({"seconds": train(config["seed"])})

        ray.init(
            "local",
            num_cpus=flags.cores,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _temp_dir=f"{folder}/ray",
        )
        began = time.perf_counter()
        if way == "plain Ray tasks":
            task = ray.remote(train)
            seconds = ray.get([task.remote(seed) for seed in range(flags.runs)])
        else:
            results = tune.Tuner(
                tune.with_resources(trial, {"cpu": 1}),
                param_space={"seed": tune.grid_search(list(range(flags.runs)))},
                tune_config=tune.TuneConfig(reuse_actors=way == "Ray Tune, reused actors"),
                run_config=tune.RunConfig(storage_path=folder, name="tune", verbose=0),
            ).fit()
            seconds = [result.metrics["seconds"] for result in results]
        whole = (time.perf_counter() - began) * flags.cores / flags.runs
        ray.shutdown()
    training = sum(seconds) / len(seconds)
    return {"seconds of a run": whole, "of these in training": training, "to begin it": whole - training}


def main(args: Sequence[str]) -> None:
    """Measure all ways, and print the results."""
    flags = parse(Flags, args, PROG)
    harness.run(
        "Ray Tune",
        get_args(Way),
        list(range(flags.rounds)),
        lambda way, _: measure(way, flags),
        f"{flags.runs} runs of {flags.total_steps:,} plies on {flags.cores} cores",
        ["ray"],
        flags.docs,
    )


if __name__ == "__main__":
    run_command(main, PROG)
