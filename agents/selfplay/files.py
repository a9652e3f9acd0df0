"""Files that are seen whole or not at all."""

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from selfplay.errors import UserError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file aside, flush it to the disk and rename it, so that no half of it is ever seen."""
    aside = path.with_name(path.name + ".partial")
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError:  # on a full disk the half of a file would keep it full
        aside.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    if path.is_dir() and os.name == "nt":
        return  # where a folder cannot be opened
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_csv(path: Path, lines: Iterable[Sequence[Any]]) -> None:
    """Write lines of fields as CSV, floats with all the digits that it takes to read them back.

    Raises:
        UserError: the file cannot be written.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    try:
        write_whole(path, text.getvalue().encode())
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None
