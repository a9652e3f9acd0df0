"""The data files behind the pages: what every measurement found, with the machine, so that no figure is typed."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from selfplay.files import write_whole

Row = TypeVar("Row")
Result: TypeAlias = dict[str, Any]
"""What one measurement found, by column: numbers (infinity for what never happened), verdicts, texts, or shares."""


class Seats(NamedTuple):
    """Hold a value of each seat."""

    first: Any
    second: Any


def save(docs: Path, title: str, results: Mapping[Row, Sequence[Result]], measured_on: Mapping[str, str]) -> None:
    """Write the results of each row, in place of earlier ones, to the data file of a title, with the machine."""
    path = data_file(docs, title)
    saved = json.loads(path.read_text()) if path.exists() else {}
    for row, of_row in results.items():
        saved[str(row)] = {"measured on": dict(measured_on), "results": [as_json(result) for result in of_row]}
    path.parent.mkdir(exist_ok=True)
    write_whole(path, (json.dumps(saved, indent=1, ensure_ascii=False) + "\n").encode())


def saved_results(docs: Path, title: str) -> dict[str, list[Result]]:
    """Return the results of each row from the data file of a title."""
    saved = json.loads(data_file(docs, title).read_text())
    return {row: [from_json(result) for result in of_row["results"]] for row, of_row in saved.items()}


def data_file(docs: Path, title: str) -> Path:
    """Return where the results of a title are saved in the folder of the pages."""
    return docs / "data" / f"{title.lower().replace(' ', '-')}.json"


def as_json(result: Result) -> dict[str, Any]:
    """Return a result for JSON: values of both seats by mark, infinity as null."""

    def value(found: Any) -> Any:
        if isinstance(found, Seats):
            return {"X": value(found.first), "O": value(found.second)}
        return None if isinstance(found, float) and math.isinf(found) else found

    return {name: value(found) for name, found in result.items()}


def from_json(result: Mapping[str, Any]) -> Result:
    """Return a result that `as_json` has written."""

    def value(found: Any) -> Any:
        if isinstance(found, dict):
            return Seats(value(found["X"]), value(found["O"]))
        if isinstance(found, list):
            return tuple(found)
        return math.inf if found is None else found

    return {name: value(found) for name, found in result.items()}
