"""Figures of docs/learning.md: what the target does, and how the match-ups of afterstate-q end."""

import csv
import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.data import Result, saved_results
from benchmarks.harness import markdown, summary
from benchmarks.learning import learners, published, targets


def figures(docs: Path) -> dict[str, str]:
    """Return the figures; those of the targets are the median (least to most) of their seeds."""
    of_targets = target_results(docs)
    of_learners = {
        f"`{command}`": [
            {name: result[name] for name in result if name not in ("win %", "draw %")} for result in of_row
        ]
        for command, of_row in saved_results(docs, learners.TITLE).items()
    }
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
        shares = (mean_text([result[end] for result in of_row]) for end in published.ENDS)
        lines.append([row, published.PUBLISHED_SHARES[row.partition(",")[0]], " / ".join(shares)])
    return lines


def mean_text(values: Sequence[float]) -> str:
    """Return "mean ± standard deviation", or one number alone."""
    deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{deviation}"


def target_results(docs: Path) -> dict[str, list[Result]]:
    """Return what the evaluations of each run with each target say, from docs/targets.csv."""
    results: dict[str, list[Result]] = {}
    with (docs / "targets.csv").open(newline="") as file:
        for (target, _), lines in groupby(csv.DictReader(file), lambda line: (line.pop("target"), line.pop("seed"))):
            history = [{name: float(value) for name, value in line.items()} for line in lines]
            first = min((line["plies"] for line in history if not line["exploitability"]), default=math.inf)
            result = {"first proof, plies": first} | targets.last_evaluations(history)
            results.setdefault(target, []).append(result)
    return results
