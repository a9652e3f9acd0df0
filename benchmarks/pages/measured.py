"""Figures of every data file: where it was measured, the runs of a row, its table, and each cell of the table.

Their names begin with the name of the file, as in `time-to-unbeatable.measured-on`, `time-to-unbeatable.runs`,
`time-to-unbeatable.table` and `time-to-unbeatable.default.all-seconds`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.data import Result, data_file, saved_results
from benchmarks.harness import cell, markdown, spread, summary


def figures(docs: Path) -> dict[str, str]:
    """Return the figures of every data file."""
    found = {}
    for path in sorted(data_file(docs, "*").parent.glob("*.json")):
        results = saved_results(docs, path.stem)
        machines = [row["measured on"] for row in json.loads(path.read_text()).values()]
        found[f"{path.stem}.measured-on"] = described(machines)
        found[f"{path.stem}.runs"] = cell([*map(len, results.values())])
        found[f"{path.stem}.table"] = markdown(summary(results))
        found |= cells(path.stem, results)
    return found


def cells(subject: str, results: Mapping[str, Sequence[Result]]) -> Iterator[tuple[str, str]]:
    """Yield what a table shows of each row's columns, with a name of the subject, the row and the column."""
    for row, of_row in results.items():
        for column in dict.fromkeys(name for result in of_row for name in result):
            words = (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") for name in (row, column))
            yield ".".join([subject, *words]), cell([result[column] for result in of_row if column in result])


def described(machines: Sequence[Mapping[str, str]]) -> str:
    """Return in one line what the rows were measured on; of the loads the median, least and most."""
    parts = []
    for name in dict.fromkeys(name for machine in machines for name in machine):
        values = [machine[name] for machine in machines if name in machine]
        if name == "load":
            parts.append(f"load {spread(float(value.split()[0]) for value in values).text(2)}")
        elif name == "OS":
            parts.append(values[0].partition("-")[0])
        elif name != "commit" and set(values) != {"not installed"}:
            text = " or ".join(dict.fromkeys(values))
            parts.append(text if name == "CPU" else f"{name} {text}")
    return ", ".join(parts)
