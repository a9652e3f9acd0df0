"""The same training with several seeds at once, each in its own process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from selfplay.algorithms import Config, chosen, open as open_run
from selfplay.errors import UserError, one_line
from selfplay.training.folder import default_run_dir, settings as settings_of, unused
from selfplay.training.result import Run

TRAIN = "import json, sys, selfplay; selfplay.train(**json.load(sys.stdin), progress=False)"
"""What each process runs."""


class Runs(list[Run]):
    """Hold the runs of several seeds; printed they are a table."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: dict[int, str] = {}
        """Why the runs of other seeds failed, by seed."""

    def __repr__(self) -> str:
        lines = [f"{'seed':>6} {'proved':>7} {'steps to proof':>15} {'games lost':>11}"]
        for run in self:
            proved, steps = ("yes", f"{run.proved_from.steps:,}") if run.proved_from else ("no", "")
            lines.append(f"{run.config.seed:>6} {proved:>7} {steps:>15} {run.proof.games_lost:>11,}")
        return "\n".join([*lines, *(f"seed {seed} failed: {why}" for seed, why in self.failures.items())])


def train_seeds(
    seeds: Iterable[int],
    algorithm: str | Config | None = None,
    /,
    *,
    processes: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> Runs:
    """Train with several seeds in parallel, each as `train(algorithm, seed=seed, **settings)` in its own process.

    `processes` run at once, by default as many as the machine has processors. With `run_dir` the runs are in its
    folders seed-0, seed-1 and so on. `progress=False` prints nothing. The result is a list of runs; its `.failures`
    says why others failed. Ctrl-C ends every run after a checkpoint.

    Raises:
        UserError: a setting is invalid, or every run failed.
    """
    base, _ = chosen(algorithm, None, settings)
    place, runs = base.run_dir, Runs()
    configs = [replace(base, seed=seed, run_dir=place and place / f"seed-{seed}") for seed in seeds]
    pool = ThreadPoolExecutor(processes or os.cpu_count())
    try:
        for config, (folder, failure) in zip(configs, pool.map(_train, configs), strict=True):
            if failure:
                runs.failures[config.seed] = failure
            else:
                runs.append(open_run(folder))
            if progress:
                print(f"seed {config.seed}: {failure or runs[-1].proof!r}", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    if runs.failures and not runs:
        raise UserError(f"every run failed; {'; '.join(f'seed {seed}: {why}' for seed, why in runs.failures.items())}")
    return runs


def _train(config: Config) -> tuple[Path, str]:
    """Train in a process; return the run folder, and the message if it failed."""
    folder = config.run_dir or unused(default_run_dir(config))
    content = {"algorithm": config.algorithm, "config": settings_of(config), "run_dir": str(folder)}
    # A module may have been found in a place that only this process knows.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", TRAIN]
    done = subprocess.run(
        command, env=environment, input=json.dumps(content), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return folder, ""
    last = done.stderr.strip().rpartition("\n")[2].removeprefix("selfplay.errors.UserError: ")
    return folder, one_line(last or f"it ended with status {done.returncode}")
