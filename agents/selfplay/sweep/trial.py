"""One run of a sweep on a worker: begun, or gone on with from its checkpoint, in its own folder. It knows no Ray."""

import contextlib
import dataclasses
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.algorithms import Config, train
from selfplay.errors import UserError
from selfplay.files import BusyError
from selfplay.sweep import outcome as outcomes, plan as plans
from selfplay.sweep.record import FILE, STOP, State
from selfplay.training.checkpoints import finished
from selfplay.training.folder import CONFIG

PATIENCE = 60.0
"""Seconds to wait for a worker that was given up to leave the run's folder."""
BETWEEN_LOOKS = 0.3
"""Seconds between two looks for the file that asks to stop."""


class EndedError(Exception):
    """Say that somebody has ended the run's process, and not the sweep."""


class Ended(NamedTuple):
    """Say how a worker has left a run."""

    state: State
    """"waiting" if it was asked to stop."""
    why: str
    proved: int | None
    objective: float
    host: str
    seconds: float


def work(place: Path, plan: plans.Plan, run: plans.Run, interval: float) -> Ended:
    """Train one run to its end, or until the sweep is asked to stop.

    Whatever is wrong with its settings or its folder makes it a failed one. `interval` is in seconds, between
    checkpoints.

    Raises:
        UserError: the folder of the sweep cannot be seen from here.
        BusyError: another worker has not left the run's folder in time.
        EndedError: this process was told to end, and the run can go on elsewhere.
    """
    if not (place / FILE).exists():
        where = f"{socket.gethostname()} does not see it"
        raise UserError(f"{place}: {where}; --dir must be on storage that all machines see at the same path")
    started, folder = time.perf_counter(), place / run.name

    def ended(state: State, why: str, outcome: outcomes.Outcome | None) -> Ended:
        proved = outcome.steps if outcome and outcome.proved else None
        amount = outcomes.objective(outcome, plan.objective)
        return Ended(state, why, proved, amount, socket.gethostname(), time.perf_counter() - started)

    try:
        config = plans.config_of(plan, run.setting.values, run.seed)
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
            _patiently(_go_on, folder, config, interval, stop_asked(place))
        return ended("done", "", outcomes.read(folder, config))
    except KeyboardInterrupt:
        if not (place / STOP).exists():  # its machine is ending it, and another goes on
            raise EndedError(f"{socket.gethostname()} was told to end it") from None
        return ended("waiting", "", None)
    except BusyError:
        raise
    except UserError as error:
        return ended("failed", str(error), None)


def _patiently(work_in: Callable[..., None], *args: Any) -> None:
    """Work in a folder once the worker that had it before, whose machine was given up, has left it.

    Raises:
        BusyError: it does not.
    """
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with contextlib.suppress(BusyError):
            return work_in(*args)
        time.sleep(BETWEEN_LOOKS)
    return work_in(*args)


def _go_on(folder: Path, config: Config, interval: float, stop_when: Callable[[], bool]) -> None:
    if stop_when():
        raise KeyboardInterrupt
    if not (folder / CONFIG).exists():
        train(dataclasses.replace(config, run_dir=folder), checkpoint_interval=interval, stop_when=stop_when)
    elif not finished(folder):
        train(config, resume=folder, checkpoint_interval=interval, stop_when=stop_when)


def stop_asked(place: Path) -> Callable[[], bool]:
    """Return what tells whether a sweep was asked to stop, and looks seldom, because runs ask often."""
    asked, looked = False, float("-inf")

    def ask() -> bool:
        nonlocal asked, looked
        if not asked and time.monotonic() >= looked + BETWEEN_LOOKS:
            asked, looked = (place / STOP).exists(), time.monotonic()
        return asked

    return ask
