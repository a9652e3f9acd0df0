"""Fill in the tables of README and the pages from the data files: `python -m benchmarks.pages`, or `--check` them.

A page names a table on a line of its own, and another line ends it:

    <!-- lapses.table -->
    | ... |
    <!-- end -->

`--list-tables` shows every table with its name.
"""

import csv
import json
import math
import re
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import tyro

import selfplay
from benchmarks import harness, symptoms
from benchmarks.data import Result, Seats, data_file, saved_results
from benchmarks.harness import cell, markdown, number, spread, summary
from benchmarks.learning import bigger_boards, published, targets
from benchmarks.peers import evaluations, report, tuning
from benchmarks.sweeps import evidence, tables
from benchmarks.sweeps.__main__ import SWEEPS
from selfplay.cli.flags import parse
from selfplay.cli.sweep import SweepConfig
from selfplay.sweep.statistics import Estimate, proportion

MARKED = re.compile(r"^(<!-- (?P<name>[a-z0-9-]+(\.[a-z0-9-]+)+) -->\n).*?^(<!-- end -->)", re.DOTALL | re.MULTILINE)
Tables: TypeAlias = dict[str, str]
"""Tables in Markdown, by name."""
Results: TypeAlias = Mapping[str, Sequence[Result]]
"""What was measured, by row."""


def all_tables(docs: Path) -> Tables:
    """Return every table."""
    return {
        **of_data_files(docs),
        **of_symptoms(docs),
        **of_peers(docs),
        **of_sweeps(docs),
        **of_learning(docs),
        **of_bigger_boards(docs),
        **of_speed(docs),
        "disturbed-sweeps.table": of_killed_sweeps(saved(docs, "disturbed-sweeps")),
        "figures.table": of_figures(docs),
        "planted-faults.table": of_planted_faults(saved(docs, "planted-faults")),
        "ways.table": of_ways_to_beat(),
    }


def saved(docs: Path, title: str) -> Results:
    """Return the results of a data file; none if nothing has been measured yet."""
    return saved_results(docs, title) if data_file(docs, title).exists() else {}


def table(results: Results, columns: Sequence[str] = ()) -> str:
    """Return a table of results with some of their columns, by default all."""
    if not any(results.values()):
        return report.NONE
    if columns:
        results = {
            row: [{name: result[name] for name in columns if name in result} for result in of_row]
            for row, of_row in results.items()
        }
    return markdown(summary(results))


# Where each figure comes from

NO_COMMIT = "before this history"
"""When a row was measured that has no commit, or one that this repository does not contain."""


class Figure(NamedTuple):
    """A data file: what made it, and the page that shows it."""

    file: str
    command: str
    """What follows `python -m benchmarks.`; for all but the sweeps it also needs `--docs docs`. Empty: no script."""
    page: str = ""
    """A link, if it is not the page of the figure before it."""
    measured: str = ""
    """The sweep from which it was made."""


