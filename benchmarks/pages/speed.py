"""Figures of docs/speed.md that are not in the tables of every data file: the environments, beside their peers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from benchmarks.data import Result, saved_results
from benchmarks.environment import speed
from benchmarks.harness import markdown, spread

Rows: TypeAlias = Mapping[str, Sequence[Result]]

HEADER = ["environment", "plies per second", "beside", "plies per second", "ratio"]


def figures(docs: Path) -> dict[str, str]:
    """Return the tables of the environments."""
    groups: dict[str, dict[str, Sequence[Result]]] = {}
    for name, results in saved_results(docs, speed.TITLE).items():
        group, _, row = name.rpartition(": ")
        groups.setdefault(group, {})[row] = results
    vectors = {name.partition(": ")[2]: rows for name, rows in groups.items() if name.startswith("boards: ")}
    return {
        "speed.one-board": markdown([HEADER, *ratios(groups["one board"]), *ratios(groups["two agents, AEC"])]),
        "speed.opponents": markdown([HEADER, *ratios(groups["an opponent inside"])]),
        "speed.vectors": side_by_side(vectors, "boards at once"),
        "speed.larger-boards": side_by_side(by_rules(groups["larger boards"]), "rows, columns, marks in a row"),
    }


def shown(results: Sequence[Result]) -> str:
    """Return the plies per second of a row in three digits, or its ratios to another; "-" of none."""
    if not results:
        return "-"
    name = "plies/s" if "plies/s" in results[0] else "ratio"
    return spread(float(f"{result[name]:.3g}") for result in results).text()


def ratios(rows: Rows) -> Iterator[list[str]]:
    """Yield a line for each ratio of rows that were measured in turns."""
    yield from (ratio_line(rows, name) for name in rows if " / " in name)


def ratio_line(rows: Rows, ratio: str) -> list[str]:
    """Return two rows that are compared, each with its speed, and their ratio."""
    ours, _, peer = ratio.partition(" / ")
    return [ours, shown(rows[ours]), peer, shown(rows[peer]), shown(rows[ratio])]


def by_rules(rows: Rows) -> dict[str, dict[str, Sequence[Result]]]:
    """Return rows by the rules at the end of their names; of two rows that are compared the first decides."""
    groups: dict[str, dict[str, Sequence[Result]]] = {}
    for name, results in rows.items():
        rules = name.partition(" / ")[0].rpartition(", ")[2]
        groups.setdefault(rules, {})[name.replace(f", {rules}", "")] = results
    return groups


def side_by_side(groups: Mapping[str, Rows], title: str) -> str:
    """Return a table with the rows of all groups, and a column for each group."""
    rows = dict.fromkeys(row for of_group in groups.values() for row in of_group)
    lines = [[row, *(shown(of_group.get(row, ())) for of_group in groups.values())] for row in rows]
    return markdown([[title, *groups], *lines])
