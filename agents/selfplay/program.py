"""Command lines that can be pasted, the console, and the signals that stop the program."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

UNMOVED = "dumb", "unknown", "xterm-color"
"""What TERM says of terminals on which no cursor moves; the last is what a notebook says to the commands behind `!`."""


def open_console() -> "Console":
    """Return a console that uses colours and moves the cursor only on a terminal that can show them."""
    from rich.console import Console

    moves = sys.stdout.isatty() and os.environ.get("TERM") not in UNMOVED
    return Console(force_terminal=None if moves else False)


def command(*words: str) -> str:
    """Return a command line of this program as a user would type it here, such as that of `selfplay prove RUN`."""
    started = Path(sys.argv[0])
    if words[0] == "train" and started.name == "train.py":
        return shell_line(_python(), str(started), *words[1:])
    return shell_line(*_installed("selfplay", "selfplay"), *words)


def tensorboard(folder: Path) -> str:
    """Return the command line that shows a folder of runs in TensorBoard."""
    return shell_line(*_installed("tensorboard", "tensorboard.main"), "--logdir", str(folder))


def shell_line(*words: str) -> str:
    """Return words as a command line for the shell of this system; those of Windows know no single quotes."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


@contextlib.contextmanager
def on_stop_signals(stop: Callable[[], None]) -> Iterator[list[int]]:
    """Let Ctrl-C and SIGTERM call `stop` inside the block, and yield a list of the received signals.

    A signal that a shell ignores in the background stays ignored.
    """
    received: list[int] = []

    def note_and_stop(number: int, _: object) -> None:
        received.append(number)
        stop()

    numbers = [signal.SIGINT, signal.SIGTERM] if threading.current_thread() is threading.main_thread() else []
    earlier = {number: signal.getsignal(number) for number in numbers}
    for number, handler in earlier.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, note_and_stop)
    try:
        yield received
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _installed(script: str, module: str) -> list[str]:
    """Return the script if a shell finds the one of this interpreter, else the module with the interpreter."""
    return [script] if _found(script) else [_python(), "-m", module]


def _python() -> str:
    return "python" if _found("python") else sys.executable


def _found(script: str) -> bool:
    """Tell whether a shell finds the script that is beside this interpreter."""
    place = shutil.which(script)
    return place is not None and Path(place).parent == Path(sys.executable).parent
