"""The engine of a sweep: Ray Tune gives its runs to workers, and again to others when a worker or a machine dies.

Ray's own snapshots of an experiment are pickles. They lie in a folder of their own for as long as the sweep runs and
are never read: what goes on is taken from `sweep.json` and from the checkpoints of the runs.
"""

import contextlib
import itertools
import logging
import os
import shutil
import socket
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # or it would tell its makers
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_TRAIN_ENABLE_V2_MIGRATION_WARNINGS": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "TUNE_PRINT_ALL_TRIAL_ERRORS": "0",
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
}
"""What Ray is told before it is imported."""
os.environ |= {name: value for name, value in QUIET.items() if name not in os.environ}

import ray  # noqa: E402 (it looks at its variables when it is imported)
from ray import tune  # noqa: E402
from ray.tune.experiment import Trial  # noqa: E402
from ray.tune.schedulers import ASHAScheduler, FIFOScheduler, TrialScheduler  # noqa: E402

from selfplay.errors import UserError, one_line, what_failed  # noqa: E402
from selfplay.program import when_asked_to_stop  # noqa: E402
from selfplay.sweep import plan as plans, search  # noqa: E402
from selfplay.sweep.record import STOP, Row, Sweep, read  # noqa: E402
from selfplay.sweep.screen import Screen  # noqa: E402
from selfplay.training.screen import shown  # noqa: E402

