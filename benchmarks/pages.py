"""Fill in the figures of README and pages from the data files: `python -m benchmarks.pages`, or `--check` them.

A page names a figure between markers, in a text or on lines of its own for a table:

    The slowest of <!-- evidence.seeds -->100<!-- end --> seeds ...

`--list-figures` shows every figure with its name.
"""

import csv
import json
import math
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, groupby
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import tyro
from scipy import stats

import selfplay
from benchmarks import harness, symptoms
from benchmarks.data import Result, data_file, saved_results
from benchmarks.environment import speed
from benchmarks.harness import cell, markdown, number, spread, summary
from benchmarks.learning import learners, published, targets
from benchmarks.peers import evaluations, learners as learners_compared, report, tuning
from benchmarks.sweeps import evidence
from benchmarks.sweeps.__main__ import SWEEPS, Name
from selfplay.cli.flags import parse
from selfplay.cli.sweep import SweepConfig
from selfplay.judging import certificate, check_certificate, evaluate
from selfplay.judging.agents import player_policy
from selfplay.judging.exact import ALL_STATES_CELLS
from selfplay.sweep.statistics import TRIMMED, Estimate, compare, interquartile_mean, proportion, proved_curve
from tictactoe import Rules
from tictactoe.tree import SOLVABLE_CELLS, game_tree

MARKED = re.compile(r"(<!-- (?P<name>[a-z0-9-]+(\.[a-z0-9-]+)+) -->)(?P<text>.*?)(<!-- end -->)", re.DOTALL)
MARKER_FIRST = re.compile(r" ((?:<!-- [a-z0-9.-]+ -->[^\n<]*<!-- end -->|[^\s<])+)\n( *)(?=<!-- [a-z0-9.-]+ -->[^\n])")
"""The last word of a line before one that begins with a marker: in Markdown that is HTML, which ends the paragraph."""
Figures: TypeAlias = dict[str, str]
"""What a page shows, by name."""


def all_figures(docs: Path) -> Figures:
    """Return every figure."""
    return {
        **of_data_files(docs),
        **of_symptoms(docs),
        **of_peers(docs),
        **of_evidence(docs),
        **of_learning(docs),
        **of_speed(docs),
        **of_the_game(),
        **of_ways_to_beat(),
        **of_the_course(docs),
    }


# Every data file: where it was measured, the runs of a row, its table, and each cell of the table. Their names begin
# with the name of the file, as in `time-to-unbeatable.table` and `time-to-unbeatable.default.all-seconds`.

NO_COMMIT = "before this history"
"""When a row was measured that has no commit, or one that this repository does not contain."""


def of_data_files(docs: Path) -> Figures:
    """Return the figures of every data file, and a table of where the rows of each were measured."""
    found = {}
    lines = [["data file", "rows", NO_COMMIT, "measured", "load"]]
    for path in sorted(data_file(docs, "*").parent.glob("*.json")):
        results = saved_results(docs, path.stem)
        machines = [row["measured on"] for row in json.loads(path.read_text()).values()]
        missing = [commit_of(machine) for machine in machines].count("")
        lines.append([path.stem, str(len(machines)), str(missing), commits(machines), loads(machines)])
        found[f"{path.stem}.measured-on"] = described(machines)
        found[f"{path.stem}.runs"] = cell([len(of_row) for of_row in results.values()])
        found[f"{path.stem}.table"] = markdown(summary(results))
        found |= cells(path.stem, results)
    return {**found, "data.files": markdown(lines)}


