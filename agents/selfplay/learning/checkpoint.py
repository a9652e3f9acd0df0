"""Checkpoints: everything that a run needs to continue to the same bits, in one safetensors file each.

`checkpoint/NUMBER-CHECKSUM.safetensors` holds the tensors of the learner and, as JSON in its metadata, its counters,
the progress of the run and the settings that it had. The checksum in the name is that of the whole file. The last two
are kept, in case the newest is damaged.
"""

import contextlib
import hashlib
import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from selfplay.errors import UserError, one_line
from selfplay.files import checksum_of_file, make_inside, sync, write_whole
from selfplay.learner import State
from selfplay.learning.folder import CHECKPOINTS, METRICS, settings
from selfplay.learning.loop import Progress
from selfplay.settings import RunSettings
from selfplay.tensor_file import LARGEST_HEADER, packed, read_tensors

LARGEST_SHARE = 0.02
"""Largest fraction of the time for writing: after a slow checkpoint the next one comes later than the interval."""
CONTENT = "run"
"""Name of the JSON in the metadata."""


class Checkpoint(NamedTuple):
    """Hold what a checkpoint file says."""

    state: State
    progress: Progress
    settings: Mapping[str, Any]
    """The settings of the run when it was written."""


class Checkpoints:
    """Decide when a run's checkpoints are due, write them, and read the last one.

    `stop_when` is called after every few steps and tells whether the run must stop.
    """

    def __init__(
        self, folder: Path, config: RunSettings, interval: float, stop_when: Callable[[], bool] = lambda: False
    ) -> None:
        self._metrics, self._place = folder / METRICS, folder / CHECKPOINTS
        make_inside(self._place)
        self._config = config
        self._interval = interval
        self._next = time.perf_counter() + interval
        self._stop_when = stop_when
        self.stopping = False
        """Whether the run was asked to stop; it ends after the next checkpoint."""
        self._last: Path | None = None

    def due(self) -> bool:
        """Tell whether the next checkpoint is due, because of the time or because the run was asked to stop."""
        self.stopping = self.stopping or self._stop_when()
        return self.stopping or time.perf_counter() >= self._next

    def write(self, state: State, progress: Progress) -> None:
        """Write the next checkpoint, whole or not at all.

        If it cannot be written a line says so, the last one stays, and training goes on.
        """
        started = time.perf_counter()
        try:
            self._write(state, progress)
        except OSError as error:
            otherwise = "the last one stays" if self._last else "the run goes on without"
            _notice(f"{self._place}: no checkpoint could be written ({error.strerror}); {otherwise}")
        now = time.perf_counter()
        self._next = now + max(self._interval, (now - started) / LARGEST_SHARE)

    def _write(self, state: State, progress: Progress) -> None:
        if self._metrics.exists():
            sync(self._metrics)  # the checkpoint counts its lines
        run = {"progress": asdict(progress), "counters": dict(state.counters), "settings": settings(self._config)}
        content = packed(state.tensors, {CONTENT: json.dumps(run)})
        number = max((_number(path) for path in self._files()), default=0) + 1
        path = self._place / f"{number}-{hashlib.sha256(content).hexdigest()}.safetensors"
        write_whole(path, content)
        for other in self._place.iterdir():
            if other not in (path, self._last):
                with contextlib.suppress(OSError):
                    other.unlink()
        self._last = path

    def read(self, expected: Mapping[str, Tensor] | None) -> Checkpoint | None:
        """Return the last whole checkpoint, None if there is none.

        It must have the tensors `expected`, if these are known.

        Raises:
            UserError: all are damaged, or the last one is of a run with another network or board.
        """
        files = self._files()
        most = 8 + LARGEST_HEADER + sum(tensor.nbytes for tensor in expected.values()) if expected else math.inf
        for path in files:
            try:
                if path.stat().st_size <= most and f"-{checksum_of_file(path)}." in path.name:
                    tensors, metadata = read_tensors(path, expected, self._config.rules)
                    run = json.loads(metadata[CONTENT])
                    self._last = path
                    return Checkpoint(State(tensors, run["counters"]), Progress(**run["progress"]), run["settings"])
                damage = "is damaged (its checksum differs)"
            except OSError as error:
                damage = f"cannot be read ({error.strerror})"
            _notice(f"{path}: {damage}; trying the checkpoint before it")
        if files:
            raise UserError(f"{self._place}: no checkpoint is intact; start a new run")
        return None

    def _files(self) -> list[Path]:
        """Return the checkpoints, the newest first."""
        return sorted(self._place.glob("*-*.safetensors"), key=_number, reverse=True)

    def stop(self) -> None:
        """Make a checkpoint due, after which the run ends.

        Raises:
            KeyboardInterrupt: this is the second call, and the run ends at once.
        """
        if self.stopping:
            raise KeyboardInterrupt
        self.stopping = True


def _number(path: Path) -> int:
    number = path.name.split("-")[0]
    return int(number) if number.isdecimal() else 0


def _notice(message: str) -> None:
    print(one_line(message), file=sys.stderr)