FIGURES = (
    Figure("evidence/proof.csv", "sweeps proof", "[Is it proved every time?](#is-it-proved-every-time)"),
    Figure(
        "data/time-to-unbeatable.json",
        "learning.time_to_unbeatable",
        "[How long does it take?](#how-long-does-it-take)",
    ),
    Figure("data/from-pressing-return-to-a-proof.json", "learning.waiting"),
    Figure("data/training-on-a-gpu.json", "learning.gpu"),
    Figure("data/speed-of-the-published-dqn.json", "learning.article_speed"),
    Figure("data/lapses.json", "learning.lapses", "[Does a proof last?](#does-a-proof-last)"),
    Figure("evidence/defaults.csv", "sweeps defaults", "[Which settings matter?](#which-settings-matter)"),
    Figure("evidence/targets.csv", "sweeps.targets sweeps/defaults", measured="defaults"),
    Figure("data/the-three-targets.json", "learning.targets"),
    Figure(
        "data/the-published-learners.json",
        "learning.learners",
        "[What do published learners learn?](#what-do-published-learners-learn)",
    ),
    Figure("data/match-ups-of-afterstate-q.json", "learning.published"),
    Figure("peers.csv", "peers", "[Baselines](baselines.md)"),
    Figure("peers-tuning.csv", "peers.tuning"),
    Figure("data/speed-of-the-environments.json", "environment.speed", "[Speed](#speed)"),
    Figure("data/speed-on-a-gpu.json", "environment.gpu"),
    Figure(
        "data/simulations-until-proved.json",
        "learning.simulations",
        "[How much search?](#how-much-search-does-a-learned-player-need-until-it-is-proved)",
    ),
    Figure("data/searching-large-boards.json", "environment.search --times 7", "[Bigger boards](#bigger-boards)"),
    Figure("data/the-rule.json", "environment.rule --times 3"),
    Figure("data/bigger-boards.json", "learning.bigger_boards"),
    Figure("data/alphazero-on-5x5x4.json", "learning.alphazero_larger"),
    Figure("data/disturbed-sweeps.json", "sweeps.disturbed", "[What if a run is killed?](#what-if-a-run-is-killed)"),
    Figure("data/changes-by-strangers.json", "", "[How easily changed?](#how-easily-is-the-code-changed)"),
    Figure("data/modules-of-a-run.json", "modules"),
    Figure("data/equal-weights.json", "equal_weights CLONE OTHER_CLONE"),
    Figure("data/speed-by-commit.json", "learning.time_to_unbeatable --modes default mask"),
    Figure("data/planted-faults.json", "planted_faults CLONE", "[Do the tests notice?](#do-the-tests-notice-a-fault)"),
    Figure("data/ray-tune.json", "sweeps.ray_tune", "[Sweeps](sweeps.md)"),
    Figure("data/the-page.json", "page", "[Play](play.md#the-page)"),
    Figure("course/unit_2.csv", "learning.course tables", "[The course](course/README.md)"),
    Figure("course/unit_4.csv", "learning.course networks"),
    Figure("symptoms.csv", "symptoms", "[Why does my DQN not learn?](why-does-my-dqn-not-learn.md)"),
)


def of_figures(docs: Path) -> str:
    """Return a table of the data files: what shows them, what made them, and where."""
    lines = [["figure", "data file", "`python -m benchmarks.` ...", "measured at", "highest load"]]
    for figure in FIGURES:
        name = Path(figure.file).stem
        machines = machines_of(docs, figure.measured or name)
        link = f"[{name}]({figure.file})"
        command = f"`{figure.command}`" if figure.command else "by hand"
        lines.append([figure.page, link, command, commits(machines), load(machines)])
    return markdown(lines)


def machines_of(docs: Path, name: str) -> list[dict[str, str]]:
    """Return what each row of the data files of a name was measured on; none if nothing has been measured yet.

    Of lines in a CSV file, which may be older than the row that sums them up, it is the commit.
    """
    machines = []
    path, lines = data_file(docs, "evidence" if name in SWEEPS else name), docs / f"{name}.csv"
    if path.exists():
        rows = json.loads(path.read_text())
        machines += [row["measured on"] for key, row in rows.items() if name not in SWEEPS or key == name]
    if lines.exists():
        with lines.open(newline="") as file:
            machines += [{"commit": line["commit"]} for line in csv.DictReader(file) if "commit" in line]
    return machines


def load(machines: Sequence[Mapping[str, str]]) -> str:
    """Return the highest of the loads that were saved with the rows."""
    found = [float(machine["load"].split()[0]) for machine in machines if "load" in machine]
    return number(max(found), 1) if found else "not saved"


def commits(machines: Sequence[Mapping[str, str]]) -> str:
    """Return at which commits the rows were measured, and whether some were before this history."""
    if not machines:
        return "not yet"
    found = [commit_of(machine) for machine in machines]
    known = ", ".join(dict.fromkeys(commit for commit in found if commit))
    if not known:
        return NO_COMMIT
    return known if all(found) else f"{known}, partly {NO_COMMIT}"


