"""The engine of a sweep: Ray gives the runs to workers, and to other workers when a worker or a machine dies."""

import contextlib
import itertools
import logging
import os
import socket
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}  # Ray reads them on import

import ray

from selfplay.errors import UserError, one_line
from selfplay.program import on_stop_signals
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import Run
from selfplay.sweep.screen import Screen
from selfplay.sweep.search_space import sample
from selfplay.sweep.state import STOP, Sweep
from selfplay.sweep.worker import train_run

MOST_DEATHS = 10
"""Most workers that may die while they train a run; after one more the run has failed, since it may kill them."""
OBJECT_STORE = 100_000_000
"""Bytes of shared memory; what workers return is small."""
TO_CONNECT = 10.0
"""Seconds to wait for a cluster to take a connection."""
MOST_SAMPLES = 100
"""Samples after which no new setting is expected."""
RUNGS = frozenset(3**rung for rung in range(11))
"""Numbers of seeds after which only the best third of the settings of a search goes on."""


def train(sweep: Sweep, cpus: int | None, interval: float, answers: Callable[[], bool]) -> bool:
    """Train all waiting runs of a sweep, and tell whether all ended without an interruption.

    `cpus` is the number of runs side by side, by default the number of cores. Ray must be connected, and `answers`
    tells whether it still is.

    Raises:
        OSError: the state of the sweep cannot be written.
        UserError: Ray has ended; no run has lost more than what followed its last checkpoint.
        KeyboardInterrupt: it was interrupted twice; a resumed run repeats what followed its last checkpoint.
    """
    task = ray.remote(num_cpus=1, max_retries=0)(train_run)
    most = cpus or ray.cluster_resources().get("CPU", 1)  # once: without a gcs_server it would wait for a minute
    at_work: dict[Any, Run] = {}
    deaths: Counter[str] = Counter()
    screen = Screen(sweep)
    asked = sweep.folder / STOP
    asked.unlink(missing_ok=True)

    def stop() -> None:
        if screen.stopping:
            raise KeyboardInterrupt
        asked.touch()
        screen.stop()

    with screen.live or contextlib.nullcontext(), on_stop_signals(stop):
        while True:
            if not answers():  # it would wait for minutes
                raise UserError("a process of Ray was killed, by hand or for lack of memory")
            while not screen.stopping and len(at_work) < most and (run := next_run(sweep)):
                run.state, run.starts = "running", run.starts + 1
                at_work[task.remote(sweep.folder.resolve(), sweep.plan, run, interval)] = run
                sweep.write()
            if not at_work:
                break
            for ended in ray.wait([*at_work], timeout=1)[0]:
                run = at_work.pop(ended)
                try:
                    vars(run).update(vars(ray.get(ended)))
                except ray.exceptions.RayError as error:  # its worker died, or its machine, or it raised
                    deaths[run.name] += 1
                    run.state = "waiting"
                    if deaths[run.name] > MOST_DEATHS:
                        *_, reason = str(error).splitlines()  # after a trace, if it raised
                        run.state, run.why = "failed", f"given up after {deaths[run.name]} workers: {one_line(reason)}"
                        run.objective = 2 * plans.UNPROVED_PENALTY
                if run.state != "waiting":
                    if sweep.plan.search:
                        drop_if_worse(sweep, run.setting)
                    screen.ended(run)
                sweep.write()
    asked.unlink(missing_ok=True)
    return not screen.stopping


def next_run(sweep: Sweep) -> Run | None:
    """Return the run to train next, None if there is none for now."""
    # A search trains the seeds of a setting one after the other.
    busy = [run.setting for run in sweep.runs if sweep.plan.search and run.state == "running"]
    for run in sweep.runs:
        if run.state == "waiting" and run.setting not in busy:
            return run
    settings = sweep.settings()
    if len(settings) >= sweep.plan.search:
        return None
    tried = [(runs[0].values, statistics.mean(some)) for runs in settings.values() if (some := _objectives(runs))]
    for values in itertools.islice(sample(sweep.plan.vary, tried, len(settings)), MOST_SAMPLES):
        if plans.label(values) not in settings:
            sweep.runs += [plans.run_of(values, seed) for seed in sweep.plan.seeds]
            return next_run(sweep)
    return None


def drop_if_worse(sweep: Sweep, setting: str) -> None:
    """Drop the remaining seeds of a setting in a search if others were better with as many: successive halving."""
    settings = sweep.settings()
    objectives = {name: _objectives(runs) for name, runs in settings.items()}
    seeds = len(objectives[setting])
    means = {name: statistics.mean(some[:seeds]) for name, some in objectives.items() if len(some) >= seeds}
    if seeds in RUNGS and sorted(means.values()).index(means[setting]) >= max(1, len(means) // 3):
        for run in settings[setting]:
            if run.state == "waiting":
                run.state, run.why = "dropped", "other settings were better with the seeds before"


def _objectives(runs: Sequence[Run]) -> list[float]:
    """Return the objectives of the runs that have ended."""
    return [run.objective for run in runs if run.state in ("done", "failed")]


@contextlib.contextmanager
def connected(cpus: int | None, address: str | None) -> Iterator[Callable[[], bool]]:
    """Start Ray on this machine with its files in a temporary folder, or connect to a cluster.

    Yield a function that tells whether Ray still answers.

    Raises:
        UserError: there is no cluster at the address, or Ray does not start here.
        SystemExit: SIGTERM came while Ray was starting.
    """
    with (
        tempfile.TemporaryDirectory(prefix="selfplay-", ignore_cleanup_errors=True) as folder,
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stderr(nowhere),  # where Ray prints the logs of its processes that died
    ):
        try:
            info = _start(cpus, folder) if address is None else _connect(address)
            yield lambda: _answers(info)
        finally:
            ray.shutdown()


def _start(cpus: int | None, folder: str) -> Any:
    """Start Ray on this machine, and return the addresses of its processes.

    Raises:
        UserError: it does not start.
    """
    for limit in (30, 120):  # on a busy machine its own limit can be too short
        os.environ["RAY_gcs_server_port_wait_time_s"] = str(limit)  # noqa: SIM112 (Ray calls it so)
        try:
            return ray.init(
                "local",
                num_cpus=cpus,
                num_gpus=0,
                object_store_memory=OBJECT_STORE,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                _temp_dir=folder,
            ).address_info
        except Exception as error:  # Ray has no narrower one for a machine on which it takes too long
            ray.shutdown()
            problem = error
    raise UserError(f"Ray did not start, in two tries; try again when less is running ({problem})")


def _connect(address: str) -> Any:
    """Connect to a cluster, and return the addresses of its processes.

    Raises:
        UserError: there is none.
    """
    try:
        if address.rpartition(":")[2].isdecimal():  # where nothing listens Ray would try for minutes
            _reach(address)
        return ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL).address_info
    except Exception as error:  # Ray has no narrower one
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"--address {address}: there is no Ray cluster ({reason})") from None


def _answers(info: Mapping[str, Any]) -> bool:
    """Tell whether the two processes that Ray cannot do without take a connection."""
    try:
        _reach(info["gcs_address"])
        if sys.platform != "win32":
            with socket.socket(socket.AF_UNIX) as raylet:
                raylet.settimeout(TO_CONNECT)
                raylet.connect(info["raylet_socket_name"])
    except OSError:
        return False
    return True


def _reach(address: str) -> None:
    """Connect to a port once.

    Raises:
        OSError: nothing listens there.
    """
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), TO_CONNECT).close()
