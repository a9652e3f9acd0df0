"""Mistakes that a user can make and correct: commands show them as one message, not as a traceback."""

import contextlib
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

EXTRAS = {
    "train": (
        "which learning and judging need",
        ("docstring_parser", "matplotlib", "numba", "rich", "safetensors", "tensorboard", "torch", "tyro"),
    ),
    "sweep": ("which sweeps need", ("optuna", "ray", "scipy", "tomli")),
}
"""Each extra of the package with what it is for and the modules that it brings."""
LONGEST = 2_000
"""Characters of a message that are shown."""
LIBRARIES = ("<", str(Path(__file__).parent), *map(sysconfig.get_path, ("stdlib", "purelib")))
"""Beginnings of the names of files that are not the user's: built-in code, ours, Python's, installed libraries."""


class OneLineError(Exception):
    """A mistake that a notebook shows as one line, without a traceback."""

    heading: ClassVar[str] = ""

    def _render_traceback_(self) -> list[str]:  # what IPython shows
        return [f"{self.heading or type(self).__name__}: {self}"]


class UserError(OneLineError, ValueError):
    """A mistake that a user can make: a message that names the value or the file, and the way out."""

    def __init__(self, message: object) -> None:
        super().__init__(one_line(message))


class MissingExtraError(OneLineError, ImportError):
    """A missing library: a message that says what to install."""


def one_line(message: object) -> str:
    """Return a text as one line of at most 2,000 characters, so that what strangers wrote does not fill the screen.

    It has escapes for the characters that a terminal would obey instead of showing them.
    """
    text = str(message)
    characters = [char if char.isprintable() else char.encode("unicode_escape").decode() for char in text[:LONGEST]]
    return "".join(characters) + ("..." if len(text) > LONGEST else "")


@contextlib.contextmanager
def naming_the_extra() -> Iterator[None]:
    """Name the extra to install where one of its modules is missing.

    Raises:
        MissingExtraError: it is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        for extra, (purpose, modules) in EXTRAS.items():
            if missing in modules:
                way_out = f"in a clone of this project, pip install -c constraints.txt '.[{extra}]'"
                raise MissingExtraError(f"{missing} is not installed, {purpose}: {way_out}") from None
        raise


def what_failed(error: BaseException) -> str:
    """Return what a user's own program raised, and where in it, for a message."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(LIBRARIES)]
    if not frames:
        return f"{type(error).__name__}: {error}"
    return f"{type(error).__name__}: {error} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