def commit_of(machine: Mapping[str, str]) -> str:
    """Return the commit at which a row was measured, nothing if this repository does not contain it."""
    commit, changed, _ = machine.get("commit", "unknown").partition(",")
    if not any(full.startswith(commit) for full in harness.history()):
        return ""
    return f"{commit} with uncommitted changes" if changed else commit


# The tables

DIFFERENCE = ("difference", "p", "the difference is")
COLUMNS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(SWEEPS, ("changed", "proved", "plies, median", *DIFFERENCE)),
    "proof": ("changed", "proved", "true share, %", "plies, median", "most plies", *DIFFERENCE),
    "equal-weights": ("equal",),
    "time-to-unbeatable": ("proved", "seconds", "all seconds", "units", "plies", "ms"),
    "lapses": (
        "first proof, plies", "evaluations after it", "lapses", "last lapse, plies", "without a lapse",
        "third proof in a row, plies", "without a lapse after it", "proved at the end",
    ),
    "searching-large-boards": ("with best play", "positions", "seconds"),
    "the-rule": ("can it lose?", "positions", "win/draw/loss % against random"),
}  # fmt: skip
"""Columns of the tables of sweeps, and of a data file's if not all."""


def of_data_files(docs: Path) -> Tables:
    """Return a table of every data file, `NAME.table`."""
    names = [Path(figure.file).stem for figure in FIGURES if figure.file.startswith("data/")]
    return {f"{name}.table": table(saved(docs, name), COLUMNS.get(name, ())) for name in names}


def of_symptoms(docs: Path) -> Tables:
    """Return a table for each symptom."""
    return {
        f"symptoms.{symptom}.table": markdown(symptoms.table_of(rows)) for symptom, rows in symptoms.read(docs).items()
    }


def of_peers(docs: Path) -> Tables:
    """Return the tables of the learners of other libraries, and what the protocol asks for."""
    runs = report.read(docs)
    trials = tuning.read_trials(docs / tuning.FILE)
    protocol = [
        ["", "trials", "seeds", "seconds of training for each seed"],
        ["search", str(tuning.TRIALS), f"{len(tuning.SEEDS)}, from 1000 up", number(tuning.TRIAL_SECONDS, 0)],
        ["final runs", "1", "0 to 4", number(evaluations.FINAL_SECONDS, 0)],
    ]
    return {
        "baselines.learners": report.table_of_players(report.compared(runs), tuning.proved_trials(trials)),
        "baselines.walk": report.table_of_the_walk(runs),
        "baselines.told": report.table_of_what_is_told(),
        "baselines.settings": markdown(tuning.settings_table(trials)) if trials else report.NONE,
        "protocol.table": markdown(protocol),
    }


def of_sweeps(docs: Path) -> Tables:
    """Return the table of each sweep, and of the defaults that have changed since it ran."""
    found = {}
    lines = [["sweep", "runs", "proved", "defaults that have changed since"]]
    controls = saved(docs, "evidence")
    for name, words in SWEEPS.items():
        path = docs / "evidence" / f"{name}.csv"
        found[f"{name}.table"] = report.NONE
        if path.exists():
            with path.open(newline="") as file:
                runs = list(csv.DictReader(file))
            [control] = controls[name]
            columns = COLUMNS[name]
            found[f"{name}.table"] = markdown(
                [columns, *([line[column] for column in columns] for line in tables.time_to_proof(runs, control))]
            )
            now = evidence.control(parse(SweepConfig, words.split(), "selfplay sweep"))
            proved = cell([run["end"] == "proved" for run in runs]).partition(" ")[0]
            lines.append([name, str(len(runs)), proved, tables.changes(control, now)])
    return {**found, "sweeps.table": markdown(lines)}