for _name in ("ray", "optuna"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

MOST_DEATHS = 10
"""Of a run's workers, one after the other, after which it has failed: it may be what kills them."""
OBJECT_STORE = 100_000_000
"""Bytes of shared memory; what workers say is small."""
TO_CONNECT = 10.0
"""Seconds to wait for a cluster to take a connection."""
LOOPBACK = "127.0.0.2" if sys.platform == "linux" else None
"""Where Ray is to be found on this machine alone; of 127.0.0.1 it would make an address that others can reach."""
OBJECTIVE, SEEDS = "objective", "training_iteration"
REDUCTION = 3
"""One in so many settings of a search goes on with more seeds."""


class Worker(tune.Trainable):
    """Train the runs of one setting, one at each step; one worker does many settings, and imports PyTorch once."""

    def setup(self, config: dict[str, Any]) -> None:
        """Take the setting."""
        self._config = config
        self._objectives: list[float] = []

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Take the next setting."""
        self.setup(new_config)
        return True

    def step(self) -> dict[str, Any]:
        """Train the next run, or find it finished if a worker before had come so far, and say how it ended."""
        from selfplay.sweep import trial  # PyTorch, which the process that gives out the work has no use for

        place = Path(self._config["place"])
        sweep = read(place)
        runs = runs_of(sweep, self._config)
        number = len(self._objectives)
        ended = trial.work(place, sweep.plan, runs[number], self._config["interval"])
        self._objectives.append(ended.objective)
        objective = sum(self._objectives) / len(self._objectives)
        last = number + 1 == len(runs) or ended.state == "waiting"
        return {"run": number, "ended": ended._asdict(), OBJECTIVE: objective, tune.result.DONE: last}

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        """Save nothing: each run keeps its own checkpoints."""


def runs_of(sweep: Sweep, config: Mapping[str, Any]) -> list[plans.Run]:
    """Return the runs that Ray's configuration of a trial means: one of the record's, or all of a new setting."""
    if "row" in config:
        row = sweep.rows[config["row"]]
        return [plans.Run(row.name, plans.Setting(row.setting, row.values), row.seed)]
    return plans.runs_of(sweep.plan, search.values(sweep.plan, config["drawn"]))


class Recorder(tune.Callback):
    """Keep the record of a sweep while Ray Tune works, and show how it stands."""

    def __init__(self, sweep: Sweep, screen: Screen) -> None:
        self._sweep = sweep
        self._screen = screen
        self._at_work: set[str] = set()
        self._awaited: set[str] | None = None
        self._deaths: Counter[str] = Counter()

    def __getstate__(self) -> dict[str, Any]:
        """Return nothing for Ray's snapshots, which nobody reads; a terminal could not be in them."""
        return {}

    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **_: Any) -> None:
        """Note that a worker begins a setting."""
        del iteration, trials
        self._at_work.add(trial.trial_id)
        self._begin(self._rows(trial))

    def on_trial_result(
        self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **_: Any
    ) -> None:
        """Note how a worker has left a run, and that it begins the next."""
        del iteration, trials
        rows, ended = self._rows(trial), result["ended"]
        row = rows[result["run"]]
        if row.state != "done":  # or a worker before has come so far, and this one has only found it so
            row.state, row.why, row.proved = ended["state"], one_line(ended["why"]), ended["proved"]
            row.host, row.seconds = ended["host"], ended["seconds"]
            self._screen.ended(row)
        if not result[tune.result.DONE]:
            self._begin(rows)
        self._sweep.write()

    def on_trial_complete(self, iteration: int, trials: list[Trial], trial: Trial, **_: Any) -> None:
        """Note that a search goes no further with a setting, or that all its runs have ended."""
        del iteration, trials
        self._leave(trial)
        if self._awaited is None:
            for row in self._rows(trial):
                if row.state in ("waiting", "running"):
                    row.state, row.why = "dropped", "other settings were better with the seeds before"
            self._sweep.write()

    def on_trial_recover(self, iteration: int, trials: list[Trial], trial: Trial, **_: Any) -> None:
        """Note that a worker died, and that the setting waits for another."""
        del iteration, trials
        self._died(trial)

    def on_trial_error(self, iteration: int, trials: list[Trial], trial: Trial, **_: Any) -> None:
        """Note that Ray Tune gives a setting up: too many workers died, or raised what is no user's mistake.

        It also does so at the first death if a worker that has ended another setting dies while it takes this one on.
        """
        del iteration, trials
        self._died(trial)

    def _died(self, trial: Trial) -> None:
        """Let the runs that a dead worker had still to do wait for another, or fail if there were too many."""
        self._leave(trial)
        left = [row for row in self._rows(trial) if row.state in ("waiting", "running")]
        self._deaths.update(row.name for row in left[:1])
        for row in left:
            row.state = "waiting"
            if self._deaths[left[0].name] > MOST_DEATHS:
                row.state, row.why = "failed", f"given up after {MOST_DEATHS + 1} workers: {_reason(trial)}"
                self._screen.ended(row)
        self._sweep.write()

    def stop(self) -> None:
        """Ask all workers to write a checkpoint and stop."""
        if self._awaited is not None:
            raise KeyboardInterrupt
        (self._sweep.place / STOP).touch()
        self._awaited = set(self._at_work)
        self._screen.stopping()

    def stopped(self) -> bool:
        """Tell whether all who were at work when they were asked to stop have done so."""
        return self._awaited is not None and not self._awaited

    @property
    def stop_asked(self) -> bool:
        """Tell whether the sweep was asked to stop."""
        return self._awaited is not None

    def _rows(self, trial: Trial) -> list[Row]:
        return self._sweep.add(runs_of(self._sweep, trial.config))

    def _begin(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if row.state == "waiting":
                row.state, row.starts = "running", row.starts + 1
            if row.state == "running":
                break
        self._sweep.write()

    def _leave(self, trial: Trial) -> None:
        self._at_work.discard(trial.trial_id)
        if self._awaited is not None:
            self._awaited.discard(trial.trial_id)


class StopAll(tune.Stopper):
    """Tell Ray Tune when everything has stopped."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Let every trial go on."""
        del trial_id, result
        return False

    def stop_all(self) -> bool:
        """Tell whether all have stopped that were asked to."""
        return self._recorder.stopped()


def train(sweep: Sweep, cpus: int | None, address: str | None, interval: float) -> bool:
    """Train all runs of a sweep that have not ended; tell whether it came to its end, and was not interrupted.

    `cpus` is how many run side by side, by default as many as there are cores, here or in the cluster at `address`.

    Raises:
        UserError: there is no such cluster, Ray does not start, or the record cannot be written.
        KeyboardInterrupt: it was interrupted twice; what each run has since its last checkpoint is to be done again.
    """
    place = str(sweep.place.resolve())
    sweep = replace(sweep, place=Path(place))
    config = {"place": place, "interval": interval}
    for row in sweep.rows:
        if row.state == "running" or (row.state == "failed" and not sweep.plan.search):
            row.state = "waiting"
    how_to_go_on = _search if sweep.plan.search else _everything
    space, how = how_to_go_on(sweep, cpus)
    if how.num_samples <= 0:
        return True
    (sweep.place / STOP).unlink(missing_ok=True)
    with connected(cpus, address) as own, shown(Screen(sweep, cpus or _cores())) as screen:
        sweep.write()  # not before: where Ray does not start the folder is still empty, and can be used again
        recorder = Recorder(sweep, screen)
        with when_asked_to_stop(recorder.stop):
            for number in itertools.count():
                run_config = tune.RunConfig(
                    name=str(number),
                    storage_path=str(own),
                    verbose=0,
                    stop=StopAll(recorder),
                    callbacks=[recorder],
                    failure_config=tune.FailureConfig(max_failures=MOST_DEATHS),
                )
                tune.Tuner(Worker, param_space={**config, **space}, tune_config=how, run_config=run_config).fit()
                if recorder.stop_asked or not any(row.state == "waiting" for row in sweep.rows):
                    break
                space, how = how_to_go_on(sweep, cpus)  # with what was given up too soon
    (sweep.place / STOP).unlink(missing_ok=True)
    for row in sweep.rows:
        if row.state == "running":
            row.state = "waiting"
    sweep.write()
    return not recorder.stop_asked


def _everything(sweep: Sweep, cpus: int | None) -> tuple[dict[str, Any], tune.TuneConfig]:
    """Return all runs that wait, one after the other in the order of the record."""
    left = [number for number, row in enumerate(sweep.rows) if row.state == "waiting"]
    how = tune.TuneConfig(num_samples=min(1, len(left)), max_concurrent_trials=cpus, reuse_actors=True)
    return {"row": tune.grid_search(left)}, how


def _search(sweep: Sweep, cpus: int | None) -> tuple[dict[str, Any], tune.TuneConfig]:
    """Return a search with Optuna, which gives up a setting whose first seeds are not among the best third."""
    known, seeds = search.known(sweep), len(sweep.plan.seeds)
    scheduler: TrialScheduler = FIFOScheduler()
    if seeds > 1:
        scheduler = ASHAScheduler(SEEDS, OBJECTIVE, "min", max_t=seeds, grace_period=1, reduction_factor=REDUCTION)
    how = tune.TuneConfig(
        search_alg=search.searcher(sweep, known, OBJECTIVE),
        scheduler=scheduler,
        num_samples=sweep.plan.search - len(known.ended),
        max_concurrent_trials=cpus,
        reuse_actors=True,
    )
    return {}, how


def find(address: str) -> str:
    """Return the address of the cluster that is meant, at which something listens; Ray itself would try for minutes.

    Raises:
        UserError: there is none.
    """
    try:
        found = ray._private.services.canonicalize_bootstrap_address_or_die(address)
        host, _, port = found.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), TO_CONNECT).close()
    except (OSError, OverflowError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(f"--address {address}: there is no Ray cluster ({why})") from None
    return str(found)


@contextlib.contextmanager
def connected(cpus: int | None, address: str | None) -> Iterator[Path]:
    """Start Ray on this machine, or connect to a cluster, and give it a folder that is gone afterwards.

    Raises:
        UserError: there is no cluster at the address, or Ray does not start here.
    """
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL, "include_dashboard": False}
    own = Path(tempfile.mkdtemp(prefix="selfplay-"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if address is None:
                cores = cpus or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
                with without_dashboard():
                    try:
                        ray.init(
                            "local",
                            num_cpus=cores,
                            num_gpus=0,
                            object_store_memory=OBJECT_STORE,
                            _temp_dir=str(own),
                            _node_ip_address=LOOPBACK,
                            _system_config={"prestart_worker_first_driver": False},  # workers that nobody would use
                            **quiet,
                        )
                    except Exception as error:  # Ray has no narrower one for a machine on which it takes too long
                        raise UserError(f"Ray did not start; try again when less is running ({error})") from None
            else:
                try:
                    del quiet["include_dashboard"]
                    ray.init(address, **quiet)
                except (ConnectionError, RuntimeError, ValueError) as error:
                    raise UserError(f"--address {address}: there is no Ray cluster ({what_failed(error)})") from None
            yield own
    finally:
        ray.shutdown()
        shutil.rmtree(own, ignore_errors=True)


@contextlib.contextmanager
def without_dashboard() -> Iterator[None]:
    """Keep Ray from starting the process of its dashboard, which it starts though it is told not to include one.

    All that this process then does is to ask the network which cloud it is in, for the statistics that are off.
    """
    with mock.patch.object(ray._private.services, "start_api_server", return_value=(None, None)):
        yield


def _cores() -> int:
    """Return the cores of the cluster."""
    return int(ray.cluster_resources().get("CPU", 1))


def _reason(trial: Trial) -> str:
    """Return the last line of what a worker's death was."""
    error = trial.get_error()
    lines = str(error).strip().splitlines() if error else []
    return one_line(lines[-1] if lines else "no reason is known")
