"""The evaluations of a run, for the curve behind the time bar."""

import math
from pathlib import Path
from typing import Any

from selfplay.runs.api import open as open_run

MOST_POINTS = 400
"""Largest number of points; more would not be seen apart."""


def history(folder: Path) -> list[dict[str, Any]]:
    """Return the steps and the ways to beat it of at most MOST_POINTS evaluations of a run, evenly spaced.

    The last one is included. `ways` counts those of both seats; it is a lower bound unless `exact`.

    Raises:
        UserError: a file of the run is missing or damaged.
    """
    points = []
    for record in open_run(folder).records:
        verdict = record.verdict
        points.append({"steps": record.steps, "ways": verdict.ways_to_beat, "exact": verdict.complete})
    every = max(1, math.ceil(len(points) / MOST_POINTS))
    return points[(len(points) - 1) % every :: every]
