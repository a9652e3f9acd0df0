"""The console, command lines that can be pasted, and the signals that stop the program."""

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

OF_NOTEBOOKS = "xterm-color"
"""The value of TERM for the commands behind `!` in a notebook, which shows no moving cursor."""


def open_console() -> "Console":
    """Return a console that uses colours and moves the cursor only on a terminal that can show them."""
    from rich.console import Console

    return Console(force_terminal=False if os.environ.get("TERM") == OF_NOTEBOOKS else None)


def say(text: str, style: str = "") -> None:
    """Print a text, broken between words on a terminal; the text up to its first colon has the `style`."""
    from rich.text import Text

    console = open_console()
    shown = Text(text)
    shown.stylize(style, 0, text.find(":"))
    console.print(shown, soft_wrap=not console.is_terminal)


def waiting(reason: str) -> contextlib.AbstractContextManager[object]:
    """Return a context in which a terminal shows that the program is at work, and why it takes long."""
    console = open_console()
    return console.status(reason) if console.is_terminal else contextlib.nullcontext()


def command(*words: str) -> str:
    """Return a command line of this program as a user would type it here, such as `selfplay prove RUN`."""
    program = Path(sys.argv[0])
    if words[0] == "train" and program.name == "train.py":
        python = "python" if _shell_finds("python") else sys.executable
        return shell_line(python, str(program), *words[1:])
    return shell_line(*_script("selfplay", "selfplay"), *words)


def tensorboard(folder: Path) -> str:
    """Return the command line that shows a folder of runs in TensorBoard."""
    return shell_line(*_script("tensorboard", "tensorboard.main"), "--logdir", str(folder))


def shell_line(*words: str) -> str:
    """Return words as a command line for the shell of this system; those of Windows know no single quotes."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


@contextlib.contextmanager
def on_stop_signals(stop: Callable[[], None]) -> Iterator[list[int]]:
    """Let Ctrl-C and SIGTERM call `stop` inside the block, and yield a list of the received signals.

    Only the main thread receives signals; in any other the block changes nothing.
    """
    received: list[int] = []

    def note_and_stop(number: int, _: object) -> None:
        received.append(number)
        stop()

    numbers = [signal.SIGINT, signal.SIGTERM] if threading.current_thread() is threading.main_thread() else []
    earlier = {number: signal.signal(number, note_and_stop) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _script(name: str, module: str) -> list[str]:
    """Return the words that start a script: its name if a shell finds it, else its module with this Python."""
    return [name] if _shell_finds(name) else [sys.executable, "-m", module]


def _shell_finds(name: str) -> bool:
    """Return whether a shell finds the program of this name that belongs to this Python."""
    place = shutil.which(name)
    return place is not None and Path(place).parent == Path(sys.executable).parent
