"""The state of a sweep on disk, `sweep.json`: its plan, and the state of each of its runs.

Resuming a sweep needs nothing else but the run folders, which have checkpoints of their own.
"""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from selfplay.errors import UserError
from selfplay.files import read_small, write_whole
from selfplay.settings import check
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import Plan, Run

FILE = "sweep.json"
STOP = "stop"
"""A file that asks every worker to write a checkpoint and stop."""
FORMAT = 2
LARGEST = 1 << 28
"""Bytes; a run takes about 300."""


@dataclass
class Sweep:
    """Hold a sweep and its folder; only one process at a time may change it."""

    folder: Path
    plan: Plan
    runs: list[Run] = field(default_factory=list)

    def write(self) -> None:
        """Write the state, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        content = {"format": FORMAT, "plan": plans.as_json(self.plan), "runs": list(map(asdict, self.runs))}
        write_whole(self.folder / FILE, (json.dumps(content, indent=1) + "\n").encode())

    def settings(self) -> dict[str, list[Run]]:
        """Return the runs by setting, in their order."""
        settings: dict[str, list[Run]] = {}
        for run in self.runs:
            settings.setdefault(run.setting, []).append(run)
        return settings

    def ends(self) -> Counter[str]:
        """Return the number of runs in each state, those that are proved apart from others that are done."""
        return Counter(run.end for run in self.runs)


def read(folder: Path) -> Sweep:
    """Return the sweep of a folder.

    Raises:
        UserError: there is none, or its state cannot be read.
    """
    path = folder / FILE
    try:
        content = json.loads(read_small(path, LARGEST))
        sweep = Sweep(folder, plans.make(content["plan"], {}), [_run(found) for found in content["runs"]])
        plans.check_runs(sweep.plan, sweep.runs)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); is this the folder of a sweep?") from None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise UserError(f"{path}: is not the state of a sweep of this program ({error}); restore it") from None
    if content["format"] != FORMAT:
        raise UserError(f"{path}: has format {content['format']!r}; this program reads format {FORMAT}")
    return sweep


def _run(found: dict[str, Any]) -> Run:
    """Return a run from JSON that may be foreign.

    Raises:
        ValueError, TypeError: it has other fields or values.
    """
    run = Run(**found)
    check(run)
    run.values = {name: tuple(value) if isinstance(value, list) else value for name, value in run.values.items()}
    return run
