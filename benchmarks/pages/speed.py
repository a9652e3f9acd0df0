"""Figures of docs/speed.md: plies per second of the environments, the time to a proof, and the published DQN."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from benchmarks.data import Result, saved_results
from benchmarks.environment import speed
from benchmarks.harness import cell, markdown, number, spread, summary
from benchmarks.learning import time_to_unbeatable

Rows: TypeAlias = Mapping[str, Sequence[Result]]

COMMANDS: Mapping[time_to_unbeatable.Mode, str] = {
    "default": "`python train.py`",
    "mask": "`--mask`",
    "separate": "`--networks separate`",
    "optimal": "`--stop optimal`",
    "optimal-mask": "`--mask --stop optimal`",
}
VECTORS = "boards: "
"""What the titles of groups of many boards begin with."""
SUMMARY: Mapping[str, tuple[str, str]] = {
    "one game, `gymnasium.make`": ("one board", f"{speed.OURS} / {speed.CHECKED}"),
    "1,024 games, `make_vec`": (f"{VECTORS}1,024", f"{speed.VECTOR} / {speed.PGX}"),
    "65,536 games, `make_vec`": (f"{VECTORS}65,536", f"{speed.VECTOR} / {speed.PGX}"),
}
"""Group and ratio of each line of the README about an environment."""


def figures(docs: Path) -> dict[str, str]:
    """Return tables and single figures of everything that is timed."""
    environments = grouped(saved_results(docs, speed.TITLE))
    training = saved_results(docs, time_to_unbeatable.TITLE)
    return {
        **of_environments(environments),
        "time.table": markdown(summary({command: training[mode] for mode, command in COMMANDS.items()})),
        "speed.summary": short_table(environments, training),
    }


def shown(results: Sequence[Result]) -> str:
    """Return the plies per second of a row in three digits, or its ratios to another; "-" of none."""
    if not results:
        return "-"
    name = "plies/s" if "plies/s" in results[0] else "ratio"
    return spread(float(f"{result[name]:.3g}") for result in results).text()


def grouped(results: Rows) -> dict[str, dict[str, Sequence[Result]]]:
    """Return the rows of each group of environments by its title."""
    groups: dict[str, dict[str, Sequence[Result]]] = {}
    for name, of_row in results.items():
        title, _, row = name.rpartition(": ")
        groups.setdefault(title, {})[row] = of_row
    return groups


def by_rules(rows: Rows) -> dict[str, dict[str, Sequence[Result]]]:
    """Return rows by the rules at the end of their names; of two rows that are compared the first decides."""
    groups: dict[str, dict[str, Sequence[Result]]] = {}
    for name, results in rows.items():
        rules = name.partition(" / ")[0].rpartition(", ")[2]
        groups.setdefault(rules, {})[name.replace(f", {rules}", "")] = results
    return groups


def of_environments(groups: Mapping[str, Rows]) -> dict[str, str]:
    """Return the tables of the environments, and what a step of all boards takes, in which each plays a ply."""
    vectors = {title.removeprefix(VECTORS): rows for title, rows in groups.items() if title.startswith(VECTORS)}
    steps = []
    for boards, rows in vectors.items():
        plies = spread(result["plies/s"] for result in rows[speed.SAME_STEP]).median
        steps.append(f"{number(1e6 * int(boards.replace(',', '')) / plies, 0)} µs on {boards}")
    return {
        "speed.rounds": cell([len(of_row) for rows in groups.values() for of_row in rows.values()]),
        "speed.one-board": compared(groups["one board"], groups["two agents, AEC"]),
        "speed.opponents": compared(groups["an opponent inside"]),
        "speed.vectors": side_by_side(vectors, "boards at once"),
        "speed.larger-boards": side_by_side(by_rules(groups["larger boards"]), "rows, columns, marks in a row"),
        "speed.steps": ", ".join(steps),
    }


def compared(*groups: Rows) -> str:
    """Return a table with a line for each ratio of rows that were measured in turns."""
    lines = [ratio_line(rows, name) for rows in groups for name in rows if " / " in name]
    return markdown([["environment", "plies per second", "beside", "plies per second", "ratio"], *lines])


def ratio_line(rows: Rows, ratio: str) -> list[str]:
    """Return two rows of a group that are compared, each with its speed, and their ratio."""
    ours, _, peer = ratio.partition(" / ")
    return [ours, shown(rows[ours]), peer, shown(rows[peer]), shown(rows[ratio])]


def side_by_side(groups: Mapping[str, Rows], title: str) -> str:
    """Return a table with the rows of all groups, and a column for each group."""
    rows = dict.fromkeys(row for of_group in groups.values() for row in of_group)
    lines = [[row, *(shown(of_group.get(row, ())) for of_group in groups.values())] for row in rows]
    return markdown([[title, *groups], *lines])


def short_table(groups: Mapping[str, Rows], training: Rows) -> str:
    """Return the table of the README."""
    rows = (training["default"], training[time_to_unbeatable.UNIT])
    proof, unit = (cell([result["seconds"] for result in each]) for each in rows)
    lines = [
        ["what", "ours", "beside", "theirs", "ratio"],
        ["`python train.py` to a proof, seconds", proof, "10,000 steps of Stable-Baselines3's DQN", unit, "-"],
        *([f"{what}, plies per second", *ratio_line(groups[at], name)[1:]] for what, (at, name) in SUMMARY.items()),
    ]
    return markdown(lines)
