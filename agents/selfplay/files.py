"""Write files whole or not at all, read regular files of a bounded size, and lock folders."""

import contextlib
import csv
import errno
import hashlib
import io
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from selfplay.errors import UserError

if sys.platform != "win32":
    import fcntl

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters with which a formula begins in a spreadsheet."""


class BusyError(UserError):
    """Another process is in a run folder."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file aside, flush it to the disk and rename it, so that nobody ever sees a part of it.

    Raises:
        OSError: it cannot be written, or what is there is a link, a device or a pipe; it stays, and the error names it.
    """
    aside = path.with_name(path.name + ".partial")
    with _naming(path):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OSError(errno.EINVAL, "it is not a regular file; remove it")
        try:
            aside.unlink(missing_ok=True)  # left by a killed run, or a link that somebody has planted
            with aside.open("xb") as file:
                file.write(content)
            sync(aside)
            _replace(aside, path)
        except OSError:  # on a full disk a part of a file would keep it full
            aside.unlink(missing_ok=True)
            raise
        sync(path.parent)


def _replace(aside: Path, path: Path) -> None:
    """Rename a file over another, which Windows refuses for as long as some program has that one open."""
    for seconds in (0.01, 0.1, 1.0) if sys.platform == "win32" else ():
        with contextlib.suppress(PermissionError):
            aside.replace(path)
            return
        time.sleep(seconds)
    aside.replace(path)


def append(path: Path, content: bytes) -> None:
    """Append to a regular file; refuse a link or a pipe in its place.

    Raises:
        OSError: not all of it can be written; the error names the file.
    """

    def open_itself(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)

    with _naming(path), open(path, "ab", opener=open_itself) as file:
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
    """Write the file that a user has named: through a link, into a device or a pipe, and else whole or not at all.

    Raises:
        UserError: it cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as special:
                special.write(content)
        else:
            write_whole(path.resolve(), content)
    except (OSError, RuntimeError) as error:  # the latter for a link to itself
        raise UserError(f"{path}: cannot be written ({getattr(error, 'strerror', error)})") from None


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the name of the file into an error, which a failed write does not know."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading without ever waiting.

    Raises:
        OSError: it cannot be opened, or is a pipe, a device or a folder.
    """

    def open_at_once(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))  # or a pipe would wait for a writer

    try:
        file = open(path, "rb", opener=open_at_once)  # noqa: SIM115 (Path.open takes no opener)
    except ValueError:  # a null byte, or no text
        raise OSError(errno.EINVAL, "it is not a file name", str(path)) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return file


def read_small(path: Path, most: int) -> bytes:
    """Return the content of a file that has at most `most` bytes.

    Raises:
        OSError: it cannot be read, is not a regular file, or is larger.
    """
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return content


def checksum_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's content.

    Raises:
        OSError: it cannot be read.
    """
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    if path.is_dir() and sys.platform == "win32":
        return  # it cannot open a folder
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows flushes only what can be written
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_csv(path: Path, lines: Iterable[Sequence[Any]]) -> None:
    """Write lines of fields as CSV, with all the digits of a float.

    An apostrophe before a text that begins like a formula, such as =1+1, keeps a spreadsheet from computing it.

    Raises:
        OSError: the file cannot be written; the error names it.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [f"'{field}" if isinstance(field, str) and field.startswith(FORMULA) else field for field in line]
        for line in lines
    )
    write_whole(path, text.getvalue().encode())


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run folder; the lock ends with the process.

    Raises:
        BusyError: another process is in it.
    """
    if sys.platform == "win32":  # it has no such lock, and nobody is refused
        yield
    else:
        handle = os.open(folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BusyError(f"{folder}: another process is training in it; wait for it or stop it") from None
            yield
        finally:
            os.close(handle)
