"""The tables of the pages, from the data files.

A page names the function that makes a table, for cog, which writes it below. CONTRIBUTING has the command:

    <!-- [[[cog cog.out(pages.of_data_file("lapses")) ]]] -->
    | ... |
    <!-- [[[end]]] -->
"""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import selfplay
from benchmarks import harness, symptoms
from benchmarks.data import Result, Seats, data_file, saved_results
from benchmarks.harness import markdown, number, spread, summary
from benchmarks.learning import bigger_boards, targets
from benchmarks.peers import report
from benchmarks.sweeps import evidence, tables
from benchmarks.sweeps.__main__ import SWEEPS
from selfplay.cli.flags import parse
from selfplay.cli.sweep import SweepConfig

DOCS = harness.ROOT / "docs"
Results: TypeAlias = Mapping[str, Sequence[Result]]
"""What was measured, by row."""


def table(results: Results, columns: Sequence[str] = ()) -> str:
    """Return a table of results with some of their columns, by default all."""
    if columns:
        results = {
            row: [{name: result[name] for name in columns if name in result} for result in of_row]
            for row, of_row in results.items()
        }
    return markdown(summary(results))


# Where each figure comes from


class Figure(NamedTuple):
    """A data file: what made it, and the page that shows it."""

    file: str
    command: str
    """What follows `python -m benchmarks.`; for all but the sweeps it also needs `--docs docs`."""
    page: str = ""
    """A link, if it is not the page of the figure before it."""


FIGURES = (
    Figure("evidence/proof.csv", "sweeps proof", "[Is it proved every time?](#is-it-proved-every-time)"),
    Figure(
        "data/time-to-unbeatable.json",
        "learning.time_to_unbeatable",
        "[How long does it take?](#how-long-does-it-take)",
    ),
    Figure("data/lapses.json", "learning.lapses", "[Does a proof last?](#does-a-proof-last)"),
    Figure("evidence/defaults.csv", "sweeps defaults", "[Which settings matter?](#which-settings-matter)"),
    Figure("data/the-three-targets.json", "learning.targets"),
    Figure(
        "data/the-published-learners.json",
        "learning.learners",
        "[What do published learners learn?](#what-do-published-learners-learn)",
    ),
    Figure("peers.csv", "peers", "[Baselines](baselines.md)"),
    Figure("data/speed-of-the-environments.json", "environment.speed", "[Speed](#speed)"),
    Figure("data/bigger-boards.json", "learning.bigger_boards", "[Bigger boards](#bigger-boards)"),
    Figure("symptoms.csv", "symptoms", "[Why does my DQN not learn?](why-does-my-dqn-not-learn.md)"),
)


def of_figures() -> str:
    """Return a table of the data files: what shows them, what made them, and where."""
    lines = [["figure", "data file", "`python -m benchmarks.` ...", "measured at", "highest load"]]
    for figure in FIGURES:
        name = Path(figure.file).stem
        if name in SWEEPS:
            machines = [json.loads(data_file(DOCS, "evidence").read_text())[name]["measured on"]]
        else:
            machines = [*machines_in(data_file(DOCS, name)), *machines_in(DOCS / figure.file)]
        link = f"[{name}]({figure.file})"
        lines.append([figure.page, link, f"`{figure.command}`", said("commit", machines), load(machines)])
    return markdown(lines)


def machines_in(path: Path) -> list[dict[str, str]]:
    """Return what each row of a data file was measured on; of a line of a CSV file it is the commit, if it has one."""
    if path.suffix == ".json":
        return [row["measured on"] for row in json.loads(path.read_text()).values()]
    if path.suffix != ".csv":
        return []
    with path.open(newline="") as file:
        return [{"commit": line["commit"]} for line in csv.DictReader(file) if "commit" in line]


def said(name: str, machines: Iterable[Mapping[str, str]]) -> str:
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
        found = said(fact, machines)
        if found:
            lines.append(f"- {fact[0].upper()}{fact[1:]}: {found}")
    return "\n".join(lines) + "\n"


# The tables

DIFFERENCE = ("difference", "p", "the difference is")
COLUMNS: Mapping[str, Sequence[str]] = {
    "proof": ("changed", "proved", "true share, %", "plies, median", "most plies", *DIFFERENCE),
    "defaults": ("changed", "proved", "plies, median", *DIFFERENCE),
    "time-to-unbeatable": ("proved", "seconds", "all seconds", "units", "plies", "ms"),
    "lapses": (
        "first proof, plies", "evaluations after it", "lapses", "last lapse, plies", "without a lapse",
        "third proof in a row, plies", "without a lapse after it", "proved at the end",
    ),
}  # fmt: skip
"""Columns of the tables of sweeps and data files."""


