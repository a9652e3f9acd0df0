"""The record of a sweep on disk, `sweep.json`: what it is to train, and how each of its runs stands.

It is JSON that we write, and nothing else of a sweep's folder is needed to go on: each run has its own checkpoints.
Ray keeps files of its own, which can run code when they are read; they lie elsewhere and are never read.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from selfplay.errors import UserError, one_line
from selfplay.files import read_small, write_whole
from selfplay.sweep import plan as plans

FILE = "sweep.json"
STOP = "stop"
"""A file that asks every worker to write a checkpoint and stop."""
FORMAT = 1
LARGEST = 1 << 28
"""Bytes; a run takes about 300."""

State = Literal["waiting", "running", "done", "failed", "dropped"]
"""How a run stands; "dropped" is one of a setting that a search gave up after its first seeds."""


@dataclass
class Row:
    """Say how one run of a sweep stands."""

    name: str
    """Of its folder."""
    setting: str
    """What differs, in words; equal for the seeds of a setting."""
    values: dict[str, Any]
    """The settings that differ."""
    seed: int
    state: State = "waiting"
    why: str = ""
    """Why it has failed or was dropped."""
    proved: int | None = None
    """Steps to the first evaluation from which the proof held."""
    starts: int = 0
    """Workers that have begun it or gone on with it."""
    host: str = ""
    """Where it was last."""
    seconds: float = 0.0
    """That its last worker spent on it."""


@dataclass
class Sweep:
    """Hold a sweep and the folder it is in; only one process at a time may change it."""

    place: Path
    plan: plans.Plan
    rows: list[Row] = field(default_factory=list)

    def write(self) -> None:
        """Write the record, whole or not at all.

        Raises:
            UserError: it cannot be written.
        """
        from importlib.metadata import version

        content = {
            "format": FORMAT,
            "version": version("tictactoe-selfplay"),
            "plan": plans.as_json(self.plan),
            "runs": [asdict(row) for row in self.rows],
        }
        try:
            write_whole(self.place / FILE, (json.dumps(content, indent=1) + "\n").encode())
        except OSError as error:
            again = "once it can, --resume goes on"
            raise UserError(f"{self.place / FILE}: cannot be written ({error.strerror}); {again}") from None

    def add(self, runs: list[plans.Run]) -> list[Row]:
        """Return the rows of these runs, new ones for those that have none."""
        known = {row.name: row for row in self.rows}
        for run in runs:
            if run.name not in known:
                known[run.name] = Row(run.name, run.setting.label, run.setting.values, run.seed)
                self.rows.append(known[run.name])
        return [known[run.name] for run in runs]

    def count(self, state: State) -> int:
        """Return how many runs stand so."""
        return sum(row.state == state for row in self.rows)


def read(place: Path) -> Sweep:
    """Return the sweep of a folder.

    Raises:
        UserError: there is none, or its record is not one.
    """
    path = place / FILE
    try:
        content = json.loads(read_small(path, LARGEST))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); is this the folder of a sweep?") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: is truncated or not JSON") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UserError(f"{path}: is not the record of a sweep in format {FORMAT}")
    if not isinstance(content.get("plan"), dict):
        raise UserError(f"{path}: is not the record of a sweep of this program (it has no plan)")
    try:
        rows = [_row(found) for found in content["runs"]]
        plan = plans.make(content["plan"], {})
    except (KeyError, TypeError, ValueError) as error:  # a UserError is a ValueError
        raise UserError(f"{path}: is not the record of a sweep of this program ({error})") from None
    if len({row.name for row in rows}) < len(rows):
        raise UserError(f"{path}: names a run twice")
    return Sweep(place, plan, rows)


KINDS: dict[str, Any] = {
    "name": str,
    "setting": str,
    "values": dict,
    "seed": int,
    "state": str,
    "why": str,
    "proved": int | None,
    "starts": int,
    "host": str,
    "seconds": float | int,
}


def _row(found: dict[str, Any]) -> Row:
    """Return a row as JSON has it.

    Raises:
        ValueError: it has other fields or values, or a name that is a path to elsewhere.
        TypeError: it is none.
    """
    if not isinstance(found, dict):
        raise TypeError("a run that is none")
    if found.keys() != KINDS.keys() or not all(isinstance(found[name], kind) for name, kind in KINDS.items()):
        raise ValueError("a run of other fields")
    row = Row(**found)
    if row.name in ("", ".", "..") or Path(row.name).name != row.name or not row.name.isprintable():
        raise ValueError(f"a run called {row.name!r}")
    if row.state not in get_args(State):
        raise ValueError(f"a run that is {row.state!r}")
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in row.values.items()}
    shown = {name: one_line(found[name]) for name in ("setting", "why", "host")}
    return Row(**{**found, **shown, "values": values})
