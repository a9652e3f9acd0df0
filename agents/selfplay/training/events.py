"""TensorBoard's events, each in its file when the call returns, or an error that says why not.

PyTorch's `SummaryWriter` writes in a thread. On a full disk that thread dies with a traceback, and the run that it
is to record finds out later, or not at all.
"""

import io
import os
import re
import socket
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter
from torch.utils.tensorboard import summary

from selfplay.files import append

PREFIX = "events.out.tfevents."


class Events:
    """Write events into a new file of a folder; what was told of `purge_step` and later steps is taken back."""

    def __init__(self, folder: Path, purge_step: int = 0) -> None:
        seconds, rest = divmod(_after_all_others(folder, time.time_ns()), 10**9)
        name = f"{PREFIX}{seconds:010d}.{rest:09d}.{socket.gethostname()}.{os.getpid()}"
        self._file = (folder / name).open("xb", buffering=0)
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        # Also of a run that begins: TensorBoard takes nothing back at the first start that it reads.
        self._write(Event(step=purge_step, session_log=SessionLog(status=SessionLog.START)))

    def scalar(self, tag: str, value: float, step: int = 0) -> None:
        """Record a number."""
        self._add(Summary(value=[Summary.Value(tag=tag, simple_value=value)]), step)

    def picture(self, tag: str, png: bytes, step: int = 0) -> None:
        """Record a picture, the content of a PNG file."""
        width, height = struct.unpack(">II", png[16:24])
        image = Summary.Image(width=width, height=height, colorspace=4, encoded_image_string=png)
        self._add(Summary(value=[Summary.Value(tag=tag, image=image)]), step)

    def text(self, tag: str, text: str, step: int = 0) -> None:
        """Record a text in Markdown."""
        self._add(summary.text(tag, text), step)  # type: ignore[no-untyped-call]

    def hparams(self, settings: Mapping[str, Any]) -> None:
        """Record settings for the HParams tab, which shows the last value of every number beside them.

        PyTorch also writes which settings there are; TensorBoard then believes the first run and shows no others'.
        """
        _, start, end = summary.hparams(dict(settings), {})  # type: ignore[no-untyped-call]
        self._add(start, 0)
        self._add(end, 0)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _add(self, content: Summary, step: int) -> None:
        self._write(Event(summary=content, step=step, wall_time=time.time()))

    def _write(self, event: Event) -> None:
        record = io.BytesIO()
        RecordWriter(record).write(event.SerializeToString())
        append(self._file, record.getvalue())


def _after_all_others(folder: Path, now: int) -> int:
    """Return the time for the name of a folder's next file: now, or later than in the names of all that it has.

    TensorBoard reads the files in the order of their names, which after a clock was set back is not that in which they
    were written, and forgets what it has read of a step, and of later ones, wherever the steps go back.
    """
    found = (re.match(r"(\d{10})(?:\.(\d{9})\.)?", path.name[len(PREFIX) :]) for path in folder.glob(f"{PREFIX}*"))
    return max([now, *(int(time[1] + (time[2] or "9" * 9)) + 1 for time in found if time)])
