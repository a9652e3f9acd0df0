"""Checkpoints: all that a run needs to go on to the same bits; when they are written, and which is read back.

The newest two are kept, in the folder `checkpoint` of the run; `checkpoint_file` says what each is on disk.
"""

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from selfplay.checks import LONGEST_TIME, check_changes
from selfplay.errors import UserError, one_line
from selfplay.files import sync
from selfplay.learner import State
from selfplay.program import when_asked_to_stop
from selfplay.settings import RunSettings
from selfplay.training.checkpoint_file import CheckpointFile, DamagedError
from selfplay.training.flags import RunFlags
from selfplay.training.folder import CHECKPOINTS, METRICS, settings

KEPT = 2
"""Checkpoints on disk: the newest, and the one before in case the newest is damaged."""
LARGEST_SHARE = 0.02
"""Of the time that writing may take: after a slow one the next comes later than the interval says."""


class Checkpoints:
    """Decide when a run's checkpoints are due, write them, and read the last one back.

    `folder` is the run's, which nobody else may be writing to: see `files.locked`. `stop` is asked after every few
    steps whether the run is to stop, for programs in which Ctrl-C is not meant for the run.
    """

    def __init__(
        self, folder: Path, config: RunSettings, flags: RunFlags, stop: Callable[[], bool] | None = None
    ) -> None:
        self.folder = folder
        self.evaluations = 0
        """How many there had been at the checkpoint that was read."""
        self.settings: Mapping[str, Any] = {}
        """The settings with which it was written."""
        self.finished = False
        """Whether its run was."""
        self.steps = 0
        """Plies or games that the run had come to when it last asked whether a checkpoint is due."""
        self._config = config
        self._flags = flags
        self._content: dict[str, Any] = {}
        self._stop = stop
        self._stop_asked = False
        self._next = time.perf_counter() + flags.checkpoint_interval
        self._place = folder / CHECKPOINTS
        if flags.resume is None:
            self._place.mkdir(exist_ok=True)
        self._number = 0

    @property
    def resuming(self) -> bool:
        """Tell whether the run has begun in an earlier process."""
        return self._flags.resume is not None

    @property
    def begun(self) -> bool:
        """Tell whether there is a checkpoint."""
        return self._number > 0

    def due(self, steps: int) -> bool:
        """Tell whether, after so many steps, the next checkpoint is due, or somebody has asked the run to stop."""
        self.steps = steps
        if self._stop is not None and self._stop():
            self._stop_asked = True
        return self._stop_asked or time.perf_counter() >= self._next

    def write(self, snapshot: State) -> None:
        """Write the next checkpoint, whole or not at all; `counters["evaluations"]` is how many have been recorded.

        If it cannot be written a line says so, the last one stays, and training goes on.

        Raises:
            KeyboardInterrupt: somebody has asked the run to stop.
        """
        started = time.perf_counter()
        try:
            self._write(snapshot)
        except OSError as error:
            otherwise = "the last one stays" if self.begun else "the run goes on without"
            _notice(f"{self._place}: no checkpoint could be written ({error.strerror}); {otherwise}")
        now = time.perf_counter()
        self._next = now + max(self._flags.checkpoint_interval, (now - started) / LARGEST_SHARE)
        if self._stop_asked:
            raise KeyboardInterrupt

    def _write(self, snapshot: State) -> None:
        if (metrics := self.folder / METRICS).exists():
            sync(metrics)  # the checkpoint counts its lines
        content = {
            "version": version("tictactoe-selfplay"),
            "algorithm": self._config.algorithm,
            "config": settings(self._config),
            "finished": False,
            "counters": dict(snapshot.counters),
        }
        written = CheckpointFile(self._place, self._number + 1)
        written.write(content, snapshot.tensors)
        self._number, self._content = written.number, content
        self._remove_older()

    def _remove_older(self) -> None:
        for name in {path.name.split(".")[0] for path in self._place.iterdir()}:
            if name.isdecimal() and int(name) <= self._number - KEPT:
                CheckpointFile(self._place, int(name)).remove()

    def finish(self) -> None:
        """Mark the last checkpoint as that of a finished run, whose results have been written.

        Raises:
            OSError: that cannot be written.
        """
        if self._content:
            self._remove_older()  # which a process that was killed after its last checkpoint has not done
            self._content |= {"finished": True, "config": settings(self._config)}  # which force may have changed
            CheckpointFile(self._place, self._number).write_content(self._content)

    def read(self, expected: State) -> State | None:
        """Return the last whole checkpoint; None if there is none and the run is to begin again, which a line says.

        That is where nothing has been recorded either, for a run's first checkpoint is that of its beginning, or by
        force.

        `expected` is one of a run of these settings, whose names, shapes and types must be found again.

        Raises:
            UserError: every checkpoint is damaged or gone, or the last one is of another run or program.
        """
        numbers = self._numbers()
        for number in numbers:
            file = CheckpointFile(self._place, number)
            try:
                content = file.read_content()
                content["config"] = self._config.of_today(content["config"])
                self._check(content, file.content)
                tensors = file.read_tensors(content["tensors_sha256"], expected.tensors)
            except DamagedError as damage:
                _notice(f"{damage}; trying the checkpoint before it")
                continue
            counters = _of_today(content["counters"], content["config"])
            if not _alike(counters, dict(expected.counters)):
                raise UserError(f"{file.content}: its counters are not those of such a run")
            self._number, self._content = number, content
            self.evaluations, self.settings, self.finished = (
                counters["evaluations"],
                content["config"],
                content["finished"],
            )
            return State(tensors, counters)
        if numbers:
            raise UserError(f"{self._place}: no checkpoint is whole; start a new run")
        if not self._flags.force and (metrics := self.folder / METRICS).exists() and metrics.stat().st_size:
            lost = "holds no checkpoint of a run that has a record: none found room, or they are gone"
            raise UserError(f"{self._place}: {lost}; put them back, or begin the run and its record again with --force")
        _notice(f"{self._place}: holds no checkpoint yet; the run begins again")
        return None

    def _numbers(self) -> list[int]:
        """Return the numbers of the checkpoints there are, the newest first.

        Raises:
            UserError: there is no folder of them, or it cannot be read.
        """
        if not self._place.is_dir():
            raise UserError(f"{self.folder}: holds no checkpoints; was it made by an older version of this program?")
        try:
            names = [path.stem for path in self._place.iterdir() if path.suffix == ".json"]
        except OSError as error:
            raise UserError(f"{self._place}: cannot be read ({error.strerror}); make it readable") from None
        return sorted((int(name) for name in names if name.isdecimal()), reverse=True)

    def _check(self, content: dict[str, Any], path: Path) -> None:
        """Refuse a checkpoint of another algorithm or of other settings."""
        if content["algorithm"] != self._config.algorithm:
            raise UserError(f"{path}: is of a run of {content['algorithm']!r}, not of {self._config.algorithm}")
        check_changes(
            content["config"], settings(self._config), self._config.length_setting, self._flags.force, str(path)
        )

    def check_unfinished(self) -> None:
        """Refuse to go on in a finished run with the settings that it was finished with.

        Raises:
            UserError: nothing is left to be done.
        """
        if self.finished and self.settings == json.loads(json.dumps(settings(self._config))):
            longer = self._config.length_setting
            raise UserError(
                f"{self.folder}: is finished; --{longer.replace('_', '-')} above {self.settings[longer]} goes on"
            )

    @contextlib.contextmanager
    def stop_when_asked(self) -> Iterator[None]:
        """Let Ctrl-C and SIGTERM make a checkpoint due, which ends the run; the second time they end it at once."""

        def ask() -> None:
            if self._stop_asked:
                raise KeyboardInterrupt
            self._stop_asked = True

        with when_asked_to_stop(ask):
            yield