def cells(subject: str, results: Mapping[str, Sequence[Result]]) -> Iterator[tuple[str, str]]:
    """Yield what a table shows of each row's columns, with a name of the subject, the row and the column."""
    for row, of_row in results.items():
        for column in dict.fromkeys(name for result in of_row for name in result):
            words = (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") for name in (row, column))
            yield ".".join([subject, *words]), cell([result[column] for result in of_row if column in result])


def described(machines: Sequence[Mapping[str, str]]) -> str:
    """Return in one line what the rows were measured on."""
    parts = []
    for name in dict.fromkeys(name for machine in machines for name in machine):
        values = list(dict.fromkeys(machine[name] for machine in machines if name in machine))
        if name == "load":
            parts.append(f"load {loads(machines)}")
        elif name == "OS":
            parts.append(values[0].partition("-")[0])
        elif name == "CPU":
            parts.append(" or ".join(values))
        elif name != "commit" and values != ["not installed"]:
            parts.append(f"{name} {' or '.join(values)}")
    return ", ".join([*parts, commits(machines)])


def loads(machines: Sequence[Mapping[str, str]]) -> str:
    """Return the median, least and most of the loads that were saved with the rows."""
    found = [float(machine["load"].split()[0]) for machine in machines if "load" in machine]
    return spread(found, 2) if found else "not saved"


def commits(machines: Sequence[Mapping[str, str]]) -> str:
    """Return at which commits the rows were measured, and whether some were before this history."""
    found = [commit_of(machine) for machine in machines]
    known = ", ".join(dict.fromkeys(commit for commit in found if commit))
    if not known:
        return NO_COMMIT
    return f"commit {known}" if all(found) else f"commit {known}, partly {NO_COMMIT}"


def commit_of(machine: Mapping[str, str]) -> str:
    """Return the commit at which a row was measured, nothing if this repository does not contain it."""
    commit, changed, _ = machine.get("commit", "unknown").partition(",")
    if not any(full.startswith(commit) for full in harness.history()):
        return ""
    return f"{commit} with uncommitted changes" if changed else commit


# Tables that need more than their data file


def of_symptoms(docs: Path) -> Figures:
    """Return a table for each symptom, and each of its cells."""
    found = {}
    for symptom, rows in symptoms.read(docs).items():
        found[f"symptoms.{symptom}.table"] = markdown(symptoms.table_of(rows))
        found |= cells(f"symptoms.{symptom}", rows)
    return found


def of_peers(docs: Path) -> Figures:
    """Return the tables of the learners of other libraries, and how long each was searched and trained."""
    runs = report.read(docs)
    trials = tuning.read_trials(docs / tuning.FILE)
    proofs = {
        player + learners_compared.SEARCHED: cell([trial.proved for trial in of_player])
        for player, of_player in trials.items()
    }
    return {
        "baselines.learners": report.table_of_players(report.compared(runs), proofs),
        "baselines.walk": report.table_of_the_walk(runs),
        "baselines.told": report.table_of_what_is_told(),
        "baselines.settings": markdown(tuning.settings_table(trials)) if trials else report.NONE,
        "protocol.trials": number(tuning.TRIALS, 0),
        "protocol.seconds": number(tuning.TRIAL_SECONDS, 0),
        "protocol.seeds": number(len(tuning.SEEDS), 0),
        "protocol.final-seconds": number(evaluations.FINAL_SECONDS, 0),
    }


ON_SPEED_PAGE = ("dqn", "dqn --mask --stop optimal")
"""Learners whose seconds are on the page of speed, and on no other."""


def of_learning(docs: Path) -> Figures:
    """Return what the targets and the published learners learn, and how the match-ups of afterstate-q end."""
    of_targets: dict[str, list[Result]] = {}
    with (docs / "targets.csv").open(newline="") as file:
        for (target, _), lines in groupby(csv.DictReader(file), lambda line: (line.pop("target"), line.pop("seed"))):
            history = [{name: float(value) for name, value in line.items()} for line in lines]
            first = min((line["plies"] for line in history if not line["exploitability"]), default=math.inf)
            of_targets.setdefault(target, []).append({"first proof, plies": first} | targets.last_evaluations(history))
    of_learners = {}
    for command, results in saved_results(docs, learners.TITLE).items():
        hidden = {"win %", "draw %"}
        if command in ON_SPEED_PAGE:
            hidden.add("seconds")
        of_learners[f"`{command}`"] = [
            {name: value for name, value in result.items() if name not in hidden} for result in results
        ]
    return {
        "learners.table": markdown(summary(of_learners)),
        "targets.seeds": str(max(map(len, of_targets.values()))),
        "targets.window": str(targets.WINDOW),
        "targets.table": markdown(summary(of_targets)),
        "published.group": str(published.GROUP),
        "published.ms": str(published.PUBLISHED_MS),
        "published.match-ups": markdown(match_ups(saved_results(docs, published.MATCH_UP_TITLE))),
    }


def match_ups(results: Mapping[str, Sequence[Result]]) -> list[list[str]]:
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


def of_speed(docs: Path) -> Figures:
    """Return the tables of the environments, compared with their peers."""
    groups: dict[str, dict[str, str]] = {}
    for name, results in saved_results(docs, speed.TITLE).items():
        group, _, row = name.rpartition(": ")
        column = "plies/s" if "plies/s" in results[0] else "ratio"
        groups.setdefault(group, {})[row] = spread(float(f"{result[column]:.3g}") for result in results)
    vectors = {name.partition(": ")[2]: rows for name, rows in groups.items() if name.startswith("boards: ")}
    by_rules: dict[str, dict[str, str]] = {}
    for name, shown in groups["larger boards"].items():
        rules = name.partition(" / ")[0].rpartition(", ")[2]  # of two rows that are compared the first decides
        by_rules.setdefault(rules, {})[name.replace(f", {rules}", "")] = shown
    one_board = [rows for group, rows in groups.items() if group.startswith(("one board", "two agents"))]
    return {
        "speed.one-board": ratios(*one_board),
        "speed.opponents": ratios(groups["an opponent inside"]),
        "speed.vectors": side_by_side(vectors, "boards at once"),
        "speed.larger-boards": side_by_side(by_rules, "rows, columns, marks in a row"),
    }


def ratios(*groups: Mapping[str, str]) -> str:
    """Return a table with a line for each ratio of two rows, and with the speed of each row."""
    lines = [["environment", "plies per second", "compared with", "plies per second", "ratio"]]
    for rows in groups:
        for name, ratio in rows.items():
            ours, compared, peer = name.partition(" / ")
            if compared:
                lines.append([ours, rows[ours], peer, rows[peer], ratio])
    return markdown(lines)


def side_by_side(groups: Mapping[str, Mapping[str, str]], title: str) -> str:
    """Return a table with the rows of all groups, and a column for each group."""
    rows = dict.fromkeys(row for of_group in groups.values() for row in of_group)
    lines = [[row, *(of_group.get(row, "-") for of_group in groups.values())] for row in rows]
    return markdown([[title, *groups], *lines])


def of_the_game() -> Figures:
    """Return sizes of the game, limits of the evaluation, and the size of the shipped player's certificate."""
    tree = game_tree(Rules())
    play = certificate.unbeatable_play(player_policy(selfplay.load("shipped")), len(tree), "shipped")
    counts = {
        "game.states": len(tree),
        "game.decision-states": len(tree.decisions),
        "proofs.cells.all-states": ALL_STATES_CELLS,
        "proofs.cells.solvable": SOLVABLE_CELLS,
        "proofs.cells.most": check_certificate.LARGEST_BOARD,
        "proofs.positions": evaluate.POSITIONS,
        "proofs.checker.lines": len(Path(check_certificate.__file__).read_text().splitlines()),
        "proofs.shipped.positions": sum(len(ply.mine) for plies in play for ply in plies),
    }
    return {name: number(count, 0) for name, count in counts.items()}


def of_ways_to_beat() -> Figures:
    """Return the ways to beat simple agents, and how often these lose to uniformly random play."""
    agents: dict[str, Any] = {
        "constant": lambda _: 0,
        "first-empty": lambda observation: int(observation[..., 0].argmax()),
        "heuristic": "heuristic",
        "random": "random",
    }
    figures = {}
    for name, agent in agents.items():
        verdict = selfplay.evaluate(agent)
        losses = [100 * (seat.loss or 0) for seat in (verdict.first, verdict.second)]
        figures[f"ways.{name}"] = number(verdict.ways_to_beat, 0)
        figures[f"ways.{name}.loss"] = "; ".join(map(number, losses))
    return figures


def of_the_course(docs: Path) -> Figures:
    """Return the minutes of units that follow each other, by the first and the last of them, as the units say."""
    units = sorted((docs / "course").glob("unit_*.py"))
    minutes = [int(re.findall(r"about (\d+) minutes", unit.read_text())[0]) for unit in units]
    return {
        f"course.minutes.{first}-{last}": str(sum(minutes[first - 1 : last]))
        for first, last in combinations_with_replacement(range(1, len(minutes) + 1), 2)
    }


# The sweeps: docs/evidence/*.csv. An amount is what a run took to its proof, infinity without one; kinds of amounts are
# plies, updates, samples and seconds, or in past.csv the percentages of evaluations from the first proof on. The first
# setting of a sweep is the control, with which all others are compared; data/evidence.json holds its settings.

LEVEL = 0.05
"""A difference is said to be clear below this corrected p-value."""
MARGIN = 0.25
"""A difference that is not clear is called small if its interval ends within this part of what the control took."""
SIDES = ("fewer", "more", "small", "open")
"""What can be said of a difference."""
TITLES = {
    "flags": "changed",
    "proved": "proved",
    "plies.median": "plies, median",
    "updates.mean": "updates",
    "samples.mean": "samples, thousands",
    "seconds.ratio": "time, first row 1",
    "plies.most": "most plies",
    "plies.apart": "difference in plies",
    "plies.p": "p",
    "plies.fewer": "fewer with",
    "plies.more": "more with",
    "samples.apart": "difference in samples",
    "samples.p": "p of samples",
    "beaten.ever": "seeds beaten again",
    "beaten.mean": "% beaten again",
    "beaten.apart": "difference",
    "beaten.p": "p",
    "optimal.mean": "% optimal everywhere",
    "optimal.apart": "difference",
    "optimal.p": "p",
}
TO_PROOF = "flags proved plies.median updates.mean samples.mean"
APART = "plies.apart plies.p plies.fewer plies.more"
TABLES: dict[Name, str] = {
    "proof": f"{TO_PROOF} seconds.ratio plies.most",
    "defaults": f"{TO_PROOF} seconds.ratio {APART} samples.apart samples.p",
    "sensitivity": f"{TO_PROOF} seconds.ratio",
    "large": f"{TO_PROOF} {APART}",
    "unmasked": f"{TO_PROOF} {APART}",
    "past": "flags beaten.ever beaten.mean beaten.apart beaten.p optimal.mean optimal.apart optimal.p",
}
"""Columns of the table of each CSV file."""
DIGITS = {"samples": 1, "seconds": 2, "beaten": 2, "optimal": 2}
Settings: TypeAlias = Mapping[str, str]
"""Settings as flags have them, by name."""
Amounts: TypeAlias = dict[str, dict[int, float]]
"""The amounts of a setting's runs by kind and seed."""


def of_evidence(docs: Path) -> Figures:
    """Return the figures of every CSV file, where it was measured, and the defaults of that time."""
    found = {f"share.{many}": f"{100 * proportion(many, many).low:.0f} %" for many in (5, 10, 100)}
    controls = {name: settings for name, [settings] in saved_results(docs, "evidence").items()}
    for setting, text in controls["defaults"].items():
        found[f"default.{setting.replace('_', '-')}"] = number(int(text), 0) if text.isdigit() else text
    saved = json.loads(data_file(docs, "evidence").read_text())
    lines = [["sweep", "runs", "measured", "load", "settings that have changed since"]]
    every_run = []
    for name in TABLES:
        with (docs / "evidence" / f"{name}.csv").open(newline="") as file:
            runs = list(csv.DictReader(file))
        found |= of_sweep(name, runs, controls[name])
        every_run += runs
        machine = [saved[name]["measured on"]]
        now = evidence.control(parse(SweepConfig, SWEEPS[name].split(), "selfplay sweep"))
        lines.append([name, str(len(runs)), commits(machine), loads(machine), changes(controls[name], now)])
    found["evidence.sweeps"] = markdown(lines)
    found["evidence.runs"] = number(len(every_run), 0)
    found["evidence.models"] = number(len({run["model_sha256"] for run in every_run}), 0)
    found["evidence.margin"] = f"{100 * MARGIN:.0f} %"
    return found


def changes(then: Settings, now: Settings) -> str:
    """Return the settings whose values differ."""
    found = [
        f"`{name}` was {then.get(name, 'no setting')}, is {now.get(name, 'no setting')}"
        for name in dict.fromkeys([*then, *now])
        if then.get(name) != now.get(name)
    ]
    return "; ".join(found) or "none"


def of_sweep(name: Name, runs: Sequence[Mapping[str, str]], control: Settings) -> Figures:
    """Return what each setting took, their table, and which took clearly fewer or more than the control, the first."""
    settings: dict[str, Amounts] = {}
    for run in runs:
        setting = settings.setdefault(run["setting"], {})
        for kind, amount in amounts(name, run, control).items():
            setting.setdefault(kind, {})[int(run["seed"])] = amount
    first, *others = settings.values()
    corrected = {kind: [math.nan, *holm([p_value(first[kind], other[kind]) for other in others])] for kind in first}
    rows = []
    sides: dict[str, list[str]] = {f"{kind}.{side}": [] for kind in first for side in SIDES}
    found: Figures = {}
    for place, (label, setting) in enumerate(settings.items()):
        row = {"flags": flags(label, control)}
        for kind, by_seed in setting.items():
            row |= of_amounts(kind, by_seed, first[kind], corrected[kind][place])
            if setting is not first:
                sides[f"{kind}.{row[f'{kind}.side']}"].append(row["flags"])
        rows.append(row)
        shown = re.sub(r"[^a-z0-9.]+", "-", row["flags"].lower()).strip("-")
        found |= {f"{name}.{shown}.{column}": text for column, text in row.items()}
    for side, labels in sides.items():
        found[f"{name}.{side}"] = ", ".join(labels) or "none"
    proved = [run["end"] for run in runs].count("proved")
    found[f"{name}.proved"] = f"{number(proved, 0)} of {number(len(runs), 0)}"
    found[f"{name}.comparisons"] = str(len(others))
    columns = TABLES[name].split()
    found[f"{name}.table"] = markdown([[row[column] for column in columns] for row in (TITLES, *rows)])
    return found


def amounts(name: str, run: Mapping[str, str], control: Settings) -> dict[str, float]:
    """Return what a run took to its proof, or the percentages of its evaluations from the first proof on."""
    if name == "past":
        percent = 100 / int(run["since_proof"])
        return {"beaten": percent * int(run["not_proved"]), "optimal": percent * int(run["all_optimal"])}
    batch = re.search(r"batch_size=(\d+)", run["setting"])
    samples = int(run["updates"]) * int(batch[1] if batch else control["batch_size"])
    found = {"plies": float(run["steps"]), "updates": float(run["updates"]), "samples": samples / 1000}
    if "seconds" in run:
        found["seconds"] = float(run["seconds"])
    return {kind: amount if run["end"] == "proved" else math.inf for kind, amount in found.items()}


def p_value(first: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Return the p-value of Wilcoxon's signed-rank test on equal seeds; a run without a proof counts as the longest."""
    seeds = sorted(first.keys() & other.keys())
    before, after = (np.nan_to_num([of_seed[seed] for seed in seeds]) for of_seed in (first, other))
    return float(stats.wilcoxon(after - before).pvalue) if (before != after).any() else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979), in the same order; SciPy has no function for it."""
    corrected = list(p_values)
    least = 0.0
    for done, place in enumerate(np.argsort(p_values)):
        least = max(least, min(1.0, (len(p_values) - done) * p_values[place]))
        corrected[place] = least
    return corrected


def of_amounts(kind: str, by_seed: Mapping[int, float], first: Mapping[int, float], p: float) -> Figures:
    """Return what a setting took, alone and compared with the control on equal seeds with a corrected p-value."""
    every, digits = [*by_seed.values()], DIGITS.get(kind, 0)
    proved = [math.isfinite(amount) for amount in every]
    (_, fewer, more, _), apart = compare(first, by_seed)
    mean, of_control = interquartile_mean(every), float(stats.trim_mean([*first.values()], TRIMMED))
    return {
        "proved": cell(proved),
        f"{kind}.median": proved_curve(every, proved).median().text(digits),
        f"{kind}.mean": mean.text(digits),
        f"{kind}.ratio": number(mean.value / of_control, 2) if of_control else "-",
        f"{kind}.least": number(min(every), digits),
        f"{kind}.most": number(max(every), digits),
        f"{kind}.ever": cell([amount > 0 for amount in every]),
        f"{kind}.apart": apart.text(digits, "+"),
        f"{kind}.p": p_text(p),
        f"{kind}.fewer": str(fewer),
        f"{kind}.more": str(more),
        f"{kind}.side": said(p, fewer, more, apart, MARGIN * of_control),
    }


def p_text(p: float) -> str:
    """Return a p-value as a table shows it; the control has none."""
    if math.isnan(p):
        return "-"
    return f"{p:.2g}" if p >= 0.001 else "< 0.001"


def said(p: float, fewer: int, more: int, apart: Estimate, margin: float) -> str:
    """Return whether a setting took clearly fewer or more, and if not, whether any difference is small or open."""
    if p < LEVEL:
        return "fewer" if fewer > more else "more"
    return "small" if max(-apart.low, apart.high) <= margin else "open"


def flags(label: str, control: Settings) -> str:
    """Return the settings of a sweep's label as flags, without those that the control has."""
    if label == "default":
        return "nothing"
    words = []
    for name, value in (word.split("=") for word in label.split(",")):
        if value != control.get(name):
            words.append(f"--{name.replace('_', '-')} {value.removesuffix('.0')}".removesuffix(" true"))
    return f"`{' '.join(words)}`" if words else "nothing"


# The pages


def pages(root: Path) -> list[Path]:
    """Return the pages, and the units of the course, whose prose holds figures too."""
    docs = root / "docs"
    return [root / "README.md", *sorted(docs.rglob("*.md")), *sorted((docs / "course").glob("unit_*.py"))]


def filled(text: str, figures: Mapping[str, str]) -> str:
    """Return a page with the figures that its markers name; a table is put on lines of its own, a figure never first.

    Raises:
        KeyError: There is no such figure.
    """

    def between_markers(found: re.Match[str]) -> str:
        figure = figures[found["name"]]
        line_break = "\n" if figure.endswith("\n") else ""
        return f"{found[1]}{line_break}{figure}{found[5]}"

    return MARKER_FIRST.sub(r"\n\2\1 ", MARKED.sub(between_markers, text))


def main(check: bool = False, list_figures: bool = False, root: Path = harness.ROOT) -> None:
    """Fill in the figures of README and pages.

    Args:
        check: Change nothing, and name each page that is out of date.
        list_figures: Show every figure with its name.
        root: Folder with README.md and docs.

    Raises:
        SystemExit: A page is out of date, or names a figure that there is not.
    """
    figures = all_figures(root / "docs")
    if list_figures:
        sys.stdout.writelines(f"{name}: {text}\n" for name, text in figures.items())
        return
    outdated = []
    for page in pages(root):
        text, name = page.read_text(), str(page.relative_to(root))
        try:
            right = filled(text, figures)
        except KeyError as unknown:
            raise SystemExit(f"{name}: there is no figure {unknown}; --list-figures shows all") from None
        if right != text:
            outdated.append(name)
            if not check:
                page.write_text(right)
    if check and outdated:
        raise SystemExit(f"{', '.join(outdated)}: out of date; run python -m benchmarks.pages")


if __name__ == "__main__":
    tyro.cli(main)
