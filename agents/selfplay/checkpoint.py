"""Checkpoints: all that a run needs to go on to the same bits, as safetensors and JSON, whole or not at all.

A checkpoint is `checkpoint/N.safetensors` and, written after it, `checkpoint/N.json`, which holds the counters,
the settings and the checksums of both. The two newest are kept. Nothing that is read can execute code, and the
sizes in a header are compared with those that the settings ask for before memory is taken.
"""

import contextlib
import hashlib
import json
import math
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from selfplay.algorithms import Config
from selfplay.checks import GROWING, check_changes, require
from selfplay.errors import UserError
from selfplay.files import sync, write_whole
from selfplay.run_folder import METRICS, settings

CHECKPOINTS = "checkpoint"
FORMAT = 1
KEPT = 2
"""Checkpoints on disk: the newest, and the one before in case the newest is damaged."""
LARGEST_SHARE = 0.02
"""Of the time that writing may take: after a slow one the next comes later than the interval says."""


@dataclass(frozen=True)
class RunFlags:
    """Say how a process goes about a run; none of it is a setting of the run."""

    resume: Path | None = None
    """Run folder to go on in from its last checkpoint."""
    force: bool = False
    """Resume although settings differ from those that the run was started with."""
    checkpoint_interval: float = 60.0
    """Seconds between checkpoints; more where writing one would take over 2 % of the time."""

    def __post_init__(self) -> None:
        require(0 < self.checkpoint_interval <= 1e9, "checkpoint_interval", "above 0 s", self.checkpoint_interval)
        if self.force and self.resume is None:
            raise UserError("--force goes with --resume RUN")


class Snapshot(NamedTuple):
    """Hold what a checkpoint holds."""

    tensors: Mapping[str, Tensor]
    counters: Mapping[str, Any]
    """Ready for JSON."""


class _DamagedError(Exception):
    """Say why a file is not what was written."""


