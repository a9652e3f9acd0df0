"""Read what a script was told, and refuse what measures nothing before hours of work are lost for it."""

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from selfplay.checks import check_counts, check_seed, check_some, check_times
from selfplay.command_line import parse
from selfplay.errors import UserError
from selfplay.training.folder import check_writable

Flags = TypeVar("Flags")


def read_flags(kind: type[Flags], args: Sequence[str], prog: str, may_be_empty: Collection[str] = ()) -> Flags:
    """Return the flags that a script's dataclass declares, each checked by its kind.

    Numbers count something, a float is a time, a list names something to measure unless it `may_be_empty`, and a path
    is where to write: `--docs` a folder that is there, `--dir` one that may be made in another, any other a file.

    Raises:
        UserError: there is no such flag, or its value is of no use.
    """
    flags = parse(kind, args, prog)
    for field in dataclasses.fields(flags):  # type: ignore[arg-type]
        name, value = field.name, getattr(flags, field.name)
        if name == "seed":
            check_seed(flags)
        elif isinstance(value, float):
            check_times(flags, name)
        elif isinstance(value, int) and not isinstance(value, bool):
            check_counts(flags, name)
        elif isinstance(value, tuple) and name not in may_be_empty:
            check_some(flags, name)
        elif isinstance(value, Path):
            _check_place(name, value)
    return flags


def check_known(name: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names of what a script does not have.

    Raises:
        UserError: there is such a name.
    """
    if unknown := sorted(set(given) - set(known)):
        raise UserError(f"{name} must be some of {', '.join(known)}, got {unknown}")


def _check_place(name: str, path: Path) -> None:
    folder = path if name == "docs" or (name == "dir" and path.exists()) else path.parent
    if not folder.is_dir():
        raise UserError(f"{folder}: is not a folder; make it first, or name another")
    if name not in ("docs", "dir") and path.is_dir():
        raise UserError(f"--{name} {path}: is a folder; name a file in it")
    check_writable(folder, f"name another --{name}")
