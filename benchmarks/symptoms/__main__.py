"""Make the mistakes of `docs/why-does-my-dqn-not-learn.md` on purpose, and evaluate exactly what they lead to.

python -m benchmarks.symptoms                 # all of them, with the seeds 0 to 4
python -m benchmarks.symptoms mask next       # some of them
python -m benchmarks.symptoms --docs docs     # and write every number to docs/symptoms.csv
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path

from tyro.conf import Positional

from benchmarks import data, harness
from benchmarks.data import Result
from benchmarks.symptoms.experiments import EXPERIMENTS, ILLEGAL, PROVED
from selfplay.cli.flags import run_command
from selfplay.files import write_csv

PROG = "python -m benchmarks.symptoms"


@dataclass(frozen=True)
class Flags:
    """Make the usual mistakes on purpose, and evaluate exactly what they lead to."""

    symptoms: Positional[tuple[str, ...]] = tuple(EXPERIMENTS)
    """Which of them; all, if none is named."""
    seeds: tuple[int, ...] = tuple(range(5))
    """Seeds of every row; one is enough for those that are exact."""
    part: float = 1.0
    """Part of the usual length of a run; less for a quick look."""
    docs: Path | None = None
    """Folder to write symptoms.csv into, in place of what it holds of the same symptoms."""


def table(results: Mapping[str, Sequence[Result]]) -> list[list[str]]:
    """Return a symptom's table; taken cells have a column only where they ended some game."""
    if not any(result[ILLEGAL] for of_row in results.values() for result in of_row):
        results = {
            what: [{name: value for name, value in result.items() if name != ILLEGAL} for result in of_row]
            for what, of_row in results.items()
        }
    return harness.summary(results)


def read(docs: Path) -> dict[str, dict[str, list[Result]]]:
    """Return what docs/symptoms.csv holds, by symptom and row: a result for each seed."""
    found: dict[str, dict[str, list[Result]]] = {}
    with (docs / "symptoms.csv").open(newline="") as file:
        lines = csv.DictReader(file)
        for (symptom, what, _), of_seed in groupby(lines, itemgetter("symptom", "what", "seed")):
            values = {line["measure"]: float(line["value"]) for line in of_seed}
            result = values | {PROVED: values[PROVED] == 1}
            found.setdefault(symptom, {}).setdefault(what, []).append(result)
    return found


def main(args: Sequence[str]) -> None:
    """Run the experiments, and print a table for each symptom as it ends."""
    flags = harness.read_flags(Flags, args, PROG)
    harness.check_known("symptoms", flags.symptoms, EXPERIMENTS)
    console = harness.start("Why does my DQN not learn?", [], flags.seeds)
    rows: list[Sequence[object]] = [("symptom", "what", "seed", "measure", "value")]

    def measure(row: tuple[str, str], seed: int) -> Result:
        if row[1].startswith("exact") and seed != flags.seeds[0]:  # which no seed changes
            return {}
        result = EXPERIMENTS[row[0]][row[1]](seed, flags.part)
        rows.extend((*row, seed, name, round(float(value), 4)) for name, value in result.items())
        return result

    for symptom in flags.symptoms:
        names = product([symptom], EXPERIMENTS[symptom])
        results = harness.in_turns(console, names, flags.seeds, measure)
        harness.present(console, table({what: of_row for (_, what), of_row in results.items()}), symptom)
    if flags.docs is not None:
        path = flags.docs / "symptoms.csv"
        if path.exists():
            earlier = csv.reader(path.read_text().splitlines()[1:])
            rows += [(*row, float(value)) for *row, value in earlier if row[0] not in flags.symptoms]
        write_csv(path, rows)
        data.save(flags.docs, "symptoms", dict.fromkeys(flags.symptoms, ()), harness.machine())


if __name__ == "__main__":
    run_command(main, PROG)
