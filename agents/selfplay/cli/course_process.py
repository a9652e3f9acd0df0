"""A process for each hand-in, which is killed with all that it has started once it has replied."""

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from selfplay.cli.course_judge import Reply

PR_SET_DUMPABLE = 4
"""Number of the option in Linux's prctl: https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html"""
LARGEST_REPLY = 1 << 22
"""Bytes; right answers take less than a million."""
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",  # it may not start others
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "agg",
    "PYTHONSAFEPATH": "1",  # a hand-in in this folder is not imported in place of a library
}


def hide_memory() -> None:
    """Keep other processes of this user, such as a student's, from reading and changing the memory of this one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)


def ask(job: Mapping[str, Any], seconds: float) -> Reply:
    """Give a job to a new process, and return its reply."""
    with tempfile.TemporaryFile() as given:
        given.write(json.dumps(job).encode())
        given.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-m", "selfplay.cli.course_student"],
            env=os.environ | ENVIRONMENT,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a process group of its own
        )
    assert process.stdout is not None
    try:
        line = read_line(process.stdout.fileno(), seconds)
    except TimeoutError:
        return Reply([], f"not finished after {seconds} s")
    finally:
        # It has not been waited for, so the number of the group is still its own. macOS refuses if all have ended.
        with contextlib.suppress(PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    return parsed(line)


def read_line(pipe: int, seconds: float) -> bytes:
    """Return what a pipe brings up to its first line break, its end, or the largest reply.

    Raises:
        TimeoutError: that takes too long.
    """
    deadline = time.monotonic() + seconds
    content = b""
    while b"\n" not in content and len(content) < LARGEST_REPLY:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError
        piece = os.read(pipe, 1 << 16)
        if not piece:
            break
        content += piece
    return content


def parsed(line: bytes) -> Reply:
    """Return a reply as it came through the pipe."""
    try:
        content = json.loads(line)
        return Reply(list(content["answers"]), str(content["error"]))
    except (ValueError, LookupError, TypeError, RecursionError):
        return Reply()
