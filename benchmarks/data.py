"""The data files behind the pages: what every measurement found, with the machine, so that no figure is typed."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

Row = TypeVar("Row")
Result: TypeAlias = dict[str, Any]
"""The result of one measurement, by column: numbers (infinity for what never happened), verdicts, or texts."""


def save(docs: Path, title: str, results: Mapping[Row, Sequence[Result]], measured_on: Mapping[str, str]) -> None:
    """Write the results of each row, in place of earlier ones, to the data file of a title, with the machine."""
    path = data_file(docs, title)
    saved = json.loads(path.read_text()) if path.exists() else {}
    for row, of_row in results.items():
        found = [{name: as_json(value) for name, value in result.items()} for result in of_row]
        saved[str(row)] = {"measured on": dict(measured_on), "results": found}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n")


def saved_results(docs: Path, title: str) -> dict[str, list[Result]]:
    """Return the results of each row from the data file of a title."""
    saved = json.loads(data_file(docs, title).read_text())
    return {
        row: [{name: from_json(value) for name, value in result.items()} for result in of_row["results"]]
        for row, of_row in saved.items()
    }


def data_file(docs: Path, title: str) -> Path:
    """Return where the results of a title are saved in the folder of the pages."""
    return docs / "data" / f"{title.lower().replace(' ', '-')}.json"


def as_json(value: Any) -> Any:
    """Return a value for JSON: infinity is null."""
    if isinstance(value, float) and math.isinf(value):
        return None
    return value


def from_json(value: Any) -> Any:
    """Return a value that `as_json` has written."""
    return math.inf if value is None else value