class Checkpoints:
    """Decide when a run's checkpoints are due, write them, and read the last one back.

    `folder` is the run's, which nobody else may be writing to: see `files.locked`.
    """

    def __init__(self, folder: Path, config: Config, flags: RunFlags) -> None:
        self.folder = folder
        self.evaluations = 0
        """How many there had been at the checkpoint that was read."""
        self.settings: Mapping[str, Any] = {}
        """The settings with which it was written."""
        self.finished = False
        """Whether its run was."""
        self._config = config
        self._flags = flags
        self._content: dict[str, Any] = {}
        self._stop_asked = False
        self._next = time.perf_counter() + flags.checkpoint_interval
        self._place = folder / CHECKPOINTS
        if flags.resume is None:
            self._place.mkdir()
        self._number = 0

    @property
    def resuming(self) -> bool:
        """Tell whether the run has begun in an earlier process."""
        return self._flags.resume is not None

    def due(self) -> bool:
        """Tell whether it is time for the next checkpoint, or somebody has asked the run to stop."""
        return self._stop_asked or time.perf_counter() >= self._next

    def write(self, snapshot: Snapshot) -> None:
        """Write the next checkpoint, whole or not at all; `counters["evaluations"]` is how many have been recorded.

        If it cannot be written a line says so, the last one stays, and training goes on.

        Raises:
            KeyboardInterrupt: somebody has asked the run to stop.
        """
        started = time.perf_counter()
        try:
            self._write(snapshot)
        except OSError as error:
            print(
                f"{self._place}: no checkpoint could be written ({error.strerror}); the last one stays", file=sys.stderr
            )
        now = time.perf_counter()
        self._next = now + max(self._flags.checkpoint_interval, (now - started) / LARGEST_SHARE)
        if self._stop_asked:
            raise KeyboardInterrupt

    def _write(self, snapshot: Snapshot) -> None:
        number = self._number + 1
        if (metrics := self.folder / METRICS).exists():
            sync(metrics)  # the checkpoint counts its lines
        tensors = save({name: tensor.detach().cpu().contiguous() for name, tensor in snapshot.tensors.items()})
        write_whole(self._tensors(number), tensors)
        self._content = {
            "format": FORMAT,
            "version": version("tictactoe-selfplay"),
            "algorithm": self._config.algorithm,
            "config": settings(self._config),
            "finished": False,
            "counters": dict(snapshot.counters),
            "tensors_sha256": hashlib.sha256(tensors).hexdigest(),
        }
        self._number = number
        self._write_content()
        for old in self._numbers():
            if old <= number - KEPT:
                self._json(old).unlink()
                self._tensors(old).unlink(missing_ok=True)

    def finish(self) -> None:
        """Mark the last checkpoint as that of a finished run, whose results have been written."""
        if self._content:
            self._content["finished"] = True
            self._write_content()

    def _write_content(self) -> None:
        content = {**self._content, "sha256": _checksum(self._content)}
        write_whole(self._json(self._number), (json.dumps(content, indent=1) + "\n").encode())
        sync(self._place)

    def read(self, expected: Snapshot) -> Snapshot | None:
        """Return the last whole checkpoint; None if none was written yet, and the run is to begin again.

        `expected` is one of a run of these settings, whose names, shapes and types must be found again.

        Raises:
            UserError: every checkpoint is damaged, or the last one is of another run or program, or finished.
        """
        if not self._place.is_dir():
            raise UserError(f"{self.folder}: holds no checkpoints; was it made by an older version of this program?")
        numbers = sorted(self._numbers(), reverse=True)
        for number in numbers:
            try:
                content = _read_content(self._json(number))
                self._check(content, self._json(number))
                tensors = _read_tensors(self._tensors(number), content["tensors_sha256"], expected.tensors)
            except _DamagedError as damage:
                print(f"{damage}; trying the checkpoint before it", file=sys.stderr)
                continue
            counters = content["counters"]
            if not _alike(counters, dict(expected.counters)):
                raise UserError(f"{self._json(number)}: its counters are not those of such a run")
            self._number, self._content = number, content
            self.evaluations, self.settings, self.finished = (
                counters["evaluations"],
                content["config"],
                content["finished"],
            )
            return Snapshot(tensors, counters)
        if numbers:
            raise UserError(f"{self._place}: no checkpoint is whole; start a new run")
        return None

    def _check(self, content: dict[str, Any], path: Path) -> None:
        """Refuse a checkpoint of another algorithm, of other settings or of a finished run."""
        if content["algorithm"] != self._config.algorithm:
            raise UserError(f"{path}: is of a run of {content['algorithm']!r}, not of {self._config.algorithm}")
        check_changes(content["config"], settings(self._config), self._flags.force, str(path))
        if content["finished"] and content["config"] == json.loads(json.dumps(settings(self._config))):
            longer = next(name for name in GROWING if name in content["config"])
            raise UserError(
                f"{self.folder}: is finished; --{longer.replace('_', '-')} above {content['config'][longer]} goes on"
            )

    def _numbers(self) -> list[int]:
        return [int(path.stem) for path in self._place.glob("*.json") if path.stem.isdecimal()]

    def _json(self, number: int) -> Path:
        return self._place / f"{number}.json"

    def _tensors(self, number: int) -> Path:
        return self._place / f"{number}.safetensors"

    @contextlib.contextmanager
    def stop_when_asked(self) -> Iterator[None]:
        """Let Ctrl-C and SIGTERM make a checkpoint due, which ends the run; the second time they end it at once."""

        def ask(*_: object) -> None:
            if self._stop_asked:
                raise KeyboardInterrupt
            self._stop_asked = True

        signals = [signal.SIGINT, signal.SIGTERM] if threading.current_thread() is threading.main_thread() else []
        earlier = {number: signal.getsignal(number) for number in signals}
        for number, handler in earlier.items():
            if handler is not signal.SIG_IGN:  # as a shell sets it for what runs in its background
                signal.signal(number, ask)
        try:
            yield
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _read_content(path: Path) -> dict[str, Any]:
    try:
        content: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise _DamagedError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise _DamagedError(f"{path}: is damaged (it is not JSON)") from None
    found = content.get("format") if isinstance(content, dict) else None
    if not isinstance(found, int):
        raise UserError(f"{path}: is not a checkpoint of this program; remove it, or start a new run")
    if found != FORMAT:
        of = f"format {found} of version {content.get('version')!r}, this program reads format {FORMAT}"
        raise UserError(f"{path}: is a checkpoint in {of}; resume with that version, or start a new run")
    if content.pop("sha256", None) != _checksum(content):
        raise _DamagedError(f"{path}: is damaged (its checksum differs)")
    kinds = {"algorithm": str, "config": dict, "finished": bool, "counters": dict, "tensors_sha256": str}
    if not all(isinstance(content.get(name), kind) for name, kind in kinds.items()):
        raise UserError(f"{path}: is not a checkpoint of this program; remove it, or start a new run")
    return dict(content)


def _read_tensors(path: Path, checksum: str, expected: Mapping[str, Tensor]) -> dict[str, Tensor]:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
        if digest.hexdigest() != checksum:
            raise _DamagedError(f"{path}: is damaged (its checksum differs)")
        with safe_open(path, framework="pt") as opened:
            found = {name: tuple(opened.get_slice(name).get_shape()) for name in opened.keys()}  # noqa: SIM118
            for name in sorted(found.keys() | expected.keys()):
                wanted = tuple(expected[name].shape) if name in expected else None
                if found.get(name) != wanted:
                    difference = f"{name} must be {wanted}, but is {found.get(name)}"
                    raise UserError(f"{path}: is of other settings than the run: {difference}")
            tensors = {name: opened.get_tensor(name) for name in expected}
    except OSError as error:
        raise _DamagedError(f"{path}: cannot be read ({error.strerror or error})") from None
    except SafetensorError as error:
        raise _DamagedError(f"{path}: is not a safetensors file ({error})") from None
    for name, tensor in tensors.items():
        if tensor.dtype != expected[name].dtype:
            raise UserError(f"{path}: {name} must be {expected[name].dtype}, but is {tensor.dtype}")
    return tensors


def _alike(found: object, expected: object) -> bool:
    """Tell whether two pieces of JSON have the same names and types, and the numbers are finite and not negative."""
    if type(found) is not type(expected):
        return False
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(_alike(found[name], expected[name]) for name in found)
    return not isinstance(found, int | float) or 0 <= found < math.inf
