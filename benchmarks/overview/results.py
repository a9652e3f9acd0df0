"""Keep what `python -m benchmarks` has measured, every single value, in a JSON file that `--compare` reads.

The file holds a `Report` by its fields, and `FORMAT`; null stands for what never happened.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from selfplay.errors import UserError
from selfplay.files import write_whole

FORMAT = 2


@dataclass(frozen=True)
class Result:
    """Hold what a row has measured; group and name together name it."""

    group: str
    name: str
    unit: str
    ours: bool
    """Whether it is not a peer's."""
    values: list[float]
    """One per round; infinity is what never happened."""
    peers: tuple[str, ...] = ()
    """Rows of the same group that it is compared with, round by round."""

    @property
    def more_is_better(self) -> bool:
        """Tell whether more of the unit is better, as of a rate; of a time or of memory less is."""
        return self.unit.endswith("/s")


@dataclass(frozen=True)
class Report:
    """Hold all rows of a run, and what it ran on."""

    machine: dict[str, str]
    """What `measuring/machine.py` describes."""
    seeds: list[int]
    """One for each round."""
    rows: list[Result]


def write(path: Path, report: Report) -> None:
    """Write a report as JSON, whole or not at all.

    Raises:
        UserError: the file cannot be written.
    """
    content = {"format": FORMAT, **asdict(report)}
    for row in content["rows"]:
        row["values"] = [None if math.isinf(value) else value for value in row["values"]]
    try:
        write_whole(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); name another --json") from None


def read(path: Path) -> Report:
    """Return the report that a file holds.

    Raises:
        UserError: there is no such file, or it holds something else.
    """
    try:
        content = json.loads(path.read_bytes())
        return _report(**content)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); name what python -m benchmarks wrote") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: is no measurement ({type(error).__name__}: {error}); measure again") from None


def _report(format: int, rows: list[dict[str, Any]], **fields: Any) -> Report:  # noqa: A002 (the file's word)
    if format != FORMAT:
        raise ValueError(f"it is not of format {FORMAT}")
    return Report(rows=[_row(**row) for row in rows], **fields)


def _row(values: list[float | None], peers: list[str], **fields: Any) -> Result:
    found = [math.inf if value is None else float(value) for value in values]
    if not found or not all(value > 0 for value in found):
        raise ValueError(f"a row has the values {found}, not some above 0")
    return Result(values=found, peers=tuple(peers), **fields)
