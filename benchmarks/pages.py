"""The tables of the pages, from the data files.

A page names the function that makes a table, for cog, which writes it below. CONTRIBUTING has the command:

    <!-- [[[cog cog.out(pages.of_bigger_boards()) ]]] -->
    | ... |
    <!-- [[[end]]] -->
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import selfplay
from benchmarks import harness, symptoms
from benchmarks.data import Result, data_file, saved_results
from benchmarks.harness import cell, markdown, number, summary
from benchmarks.learning import bigger_boards, lapses
from benchmarks.peers import peer_runs
from benchmarks.sweeps import evidence_tables
from benchmarks.sweeps.__main__ import SWEEPS

DOCS = harness.ROOT / "docs"
Results: TypeAlias = Mapping[str, Sequence[Result]]
"""The measurement, by row."""


def table(results: Results, columns: Sequence[str] = ()) -> str:
    """Return a table of results with some of their columns, by default all."""
    if columns:
        results = {
            row: [{name: result[name] for name in columns if name in result} for result in of_row]
            for row, of_row in results.items()
        }
    return markdown(summary(results))


# Where each figure comes from


FIGURES: Mapping[str, str] = {
    "evidence/proof.csv": "sweeps proof",
    "data/time-to-unbeatable.json": "learning.time_to_unbeatable",
    "data/lapses.json": "learning.lapses",
    "evidence/defaults.csv": "sweeps defaults",
    "peers.csv": "peers",
    "data/bigger-boards.json": "learning.bigger_boards",
    "data/speed-of-the-environments.json": "environment.speed",
    "symptoms.csv": "symptoms",
}
"""The data files, and the command that made each: what follows `python -m benchmarks.`."""


def of_figures() -> str:
    """Return a table of the data files: what made them, and when."""
    lines = [["data file", "`python -m benchmarks.` ...", "measured at", "highest load"]]
    for file, command in FIGURES.items():
        name = Path(file).stem
        if name in SWEEPS:
            machines = [json.loads(data_file(DOCS, "evidence").read_text())[name]["measured on"]]
        else:
            machines = [*machines_in(data_file(DOCS, name)), *machines_in(DOCS / file)]
        lines.append([f"[{name}]({file})", f"`{command}`", as_text("commit", machines), load(machines)])
    return markdown(lines)


def machines_in(path: Path) -> list[dict[str, str]]:
    """Return what each row of a data file was measured on; of a line of a CSV file it is the commit, if it has one."""
    if path.suffix == ".json":
        return [row["measured on"] for row in json.loads(path.read_text()).values()]
    if path.suffix != ".csv":
        return []
    with path.open(newline="") as file:
        return [{"commit": line["commit"]} for line in csv.DictReader(file) if "commit" in line]


def as_text(name: str, machines: Iterable[Mapping[str, str]]) -> str:
    """Return the different values that machines have for a name."""
    return "; ".join(dict.fromkeys(machine[name] for machine in machines if name in machine))


def load(machines: Iterable[Mapping[str, str]]) -> str:
    """Return the highest of the loads that were saved with the rows."""
    return number(max(float(machine["load"].split()[0]) for machine in machines if "load" in machine), 1)


def of_studies() -> str:
    """Return a section for each finished study: what it found, and what its data were made by."""
    with (DOCS / "studies" / "studies.csv").open(newline="") as file:
        return "\n".join(map(of_study, csv.DictReader(file)))


def of_study(study: Mapping[str, str]) -> str:
    """Return the section of a study."""
    name = study["study"]
    files = sorted((DOCS / "studies" / name).iterdir())
    machines = [machine for path in files for machine in machines_in(path)]
    lines = [f"## {name}\n", f"*For {study['for']}.* {study['found']}\n"]
    lines += [f"![{name}]({name}/{path.name})\n" for path in files if path.suffix == ".png"]
    links = [f"[{path.name}]({name}/{path.name})" for path in files if path.suffix != ".png"]
    lines += [f"- Data: {', '.join(links)}", f"- Command: {study['command']}"]
    for fact in ("commit", "CPU", "GPU"):
        found = as_text(fact, machines)
        if found:
            lines.append(f"- {fact[0].upper()}{fact[1:]}: {found}")
    return "\n".join(lines) + "\n"


# The tables

COLUMNS: Mapping[str, Sequence[str]] = {
    "proof": ("changed", "proved", "true share, %", "plies, median", "difference", "p", "clear?"),
    "defaults": ("changed", "proved of 15", "difference, plies", "p", "clear?"),
}
"""Columns of the tables of sweeps."""


SPEEDS = (
    "one board: TicTacToe-v0, gymnasium.make / PettingZoo tictactoe_v3.env()",
    "one board: TicTacToe-v0, gymnasium.make / OpenSpiel tic_tac_toe, lists",
    "boards: 1,024: make_vec, NEXT_STEP / pgx, jitted steps",
    "boards: 64: make_vec, SAME_STEP / pgx, one lax.scan",
)
"""Rows of the table of speeds."""


def of_speed() -> str:
    """Return a table of our plies a second divided by those of others."""
    results = saved_results(DOCS, "speed-of-the-environments")
    return table({row: results[row] for row in SPEEDS})


def of_time_and_lapses() -> str:
    """Return the table of how long a proof takes, and how often a player is beaten again after it."""
    seconds = saved_results(DOCS, "time-to-unbeatable") | saved_results(DOCS, "bigger-boards")
    found = {}
    for row, results in saved_results(DOCS, "lapses").items():
        after = sum(result["evaluations after it"] for result in results)
        found[f"`{lapses.FLAGS[row]}`"] = [
            {
                "seconds": cell([result["seconds"] for result in seconds.get(row, [])]),
                "all seconds": cell([result["all seconds"] for result in seconds.get(row, [])]),
                "lapses, %": number(100 * sum(result["lapses"] for result in results) / after),
                "never beaten again": cell([result["without a lapse"] for result in results]),
                "after three proofs": cell([result["without a lapse after it"] for result in results]),
            }
        ]
    return table(found)


def of_symptom(symptom: str) -> str:
    """Return the table of a symptom."""
    return markdown(symptoms.table_of(symptoms.read(DOCS)[symptom]))


def of_the_libraries() -> str:
    """Return the table of our DQN and the learners of other libraries."""
    return peer_runs.table(peer_runs.read(DOCS))


def runs_of(sweep: str) -> list[dict[str, str]]:
    """Return the lines of the CSV file of a sweep."""
    with (DOCS / "evidence" / f"{sweep}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def of_sweep(name: str) -> str:
    """Return the table of a sweep."""
    [control] = saved_results(DOCS, "evidence")[name]
    found = evidence_tables.time_to_proof(runs_of(name), control)
    return markdown([COLUMNS[name], *([line[column] for column in COLUMNS[name]] for line in found)])


def of_bigger_boards() -> str:
    """Return the table of what training alone proves on larger boards."""
    found = {f"`{bigger_boards.ROWS[row]}`": of_row for row, of_row in saved_results(DOCS, "bigger-boards").items()}
    return table(found, ("proved", "plies", "seconds", "all seconds"))


def of_ways_to_beat() -> str:
    """Return a table of the ways to beat simple agents, and how often these lose to uniformly random play."""
    agents: dict[str, Any] = {
        "always marks the first cell": lambda _: 0,
        "marks the first empty cell": lambda observation: int(observation[..., 0].argmax()),
        "`heuristic`": "heuristic",
        "`random`": "random",
    }
    lines = [["agent", "ways to beat it", "loses to random play as X, %", "as O, %"]]
    for name, agent in agents.items():
        verdict = selfplay.evaluate(agent)
        losses = [number(100 * (seat.loss or 0)) for seat in (verdict.first, verdict.second)]
        lines.append([name, number(verdict.ways_to_beat, 0), *losses])
    return markdown(lines)