def of_learning(docs: Path) -> Tables:
    """Return what the targets and the published learners learn, and how the match-ups of afterstate-q end."""
    of_targets: dict[str, list[Result]] = {}
    with (docs / "targets.csv").open(newline="") as file:
        for (target, _), lines in groupby(csv.DictReader(file), lambda line: (line.pop("target"), line.pop("seed"))):
            history = [{name: float(value) for name, value in line.items()} for line in lines]
            first = min((line["plies"] for line in history if not line["exploitability"]), default=math.inf)
            of_targets.setdefault(target, []).append({"first proof, plies": first} | targets.last_evaluations(history))
    of_learners = {
        f"`{command}`": [of_learner(result) for result in results]
        for command, results in saved(docs, "the-published-learners").items()
    }
    return {
        "targets.table": table(of_targets),
        "learners.table": table(of_learners),
        "published.match-ups": markdown(match_ups(saved(docs, published.MATCH_UP_TITLE))),
    }


def of_learner(result: Result) -> Result:
    """Return what the table of the published learners shows of a run."""
    ways = [sum(seat) for seat in zip(result["ways by a line"], result["ways by its own illegal move"], strict=True)]
    found = {"unbeatable": not any(ways), "ways to beat it": Seats(*ways)}
    return found | {name: result[name] for name in ("loss %", "ties with itself")}


def match_ups(results: Results) -> list[list[str]]:
    """Return a table of match-ups: mean and standard deviation of the shares over the seeds."""
    lines = [["games", "X / O / draws, %, published", "here: mean ± standard deviation"]]
    for row, of_row in results.items():
        shares = []
        for end in published.ENDS:
            values = [result[end] for result in of_row]
            deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
            shares.append(f"{statistics.mean(values):.1f}{deviation}")
        lines.append([row, published.PUBLISHED_SHARES[row.partition(",")[0]], " / ".join(shares)])
    return lines


def of_bigger_boards(docs: Path) -> Tables:
    """Return what is proved on larger boards: by our DQN, and by AlphaZero."""
    trained = {f"`{bigger_boards.ROWS[row]}`": of_row for row, of_row in saved(docs, "bigger-boards").items()}
    alphazero = {row: list(map(proved_seats, of_row)) for row, of_row in saved(docs, "alphazero-on-5x5x4").items()}
    return {
        "bigger-boards.table": table(trained, ("proved", "plies", "seconds", "all seconds")),
        "alphazero-larger.table": table(
            alphazero, ("plies", "beaten from, %", "ways to beat it", "all followed", "proved")
        ),
    }


def proved_seats(result: Result) -> Result:
    """Return a result with the seats in which all was followed and nothing beats the player."""
    seats = zip(result["ways to beat it"], result["all followed"], strict=True)
    return {**result, "proved": Seats(*(followed and not ways for ways, followed in seats))}


def of_speed(docs: Path) -> Tables:
    """Return the tables of the environments, compared with their peers."""
    groups = speeds(docs, "speed-of-the-environments")
    single = [rows for name, rows in groups.items() if name.startswith(("one board", "two agents"))]
    vectors, on_gpu = by_num_boards(groups), by_num_boards(speeds(docs, "speed-on-a-gpu"))
    return {
        "speed.one-board": ratios(single) if single else report.NONE,
        "speed.vectors": side_by_side(vectors, compared_with_others(vectors)) if vectors else report.NONE,
        "speed.gpu": side_by_side(on_gpu, all_rows(on_gpu)) if on_gpu else report.NONE,
    }


def speeds(docs: Path, title: str) -> dict[str, dict[str, str]]:
    """Return the spread of each row's speed or ratio, by group and row."""
    groups: dict[str, dict[str, str]] = {}
    for name, results in saved(docs, title).items():
        group, _, row = name.rpartition(": ")
        column = "plies/s" if "plies/s" in results[0] else "ratio"
        groups.setdefault(group, {})[row] = spread(float(f"{result[column]:.3g}") for result in results)
    return groups


