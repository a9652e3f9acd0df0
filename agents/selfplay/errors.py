"""Mistakes that a user can make and correct: shown as one line, never as a traceback."""

import contextlib
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

LONGEST_LINE = 2_000
"""Characters of a message; a file can hold a name of any length."""


OF_LEARNING = (
    "choix",
    "jupytext",
    "matplotlib",
    "numba",
    "rich",
    "safetensors",
    "scipy",
    "starlette",
    "tensorboard",
    "torch",
    "uvicorn",
)
EXTRAS = {
    **dict.fromkeys(OF_LEARNING, ("train", "which learning and judging need")),
    **dict.fromkeys(("optuna", "ray", "tomli"), ("sweep", "which sweeps need")),
}
"""Modules that an extra brings, with its name and what they are for."""
LIBRARIES = ("<", str(Path(__file__).parent), *map(sysconfig.get_path, ("stdlib", "purelib")))
"""Beginnings of the names of files that are not the user's: built-in code, ours, Python's, installed libraries."""


_typed_as_flags = False
"""Whether this process runs one of our commands."""


@contextlib.contextmanager
def naming_flags() -> Iterator[None]:
    """Name settings as flags in messages meanwhile."""
    global _typed_as_flags  # noqa: PLW0603 (how a process was started is one fact of the process)
    before, _typed_as_flags = _typed_as_flags, True
    try:
        yield
    finally:
        _typed_as_flags = before


def setting_name(name: str, value: object = ...) -> str:
    """Return a setting as it is typed, with a value if one is given: `--hidden` in a command, `hidden=` in Python.

    A value of True is a flag by itself, as in `--force` and `force=True`.
    """
    if not _typed_as_flags:
        return f"{name}={'' if value is ... else repr(value)}"
    flag = f"--{name.replace('_', '-')}"
    return flag if value is ... or value is True else f"{flag} {value}"


class UserError(ValueError):
    """Say in one line what is wrong, naming the value or the file, and what to do instead."""

    def __init__(self, message: object) -> None:
        super().__init__(one_line(message))


def one_line(message: object) -> str:
    """Return a message as one line: characters that could move the cursor are escaped, a long middle is left out.

    Names in it may come from a file that somebody sent.
    """
    text = str(message)
    if len(text) > LONGEST_LINE:
        text = f"{text[: LONGEST_LINE // 2]} ... {text[-LONGEST_LINE // 2 :]}"
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class MissingExtraError(ImportError):
    """Say what to install."""


@contextlib.contextmanager
def naming_the_extra() -> Iterator[None]:
    """Say what to install where something that the extra brings is missing.

    Raises:
        MissingExtraError: it is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").split(".")[0]
        if name not in EXTRAS:
            raise
        extra, what = EXTRAS[name]
        raise MissingExtraError(f"{name} is not installed, {what}: pip install 'tictactoe-selfplay[{extra}]'") from None


def what_failed(error: BaseException) -> str:
    """Return what a program of the user raised, and where in it, for a message."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(LIBRARIES)]
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
