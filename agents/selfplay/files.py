"""Files: written whole or not at all, read only if they are regular and small enough; and locks on run folders."""

import contextlib
import csv
import errno
import hashlib
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from selfplay.errors import UserError

if sys.platform != "win32":
    import fcntl


LARGEST_PLAYER = 1 << 30
"""Most bytes of a player's file that is read: a network of 16,000 units in each of two layers has as many."""


class BusyError(UserError):
    """Another process is in a run folder."""


# Writing


def write_whole(path: Path, content: bytes) -> None:
    """Write a file aside, flush it to the disk and rename it, so that nobody ever sees a part of it.

    A link in its place is replaced, and what it leads to stays as it is.

    Raises:
        OSError: it cannot be written.
    """
    aside = path.with_name(path.name + ".partial")
    aside.unlink(missing_ok=True)  # left by a killed run, or a link that somebody has planted
    with aside.open("xb") as file:
        file.write(content)
    sync(aside)
    aside.replace(path)
    sync(path.parent)


def append(path: Path, content: bytes) -> None:
    """Append to a file.

    Raises:
        OSError: it cannot be written, or is a link, which might lead out of the run's folder.
    """

    def open_itself(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)

    with open(path, "ab", opener=open_itself) as file:
        file.write(content)


def make_inside(folder: Path) -> None:
    """Make a folder inside one of ours, unless it exists.

    Raises:
        UserError: it is a link, through which files elsewhere would be written and deleted.
    """
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise UserError(f"{folder}: is a link, and must be a folder; remove it, or put its folder there")


def check_output(path: Path) -> None:
    """Check that the file that a user has named can be written, before the work for it begins.

    Raises:
        UserError: it is a folder, or lies in none.
    """
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise UserError(f"{path}: cannot be written (there is no folder {path.parent})")


def write_output(path: Path, content: bytes) -> None:
    """Write the file that a user has named.

    Raises:
        UserError: it cannot be written.
    """
    check_output(path)
    try:
        write_whole(path.resolve(), content)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def write_csv(path: Path, lines: Iterable[Sequence[Any]]) -> None:
    """Write lines of fields as CSV, with all the digits of a float."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    write_whole(path, text.getvalue().encode())


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    if path.is_dir() and sys.platform == "win32":
        return  # it cannot open a folder
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows flushes only what can be written
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# Reading


def open_regular(path: Path, most: int) -> BinaryIO:
    """Open a file of at most `most` bytes for reading, without ever waiting.

    A file may be far larger than the room that it takes on the disk, so every reader says how much it would read.

    Raises:
        OSError: it cannot be opened, is a pipe, a device or a folder, or is larger.
    """

    def open_at_once(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))  # or a pipe would wait for a writer

    file = open(path, "rb", opener=open_at_once)  # noqa: SIM115 (Path.open takes no opener)
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if found.st_size > most:
        file.close()
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return file


def read_small(path: Path, most: int) -> bytes:
    """Return the content of a file that has at most `most` bytes.

    Raises:
        OSError: it cannot be read, is not a regular file, or is larger.
    """
    with open_regular(path, most) as file:
        return file.read(most)


def checksum_of_file(path: Path) -> str:
    """Return the SHA-256 of the content of a player's file.

    Raises:
        OSError: it cannot be read, is not a regular file, or is larger than a player's.
    """
    digest = hashlib.sha256()
    with open_regular(path, LARGEST_PLAYER) as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


# Locking


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run folder; the lock ends with the process.

    Windows has no such lock: there nobody is refused.

    Raises:
        BusyError: another process is in it.
    """
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"{folder}: another process is training in it; wait for it or stop it") from None
        yield
    finally:
        os.close(handle)
