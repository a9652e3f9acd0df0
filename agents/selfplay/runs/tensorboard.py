"""Events for TensorBoard."""

import struct
import time
from collections.abc import Sequence
from pathlib import Path

from tensorboard.compat.proto.summary_pb2 import Summary
from torch.utils.tensorboard import SummaryWriter, summary

from selfplay.runs.loop import Record
from selfplay.settings import RunSettings, flat


class Events:
    """The events of a run, in one file of its folder that replaces those of earlier processes.

    PyTorch's writer has a thread, so a run that is killed may lose some; the process that resumes it writes all again.
    """

    def __init__(self, folder: Path, config: RunSettings) -> None:
        self._config = config
        self._shown = self._step = 0
        for earlier in folder.glob("events.out.tfevents.*"):
            earlier.unlink()
        # A TensorBoard that is running drops what it has read of the run: the steps from 0 on.
        self._writer = SummaryWriter(folder, purge_step=0)

    def evaluations(self, records: Sequence[Record]) -> None:
        """Record the evaluations from the first one that is not recorded yet, at their plies if those are counted."""
        now = time.time()
        for record in records[self._shown :]:
            self._step = int(record.metrics.get("time/plies", record.steps))
            ago = records[-1].metrics["time/training_s"] - record.metrics["time/training_s"]
            for tag, value in record.metrics.items():  # a count of ways may be too large for int64
                self._writer.add_scalar(tag, float(value), self._step, now - ago)
        self._shown = len(records)
        self._writer.flush()

    def close(self, png: bytes | None, game: str | None) -> None:
        """Record the settings and, where there are any, a picture and a game of the last player."""
        if png is not None:
            width, height = struct.unpack(">II", png[16:24])
            image = Summary.Image(width=width, height=height, colorspace=4, encoded_image_string=png)
            self._add(Summary(value=[Summary.Value(tag="q/opening", image=image)]))
        if game is not None:
            as_code = "\n".join("    " + line for line in game.split("\n"))
            self._writer.add_text("game/self_play", as_code, self._step)
        settings = flat(self._config)
        settings |= settings.pop("options", {})  # of a custom learner
        shown = {name: value if type(value) in (int, float) else str(value) for name, value in settings.items()}
        shown |= {"algorithm": self._config.algorithm, "board": str(self._config.rules).replace(",", "x")}
        # PyTorch also writes a list of all settings; then TensorBoard shows only those of the first run.
        _, start, end = summary.hparams(shown, {})  # type: ignore[no-untyped-call]
        self._add(start)
        self._add(end)
        self._writer.close()

    def _add(self, content: Summary) -> None:
        self._writer._get_file_writer().add_summary(content, self._step)  # type: ignore[no-untyped-call]