def by_num_boards(groups: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Return the groups that are measured with a number of boards, by that number."""
    return {name.partition(": ")[2]: rows for name, rows in groups.items() if name.startswith("boards: ")}


def ratios(groups: Sequence[Mapping[str, str]]) -> str:
    """Return a table with a line for each ratio of two rows, and with the speed of each row."""
    lines = [["environment", "plies per second", "compared with", "plies per second", "ratio"]]
    for rows in groups:
        for name, ratio in rows.items():
            ours, compared, peer = name.partition(" / ")
            if compared:
                lines.append([ours, rows[ours], peer, rows[peer], ratio])
    return markdown(lines)


def all_rows(groups: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return every row of the groups."""
    return list(dict.fromkeys(row for of_group in groups.values() for row in of_group))


def compared_with_others(groups: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the first row of the groups, and the ratios to other libraries."""
    first, *others = all_rows(groups)
    return [first, *(row for row in others if " / " in row and not row.partition(" / ")[2].startswith("make_vec"))]


def side_by_side(groups: Mapping[str, Mapping[str, str]], rows: Sequence[str]) -> str:
    """Return a table of some rows with a column for each number of boards."""
    lines = [[row, *(of_group.get(row, "-") for of_group in groups.values())] for row in rows]
    return markdown([["boards at once", *groups], *lines])


def of_killed_sweeps(results: Results) -> str:
    """Return the table of sweeps in which a kill interrupted a run."""
    interrupted = {row: of_row for row, of_row in results.items() if any(result["runs resumed"] for result in of_row)}
    return table(interrupted)


def of_planted_faults(results: Results) -> str:
    """Return a table of how many faults the tests noticed, by the commit in which they were planted.

    What each fault breaks, a "promise", "looks" or "nothing", was judged by reading it, and added to the data file.
    """
    columns: dict[str, Callable[[Result], bool]] = {
        "all": lambda _: True,
        "in envs": lambda result: result["file"].startswith("envs"),
        "in agents": lambda result: result["file"].startswith("agents"),
        "break a promise": lambda result: result.get("breaks") == "promise",
        "change looks": lambda result: result.get("breaks") == "looks",
        "change nothing": lambda result: result.get("breaks") == "nothing",
    }
    lines = [["planted in", *columns]]
    for commit, of_row in results.items():
        found = ([result["noticed"] for result in of_row if chosen(result)] for chosen in columns.values())
        lines.append([commit, *map(noticed, found)])
    return markdown(lines)


def noticed(found: Sequence[bool]) -> str:
    """Return how many faults were noticed, with the share in percent and its interval."""
    if not found:
        return cell(found)
    share = proportion(sum(found), len(found))
    return f"{cell(found)}: {Estimate(*(100 * end for end in share)).text(0)} %"


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


# The pages


def filled(text: str, found: Mapping[str, str]) -> str:
    """Return a page with the tables that its markers name.

    Raises:
        KeyError: There is no such table.
    """
    return MARKED.sub(lambda match: match[1] + found[match["name"]] + match[4], text)


def main(check: bool = False, list_tables: bool = False, root: Path = harness.ROOT) -> None:
    """Fill in the tables of README and pages.

    Args:
        check: Change nothing, and name each page that is out of date.
        list_tables: Show every table with its name.
        root: Folder with README.md and docs.

    Raises:
        SystemExit: A page is out of date, or names a table that there is not.
    """
    found = all_tables(root / "docs")
    if list_tables:
        sys.stdout.writelines(f"{name}\n{text}\n" for name, text in found.items())
        return
    outdated = []
    for page in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        text, name = page.read_text(), str(page.relative_to(root))
        try:
            right = filled(text, found)
        except KeyError as unknown:
            raise SystemExit(f"{name}: there is no table {unknown}; --list-tables shows all") from None
        if right != text:
            outdated.append(name)
            if not check:
                page.write_text(right)
    if check and outdated:
        raise SystemExit(f"{', '.join(outdated)}: out of date; run python -m benchmarks.pages")


if __name__ == "__main__":
    tyro.cli(main)
