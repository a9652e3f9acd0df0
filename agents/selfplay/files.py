"""Files that are seen whole or not at all, and folders that one process has for itself."""

import contextlib
import csv
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from selfplay.errors import UserError

if sys.platform != "win32":  # where no file can be locked so, and nobody is refused
    import fcntl


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
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows flushes only what can be written
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


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run folder; the lock ends with the process, however it ends.

    Raises:
        UserError: another process is in it, or it cannot be opened.
    """
    if sys.platform == "win32":
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise UserError(f"{folder}: cannot be opened ({error.strerror}); is this a run folder?") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{folder}: another process is training in it; wait for it or stop it") from None
        yield
    finally:
        os.close(handle)