def finished(folder: Path) -> bool:
    """Tell whether the last checkpoint of a run that can be read is that of its end, whose results are written."""
    place = folder / CHECKPOINTS
    numbers = [int(path.stem) for path in place.glob("*.json") if path.stem.isdecimal()] if place.is_dir() else []
    for number in sorted(numbers, reverse=True):
        with contextlib.suppress(DamagedError):
            return bool(CheckpointFile(place, number).read_content()["finished"])
    return False


def _notice(message: str) -> None:
    print(one_line(message), file=sys.stderr)


def _of_today(counters: dict[str, Any], written_with: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counters with those that a tabular run of before had not: it evaluated at multiples of its spacing."""
    counters = dict(counters)
    if isinstance(counters.pop("interval_seconds", None), float):
        games, spacing = counters.get("games_played"), written_with.get("eval_every")
        if isinstance(games, int) and isinstance(spacing, int) and spacing > 0:
            counters |= {"due": (games // spacing + 1) * spacing, "proofs": 0}
    return counters


def _alike(found: object, expected: object) -> bool:
    """Tell whether two pieces of JSON have the same names and types, and possible numbers."""
    if type(found) is not type(expected):
        return False
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(_alike(found[name], expected[name]) for name in found)
    if isinstance(found, float):  # every float among the counters is a time
        return 0 <= found <= LONGEST_TIME
    return not isinstance(found, int) or found >= 0