def of_data_file(name: str) -> str:
    """Return the table of a data file."""
    return table(saved_results(DOCS, name), COLUMNS[name])


def of_symptom(symptom: str) -> str:
    """Return the table of a symptom."""
    return markdown(symptoms.table_of(symptoms.read(DOCS)[symptom]))


def of_the_walk() -> str:
    """Return the table of the walk from our DQN to plain self-play."""
    return report.table_of_the_walk(report.read(DOCS))


def of_the_libraries() -> str:
    """Return the table of our DQN and the learners of other libraries."""
    return report.table(report.compared(report.read(DOCS)))


def of_what_is_told() -> str:
    """Return the table of what each learner of the comparison is told."""
    return report.table_of_what_is_told()


def runs_of(sweep: str) -> list[dict[str, str]]:
    """Return the lines of the CSV file of a sweep."""
    with (DOCS / "evidence" / f"{sweep}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def of_sweep(name: str) -> str:
    """Return the table of a sweep."""
    [control] = saved_results(DOCS, "evidence")[name]
    found = tables.time_to_proof(runs_of(name), control)
    return markdown([COLUMNS[name], *([line[column] for column in COLUMNS[name]] for line in found)])


def of_changed_defaults() -> str:
    """Return a table of the sweeps, and of the defaults that have changed since each."""
    lines = [["sweep", "runs", "proved", "defaults that have changed since"]]
    controls = saved_results(DOCS, "evidence")
    for name, words in SWEEPS.items():
        runs = runs_of(name)
        now = evidence.control(parse(SweepConfig, words.split(), "selfplay sweep"))
        proved = sum(run["end"] == "proved" for run in runs)
        lines.append([name, str(len(runs)), str(proved), tables.changes(controls[name][0], now)])
    return markdown(lines)


def of_targets() -> str:
    """Return the table of what the targets learn by plain self-play."""
    found: dict[str, list[Result]] = {}
    with (DOCS / "targets.csv").open(newline="") as file:
        for (target, _), lines in groupby(csv.DictReader(file), lambda line: (line.pop("target"), line.pop("seed"))):
            history = [{name: float(value) for name, value in line.items()} for line in lines]
            first = min((line["plies"] for line in history if not line["exploitability"]), default=math.inf)
            found.setdefault(target, []).append({"first proof, plies": first} | targets.last_evaluations(history))
    return table(found)


def of_published_learners() -> str:
    """Return the table of what the published learners learn."""
    saved = saved_results(DOCS, "the-published-learners")
    return table({f"`{command}`": [of_learner(result) for result in results] for command, results in saved.items()})


def of_learner(result: Result) -> Result:
    """Return what the table of the published learners shows of a run."""
    ways = [sum(seat) for seat in zip(result["ways by a line"], result["ways by its own illegal move"], strict=True)]
    found = {"unbeatable": not any(ways), "ways to beat it": Seats(*ways)}
    return found | {name: result[name] for name in ("loss %", "ties with itself")}


def of_bigger_boards() -> str:
    """Return the table of what training alone proves on larger boards."""
    found = {f"`{bigger_boards.ROWS[row]}`": of_row for row, of_row in saved_results(DOCS, "bigger-boards").items()}
    return table(found, ("proved", "plies", "seconds", "all seconds"))


def speeds() -> dict[str, dict[str, str]]:
    """Return the spread of each row's speed or ratio, by group and row."""
    groups: dict[str, dict[str, str]] = {}
    for name, results in saved_results(DOCS, "speed-of-the-environments").items():
        group, _, row = name.rpartition(": ")
        column = "plies/s" if "plies/s" in results[0] else "ratio"
        groups.setdefault(group, {})[row] = spread(float(f"{result[column]:.3g}") for result in results)
    return groups


def of_single_boards() -> str:
    """Return the table of the speed of one board, with a line for each peer."""
    lines = [["environment", "plies per second", "compared with", "plies per second", "ratio"]]
    for group, rows in speeds().items():
        if not group.startswith(("one board", "two agents")):
            continue
        for name, ratio in rows.items():
            ours, compared, peer = name.partition(" / ")
            if compared:
                lines.append([ours, rows[ours], peer, rows[peer], ratio])
    return markdown(lines)


def of_many_boards() -> str:
    """Return the table of the speed of many boards, by their number, and of the ratios to other libraries."""
    groups = {name.removeprefix("boards: "): rows for name, rows in speeds().items() if name.startswith("boards: ")}
    ours, *others = dict.fromkeys(row for rows in groups.values() for row in rows)
    peers = [row for row in others if " / " in row and " / make_vec" not in row]
    lines = [[row, *(rows.get(row, "-") for rows in groups.values())] for row in (ours, *peers)]
    return markdown([["boards at once", *groups], *lines])


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
