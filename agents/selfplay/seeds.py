"""The same training with several seeds at once, each in a process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from selfplay.algorithms import Config, chosen, open as open_run
from selfplay.errors import UserError, one_line
from selfplay.training.folder import FORMAT, default_run_dir, settings as settings_of, unused
from selfplay.training.loop import first_of_final_streak, proves
from selfplay.training.result import Run


class Runs(list[Run]):
    """Hold the runs of several seeds; printed they are a table."""

    def __init__(self, runs: Iterable[Run], failures: Mapping[int, str]) -> None:
        super().__init__(runs)
        self.failures = failures
        """Why the runs of other seeds failed, by seed."""

    def __repr__(self) -> str:
        lines = [f"{'seed':>6}  {'proved':<6}  {'steps to proof':>14}  {'games lost':>10}", *map(_line, self)]
        return "\n".join([*lines, *(f"seed {seed} failed: {why}" for seed, why in self.failures.items())])


def _line(run: Run) -> str:
    """Return a row of the table."""
    stop = "unbeatable" if run.config.stop == "never" else run.config.stop
    first = first_of_final_streak([proves(record.evaluation, stop) for record in run.records])
    proved, steps = ("no", "") if first is None else ("yes", f"{run.records[first].steps:,}")
    lost = f"{run.proof.games_lost:,}" if run.records else ""
    return f"{run.config.seed:>6}  {proved:<6}  {steps:>14}  {lost:>10}"


def train_seeds(
    seeds: Iterable[int],
    algorithm: str | Config | None = None,
    /,
    *,
    processes: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> Runs:
    """Train with each of some seeds, as `train(algorithm, seed=seed, **settings)` does, in processes side by side.

    `processes` run at once, by default as many as the machine has processors. With `run_dir` the runs are in its
    folders seed-0, seed-1 and so on. `progress=False` prints nothing. Ctrl-C ends all runs after a checkpoint each.

    Raises:
        UserError: a setting is invalid, or every run failed.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    base, _ = chosen(algorithm, None, settings)
    parent = base.run_dir
    configs = [replace(base, seed=seed, run_dir=parent and parent / f"seed-{seed}") for seed in seeds]
    runs: dict[int, Run] = {}
    failures: dict[int, str] = {}
    running: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(processes or os.cpu_count()) as pool:
        futures = {pool.submit(_train, config, running): config.seed for config in configs}
        try:
            for future in as_completed(futures):
                seed, (folder, failure) = futures[future], future.result()
                if failure:
                    failures[seed] = failure
                else:
                    runs[seed] = open_run(folder)
                if progress:
                    print(
                        f"seed {seed} failed: {failure}" if failure else f"seed {seed}: {runs[seed].proof!r}",
                        flush=True,
                    )
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.terminate()
            raise
    if failures and not runs:
        raise UserError(f"every run failed; {'; '.join(f'seed {seed}: {why}' for seed, why in failures.items())}")
    return Runs([runs[config.seed] for config in configs if config.seed in runs], failures)


def _train(config: Config, running: list[subprocess.Popen[str]]) -> tuple[Path, str]:
    """Train in a process; return the run folder, and in one line why it failed, if it did."""
    folder = config.run_dir or unused(default_run_dir(config))
    content = {"format": FORMAT, "algorithm": config.algorithm, "config": settings_of(config)}
    # A module may have been found in a place that only this process knows.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with TemporaryDirectory() as place:
        path = Path(place) / "config.json"
        path.write_text(json.dumps(content))
        command: list[str | Path] = [sys.executable, "-m", "selfplay", "train", "--config", path, "--run-dir", folder]
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        _, complaints = process.communicate()
    if process.returncode == 0:
        return folder, ""
    last = complaints.strip().rpartition("\n")[2].removeprefix("selfplay train: ")
    return folder, one_line(last or f"it ended with status {process.returncode}")
