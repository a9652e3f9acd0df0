"""One run of a sweep on a worker: started, or resumed from its checkpoint, in its own folder."""

import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from selfplay.errors import UserError
from selfplay.files import BusyError
from selfplay.learning.api import Config, train
from selfplay.learning.folder import CONFIG, is_finished
from selfplay.sweep import plan as plans, results
from selfplay.sweep.state import FILE, STOP

PATIENCE = 6.0
"""Seconds after which a run is given to another worker if its folder is in use; this happens some ten times."""


def train_run(folder: Path, plan: plans.Plan, run: plans.Run, interval: float) -> plans.Run:
    """Train one run of the sweep in a folder to its end, or until the sweep is asked to stop; return its new state.

    A mistake in its settings or its folder makes it a failed one. `interval` is in seconds, between checkpoints.

    Raises:
        UserError: the folder of the sweep cannot be seen from here.
        BusyError: another worker is in the run's folder.
        RuntimeError: this process was told to end, and another one can resume the run.
    """
    started = time.perf_counter()
    run = replace(run, state="done", host=socket.gethostname())
    if not (folder / FILE).exists():
        raise UserError(f"{folder}: {run.host} does not see it; --dir must be on storage that all machines see")
    try:
        config = plans.config_of(plan, run.values, run.seed)
        _train(folder / run.name, config, interval, (folder / STOP).exists)
        outcome = results.read_outcome(folder / run.name, config)
        run.objective = results.objective(outcome, plan.objective)
        if outcome.first is not None:
            run.proved = int(outcome.amount("steps"))
    except KeyboardInterrupt:
        if not (folder / STOP).exists():  # its machine is ending it
            raise RuntimeError(f"{run.host} was told to end it") from None
        run.state = "waiting"
    except BusyError:  # a worker whose machine was given up may still be in it
        time.sleep(PATIENCE)
        raise
    except UserError as error:
        run.state, run.why = "failed", str(error).replace(f"{folder}/", "")
        run.objective = 2 * plans.UNPROVED_PENALTY
    run.seconds = time.perf_counter() - started
    return run


def _train(folder: Path, config: Config, interval: float, stop_when: Callable[[], bool]) -> None:
    """Start or resume a run, unless it is finished.

    Raises:
        BusyError: another process is in its folder.
        KeyboardInterrupt: the sweep was asked to stop.
    """
    if stop_when():
        raise KeyboardInterrupt
    if folder.is_symlink():
        raise UserError(f"{folder}: is a link to elsewhere; put the run's folder in its place")
    if not (folder / CONFIG).exists():
        run = train(replace(config, run_dir=folder), checkpoint_interval=interval, stop_when=stop_when)
    elif not is_finished(folder):
        run = train(config, resume=folder, checkpoint_interval=interval, stop_when=stop_when)
    else:
        return
    if run.interrupted:
        raise KeyboardInterrupt
