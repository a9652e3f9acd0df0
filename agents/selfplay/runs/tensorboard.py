"""Events for TensorBoard, written to the file before the call returns.

PyTorch's `SummaryWriter` writes in a thread, so a run that is killed could lose events that its checkpoint counts.
"""

import io
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
    """A new file of events in a folder; TensorBoard drops those of its other files from `purge_step` on."""

    def __init__(self, folder: Path, purge_step: int = 0) -> None:
        # TensorBoard reads files in the order of their names. A time would go wrong where a clock is set back.
        number = len(list(folder.glob(f"{PREFIX}*")))
        self._path = folder / f"{PREFIX}{number:010d}"
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        # Also for a run that begins: TensorBoard ignores the first start that it reads.
        self._write(Event(step=purge_step, session_log=SessionLog(status=SessionLog.START)))

    def scalars(self, values: Mapping[str, float], step: int = 0) -> None:
        """Record numbers by tag."""
        self._add(Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]), step)

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

        PyTorch also writes a list of all settings; then TensorBoard shows only those of the first run.
        """
        _, start, end = summary.hparams(dict(settings), {})  # type: ignore[no-untyped-call]
        self._add(start, 0)
        self._add(end, 0)

    def _add(self, content: Summary, step: int) -> None:
        self._write(Event(summary=content, step=step, wall_time=time.time()))

    def _write(self, event: Event) -> None:
        record = io.BytesIO()
        RecordWriter(record).write(event.SerializeToString())
        append(self._path, record.getvalue())
