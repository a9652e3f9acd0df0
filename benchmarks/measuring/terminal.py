"""Run a program on a terminal of its own; not on Windows."""

import contextlib
import os
import pty
import subprocess
from collections.abc import Callable, Sequence


def run_on_terminal(command: Sequence[str], hear: Callable[[bytes], object]) -> int:
    """Run a program to its end, tell what it writes to its terminal as it comes, and return the exit status."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, start_new_session=True) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # with which a terminal ends on Linux
            while piece := os.read(ours, 1 << 16):
                hear(piece)
    os.close(ours)
    return process.returncode
