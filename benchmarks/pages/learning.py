"""Figures of what the target does: `python -m benchmarks.learning.targets` has made docs/targets.csv."""

import csv
import math
from pathlib import Path

from benchmarks.data import Result
from benchmarks.harness import number, spread
from benchmarks.learning.targets import WINDOW, last_evaluations


def figures(docs: Path) -> dict[str, str]:
    """Return the figures of the three targets, each as the median (least to most) of its seeds."""
    runs: dict[tuple[str, str], list[Result]] = {}
    with (docs / "targets.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            run = line.pop("target"), line.pop("seed")
            runs.setdefault(run, []).append({name: float(value) for name, value in line.items()})
    found = {"targets.seeds": number(len({seed for _, seed in runs}), 0), "targets.window": number(WINDOW, 0)}
    for target in dict.fromkeys(target for target, _ in runs):
        histories = [history for (name, _), history in runs.items() if name == target]
        ends = [last_evaluations(history) for history in histories]
        firsts = [next((line["plies"] for line in run if not line["exploitability"]), math.inf) for run in histories]
        found[f"targets.{target}.evaluations"] = number(sum(map(len, histories)), 0)
        found[f"targets.{target}.exploitability"] = spread(end["exploitability"] for end in ends).text(2)
        found[f"targets.{target}.bad-games"] = spread(end["lost and illegal games"] for end in ends).text(0)
        found[f"targets.{target}.first-proof"] = spread(firsts).text(0)
    return found
