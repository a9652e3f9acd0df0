"""The program at a terminal."""

import os
import signal
import sys

import pexpect

PATIENCE = 120
"""Seconds after which a process counts as hanging."""


def at_terminal(*args: str) -> pexpect.spawn:
    """Start the program on a pseudo-terminal of its own."""
    return pexpect.spawn(
        sys.executable,
        ["-m", "selfplay", *args],
        timeout=PATIENCE,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
