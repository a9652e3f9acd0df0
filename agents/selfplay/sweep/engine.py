"""The engine of a sweep: Ray trains each run in a worker, and in another one when a worker or its machine dies."""

import contextlib
import os
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

# Ray reads these when it is imported.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "60")  # on a busy machine its own limit is too short

import ray

import selfplay
from selfplay.errors import UserError
from selfplay.files import BusyError, write_whole
from selfplay.runs.folder import CONFIG
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import PlannedRun
from selfplay.sweep.sampled_search import SampledSearch
from selfplay.sweep.sweep_results import FAILURE, SweepResult, read_result

MOST_RETRIES = 10
"""Workers to which a run is given after its first one has died. Then the run has failed, since it may kill them."""
SECONDS_TO_END = 6.0
"""Time for a worker to end whose sweep was killed; until then it is in the folder of its run."""
FAILURES = (ray.exceptions.RayTaskError, ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError)
"""Errors of one run: it raised, or its workers died again and again. All others end the sweep."""
OBJECT_STORE = 100_000_000
"""Bytes of shared memory; what workers return is small."""
SECONDS_TO_CONNECT = 10.0


class Grid:
    """The runs of a sweep that is no search."""

    def __init__(self, runs: Sequence[PlannedRun]) -> None:
        self.waiting = deque(runs)

    def next_run(self) -> PlannedRun | None:
        """Return the run to train next, None if there is none."""
        return self.waiting.popleft() if self.waiting else None

    def ended(self, run: PlannedRun, result: SweepResult) -> None:
        """Note the result of a run; nothing depends on it."""


def train_all(
    folder: Path,
    source: Grid | SampledSearch,
    cpus: int | None,
    checkpoint_interval: float,
    show: Callable[[int, list[str]], None],
    **own: Any,
) -> Iterator[SweepResult]:
    """Train the runs of a sweep, some side by side, and yield the result of each as it ends.

    `cpus` is the number of runs side by side, by default the number of cores. `show` is told how many runs have ended,
    and the names of those under way, whenever that changes. `own` is the custom network or agent of the runs, as
    `selfplay.train` takes them. Ray must be connected.

    Raises:
        UserError: the folder of a run is a link, through which files elsewhere would be written.
    """
    task = ray.remote(max_retries=MOST_RETRIES, retry_exceptions=[BusyError])(train_run)
    most = cpus or int(ray.cluster_resources()["CPU"])
    at_work: dict[ray.ObjectRef, PlannedRun] = {}
    results = 0
    while True:
        while len(at_work) < most:
            run = source.next_run()
            if run is None:
                break
            if (folder / run.name).is_symlink():
                raise UserError(f"{folder / run.name}: is a link to elsewhere; put the run's folder in its place")
            at_work[task.remote(folder.resolve(), run, checkpoint_interval, **own)] = run
        show(results, [run.name for run in at_work.values()])
        if not at_work:
            return
        [ended], _ = ray.wait(list(at_work))
        run = at_work.pop(ended)
        try:
            ray.get(ended)
        except FAILURES as error:
            cause = getattr(error, "cause", None)
            why = cause if isinstance(cause, UserError) else error  # else with the traceback of the worker
            (folder / run.name).mkdir(exist_ok=True)
            write_whole(folder / run.name / FAILURE, f"{why}\n".encode())
        result = read_result(folder / run.name, run)
        source.ended(run, result)
        results += 1
        yield result


def train_run(sweep: Path, run: PlannedRun, checkpoint_interval: float, **own: Any) -> None:
    """Train a run of a sweep to its end: begin it, or continue from its last checkpoint.

    Raises:
        BusyError: another worker is in the run's folder.
        UserError: the folder of the sweep cannot be seen from here, or the run has failed.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # runs side by side would share one GPU, and be slower for it
    if not (sweep / plans.FILE).exists():
        raise UserError(
            f"{sweep}: {socket.gethostname()} does not see it; dir must be on storage that all machines see"
        )
    folder = sweep / run.name
    (folder / FAILURE).unlink(missing_ok=True)
    flags = {"checkpoint_interval": checkpoint_interval, "progress": False, **own}
    try:
        if not (folder / CONFIG).exists():
            selfplay.train(run.config, run_dir=folder, **flags)
        elif selfplay.open(folder).interrupted:
            selfplay.train(resume=folder, **flags)
    except BusyError:
        time.sleep(SECONDS_TO_END)
        raise  # and try again
    except KeyboardInterrupt:  # the machine is ending this process; Ray gives the run to another one
        os._exit(1)


@contextlib.contextmanager
def connected(cpus: int | None, address: str | None) -> Iterator[None]:
    """Start Ray on this machine with its files in a temporary folder, or connect to a cluster.

    Raises:
        UserError: there is no cluster at the address, or a process of Ray has died.
    """
    if address is not None:
        _check_cluster(address)
    with tempfile.TemporaryDirectory(prefix="selfplay-", ignore_cleanup_errors=True) as files:
        try:
            if address is None:
                ray.init(
                    "local",
                    num_cpus=cpus,
                    num_gpus=0,
                    object_store_memory=OBJECT_STORE,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level="ERROR",
                    _temp_dir=files,
                )
            else:
                ray.init(address, log_to_driver=False, logging_level="ERROR")
            yield
        except ray.exceptions.RayError as error:
            raise UserError(f"Ray has failed ({error})") from None
        finally:
            ray.shutdown()


def _check_cluster(address: str) -> None:
    """Refuse an address where nothing listens, at which Ray would try to connect for minutes.

    Raises:
        UserError: nothing listens there.
    """
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), SECONDS_TO_CONNECT).close()
    except (OSError, ValueError) as error:
        raise UserError(
            f"address {address}: there is no Ray cluster ({error}); it must be like 10.0.0.1:6379"
        ) from None
