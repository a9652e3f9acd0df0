"""Files that are seen whole or not at all, and read only if they can be; folders that one process has for itself."""

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

if sys.platform != "win32":  # where no file can be locked so, and nobody is refused
    import fcntl


class BusyError(UserError):
    """Say that another process is in a run folder."""


def write_whole(path: Path, content: bytes, lasting: bool = True) -> None:
    """Write a file aside, flush it to the disk and rename it, so that no half of it is ever seen.

    One that is not `lasting` is not flushed, which takes most of the time: it may be lost, or empty, after a power cut.

    Raises:
        OSError: it cannot be written; the file of before stays, and the error names it.
    """
    aside = path.with_name(path.name + ".partial")
    try:
        aside.unlink(missing_ok=True)  # what a killed run has left there, or a link that somebody has planted
        try:
            with aside.open("xb") as file:
                file.write(content)
                if lasting:
                    file.flush()
                    os.fsync(file.fileno())
            aside.replace(path)
        except OSError:  # on a full disk the half of a file would keep it full
            aside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _named(error, path) from None


def append(file: io.FileIO, content: bytes) -> None:
    """Write all of it to the end of an unbuffered file.

    A buffer would keep what a full disk has refused, and fail with it again when the file is closed.

    Raises:
        OSError: not all of it can be written; the error names the file.
    """
    left = memoryview(content)
    try:
        while left:
            left = left[file.write(left) :]
    except OSError as error:
        raise _named(error, file.name) from None


def _named(error: OSError, path: object) -> OSError:
    """Return the error with the file's name, which a failed write does not know."""
    return OSError(error.errno, error.strerror or str(error), str(path))


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read it, which never waits.

    Raises:
        OSError: it cannot be opened, or is a pipe, a device or a folder.
    """

    def open_at_once(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))  # or a pipe would wait for a writer

    try:
        file = open(path, "rb", opener=open_at_once)  # noqa: SIM115 (a path's own has no opener)
    except ValueError:  # a null byte, or what is no text
        raise OSError(errno.EINVAL, "it is no name of a file", str(path)) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return file


def read_small(path: Path, most: int) -> bytes:
    """Return the content of a file of at most so many bytes.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger.
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
        BusyError: another process is in it.
        UserError: it cannot be opened.
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
            raise BusyError(f"{folder}: another process is training in it; wait for it or stop it") from None
        yield
    finally:
        os.close(handle)
