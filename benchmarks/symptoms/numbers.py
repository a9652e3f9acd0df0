"""The numbers of the experiments: one a line in the CSV file, and one table for each symptom."""

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring.spread import spread
from benchmarks.symptoms.measures import Found


class Number(NamedTuple):
    """Hold one number of one run."""

    symptom: str
    what: str
    """What was changed."""
    seed: int
    measure: str
    value: float


CSV_HEADER = Number._fields
PROVED, LOST = "proved", ("lost lines as X", "lost lines as O")
ILLEGAL = "lines ended by a taken cell"


def measured(symptom: str, what: str, seed: int, found: Found) -> Iterator[Number]:
    """Return the numbers of one run."""
    evaluation = found.evaluation
    first, second = evaluation.first, evaluation.second
    values = {
        PROVED: float(evaluation.unbeatable),
        LOST[0]: first.losses,
        LOST[1]: second.losses,
        ILLEGAL: first.illegal + second.illegal,
        **found.more,
    }
    for measure, value in values.items():
        yield Number(symptom, what, seed, measure, round(float(value), 4))


def read(path: Path) -> list[Number]:
    """Return the numbers in a CSV file."""
    with path.open(newline="") as file:
        lines = list(csv.reader(file))[1:]
    return [Number(symptom, what, int(seed), measure, float(value)) for symptom, what, seed, measure, value in lines]


def header(numbers: Sequence[Number]) -> list[str]:
    """Return the columns of a symptom's table; taken cells have one only where some line ended so."""
    columns = dict.fromkeys(each.measure for each in numbers)
    if not any(each.value for each in numbers if each.measure == ILLEGAL):
        columns.pop(ILLEGAL, None)
    return ["what", *columns]


def table_rows(numbers: Sequence[Number]) -> Iterator[list[str]]:
    """Return a line for each thing that was changed: how many seeds were proved, and the spread of all else."""
    columns = header(numbers)[1:]
    for what in dict.fromkeys(each.what for each in numbers):
        values = {
            name: [each.value for each in numbers if (each.what, each.measure) == (what, name)] for name in columns
        }
        yield [what, *(cell(name, values[name]) for name in columns)]


def cell(measure: str, values: Sequence[float]) -> str:
    """Return what stands in the table for the numbers of some seeds."""
    if not values:
        return "-"
    if measure == PROVED:
        return f"{sum(values):.0f} of {len(values)}"
    counted = all(value.is_integer() for value in values if math.isfinite(value))
    return spread(values).text() if counted else spread(values).brief_text()
