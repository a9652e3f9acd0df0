"""Events for TensorBoard, written to the file before the call returns.

PyTorch's `SummaryWriter` writes in a thread, so a run that is killed could lose events that its checkpoint counts.
"""

import io
import struct
import time
from collections.abc import Sequence
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter
from torch.utils.tensorboard import summary

from selfplay.files import append
from selfplay.runs.loop import Record
from selfplay.settings import RunSettings, to_json

PREFIX = "events.out.tfevents."


class Events:
    """The events of a run in a new file of its folder, in place of those in its other files."""

    def __init__(self, folder: Path, config: RunSettings) -> None:
        self._config = config
        self._shown = self._step = 0
        # TensorBoard reads files in the order of their names. A time would go wrong where a clock is set back.
        number = len(list(folder.glob(f"{PREFIX}*")))
        self._path = folder / f"{PREFIX}{number:010d}"
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        # TensorBoard drops what it has read before, from step 0 on; it ignores the first start that it reads.
        self._write(Event(step=0, session_log=SessionLog(status=SessionLog.START)))

    def evaluations(self, records: Sequence[Record]) -> None:
        """Record the evaluations from the first one that is not recorded yet, at their plies if those are counted."""
        now = time.time()
        for record in records[self._shown :]:
            self._step = int(record.metrics.get("time/plies", record.steps))
            values = [Summary.Value(tag=tag, simple_value=value) for tag, value in record.metrics.items()]
            ago = records[-1].metrics["time/training_s"] - record.metrics["time/training_s"]
            self._write(Event(summary=Summary(value=values), step=self._step, wall_time=now - ago))
        self._shown = len(records)

    def picture(self, tag: str, png: bytes) -> None:
        """Record a picture, the content of a PNG file, at the last evaluation."""
        width, height = struct.unpack(">II", png[16:24])
        image = Summary.Image(width=width, height=height, colorspace=4, encoded_image_string=png)
        self._add(Summary(value=[Summary.Value(tag=tag, image=image)]), self._step)

    def text(self, tag: str, text: str) -> None:
        """Record a text as it is, at the last evaluation."""
        as_code = "\n".join("    " + line for line in text.split("\n"))
        self._add(summary.text(tag, as_code), self._step)  # type: ignore[no-untyped-call]

    def hparams(self) -> None:
        """Record the settings for the HParams tab, which shows the last value of every number beside them.

        PyTorch also writes a list of all settings; then TensorBoard shows only those of the first run.
        """
        settings = to_json(self._config)
        settings |= settings.pop("options", {})  # of a custom learner
        shown = {name: value if type(value) in (int, float) else str(value) for name, value in settings.items()}
        shown |= {"algorithm": self._config.algorithm, "board": str(self._config.rules).replace(",", "x")}
        _, start, end = summary.hparams(shown, {})  # type: ignore[no-untyped-call]
        self._add(start, 0)
        self._add(end, 0)

    def _add(self, content: Summary, step: int) -> None:
        self._write(Event(summary=content, step=step, wall_time=time.time()))

    def _write(self, event: Event) -> None:
        record = io.BytesIO()
        RecordWriter(record).write(event.SerializeToString())
        append(self._path, record.getvalue())
