"""Runs of a search, each in a fresh process, some at once."""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import torch

from benchmarks.peers import judging, learners
from benchmarks.peers.tuning.record import Ended, Job
from selfplay.errors import one_line, what_failed


def run(job: Job) -> Ended:
    """Train, and return what came of it; a failure, too, is a result."""
    try:
        module = learners.load(job.player)
        make = partial(module.make, settings=module.drawn_settings(job.drawn)) if job.drawn else module.make
        history, busy = judging.measure(job.name, make, job.seed, job.due, time.process_time)
    except Exception as error:
        return Ended(job, [], 0.0, one_line(what_failed(error)))
    return Ended(job, history, busy)


def results(jobs: Iterator[Job], processes: int) -> Iterator[Ended]:
    """Yield what comes of the jobs, so many of them at once; the next is asked for when there is room for it."""
    context = multiprocessing.get_context("spawn")  # what a learner leaves in torch or Python is not for the next
    running: dict[Any, tuple[Job, BaseProcess]] = {}
    try:
        while True:
            while len(running) < processes and (job := next(jobs, None)) is not None:
                ours, its = context.Pipe()
                worker = context.Process(target=_work, args=(job, its), daemon=True)
                with _ctrl_c_ignored():
                    worker.start()
                its.close()  # so that the end of the process is the end of the connection
                running[ours] = job, worker
            if not running:
                return
            for ready in wait(list(running)):
                job, process = running.pop(ready)
                yield _result(ready, job, process)
    finally:
        for _, process in running.values():
            process.kill()


@contextlib.contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Start a process in which Ctrl-C stays ignored: the search hears it too, and ends the process."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(job: Job, connection: Connection) -> None:
    """Do one job and send what came of it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    with contextlib.suppress(BrokenPipeError):
        connection.send(run(job))


def _end_with_parent() -> None:
    """Wait for the end of the search, however it ends, so that a killed one leaves nothing behind that trains."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _result(connection: Any, job: Job, process: BaseProcess) -> Ended:
    try:
        ended: Ended = connection.recv()
    except EOFError:
        process.join()
        return Ended(job, [], 0.0, f"its process ended with exit status {process.exitcode}")
    finally:
        connection.close()
    process.join()
    return ended
