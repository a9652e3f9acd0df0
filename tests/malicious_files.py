"""Files that somebody could have put in place of ours: programs in disguise, no end, and lies about sizes."""

import io
import json
import os
import pickle
import struct
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

MARKER = "executed"
"""Name of the file that a planted program makes beside the folder in which it lies."""
GIB = 1 << 30


class Program:
    """A program that makes the marker when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return (open, (str(self.path.parents[1] / MARKER), "w"))


def numpy_objects(path: Path) -> bytes:
    content = io.BytesIO()
    np.save(content, np.array([Program(path)], dtype=object), allow_pickle=True)
    return content.getvalue()


def announcing(shape: list[int], end: int) -> bytes:
    """Return a safetensors file of 64 bytes of data that announces a tensor of this shape up to this byte."""
    header = {"table": {"dtype": "F32", "shape": shape, "data_offsets": [0, end]}}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(64)


CONTENTS: Mapping[str, Callable[[Path], bytes]] = {
    "pickle": lambda path: pickle.dumps(Program(path)),
    "objects of numpy": numpy_objects,
    "nothing": lambda _: b"",
    "nested brackets": lambda _: b"[" * 1_000_000,
    "a huge integer": lambda _: b'{"algorithm": ' + b"9" * 1_000_000 + b"}",
    "terabytes": lambda _: announcing([1 << 40], 1 << 42),
    "more than there are numbers for": lambda _: announcing([1 << 62, 1 << 62], 64),
    "a tensor outside": lambda _: announcing([24], 96),
    "an endless header": lambda _: struct.pack("<Q", (1 << 63) - 1) + b"{}",
    "a header of two megabytes": lambda _: struct.pack("<Q", 2_000_000) + b" " * 2_000_000,
}


def write(content: Callable[[Path], bytes], path: Path) -> None:
    path.write_bytes(content(path))


def sparse(path: Path) -> None:
    """Make a file of ten gibibytes that takes no room."""
    with path.open("wb") as file:
        file.truncate(10 * GIB)


MALICIOUS_FILES: Mapping[str, Callable[[Path], object]] = {
    **{name: partial(write, content) for name, content in CONTENTS.items()},
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "ten gibibytes": sparse,
    "a link to no end": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to nothing": lambda path: path.symlink_to(path.parents[1] / "nothing"),
}
