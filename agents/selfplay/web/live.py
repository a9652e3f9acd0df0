"""The events of runs while `train` writes them: their settings, exact scores, and latest games.

Files are checked twice a second, and read if they have changed. They are not trusted: what a run would not write is
ignored.
"""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from selfplay.errors import UserError, one_line
from selfplay.files import read_small
from selfplay.learning.api import Config, read_settings
from selfplay.learning.folder import CONFIG, LATEST, METRICS
from selfplay.learning.metrics import LARGEST_NUMBER, Metrics, read_metrics
from selfplay.web.catalogue import Stamp, stamp
from tictactoe import Rules

Event: TypeAlias = tuple[str, Mapping[str, Any]]
"""The name of an event (`runs`, `metrics` or `latest`) and its data."""
Point: TypeAlias = dict[str, float | None]

POLL_SECONDS = 0.5
MOST_POINTS = 400
"""Upper bound for the plotted points of a run."""
MOST_LINES = 100_000
"""Upper bound for the lines read from metrics.jsonl."""
LARGEST_LATEST = 1 << 16
"""Largest size of latest.json in bytes; a run writes some hundreds."""
SEATS = "first", "second"


async def events(folders: Callable[[], Sequence[Path]]) -> AsyncGenerator[str, None]:
    """Yield server-sent events of the runs in `folders`, which is called again each time to find new runs."""
    runs = LiveRuns(folders)
    while True:
        for name, data in await asyncio.to_thread(runs.news):
            yield f"event: {name}\ndata: {json.dumps(data)}\n\n"
        await asyncio.sleep(POLL_SECONDS)


class LiveRuns:
    """Follow runs; each call of `news` returns the events since the last call."""

    def __init__(self, folders: Callable[[], Sequence[Path]]) -> None:
        self._folders = folders
        self._runs: dict[Path, Config] | None = None
        self._stamps: dict[Path, Stamp] = {}

    def news(self) -> list[Event]:
        """Return `runs` if there are new ones, and then new metrics and the latest game of each run."""
        runs = dict(self._runs or {})
        for folder in self._folders():
            if folder not in runs and self._has_changed(folder / CONFIG):
                try:
                    runs[folder], _ = read_settings(folder)
                except UserError:
                    continue  # it is read again when it changes
        news: list[Event] = []
        if runs != self._runs:
            self._runs = runs
            described = [
                {
                    "index": index,
                    "name": one_line(folder.name),
                    "unit": config.unit,
                    "length": config.length,
                    **asdict(config.rules),
                }
                for index, (folder, config) in enumerate(runs.items())
            ]
            news.append(("runs", {"runs": described}))
        for index, (folder, config) in enumerate(runs.items()):
            if self._has_changed(folder / METRICS):
                news.append(("metrics", {"run": index, "points": read_points(folder / METRICS, config.unit)}))
            if self._has_changed(folder / LATEST) and (latest := read_latest(folder / LATEST, config.rules)):
                news.append(("latest", {"run": index, **latest}))
        return news

    def _has_changed(self, path: Path) -> bool:
        before, self._stamps[path] = self._stamps.get(path), stamp(path)
        return self._stamps[path] not in (None, before)


def history(folder: Path) -> list[Point]:
    """Return the points to plot of the run in a folder, none if it has not been evaluated."""
    return read_points(folder / METRICS, read_settings(folder)[0].unit)


def read_points(path: Path, unit: str) -> list[Point]:
    """Return the points to plot from metrics.jsonl: at most MOST_POINTS lines, evenly spaced, with both ends.

    What a line does not hold is None. `lost` is the games lost in both seats, also by a taken cell; `exact` tells
    whether these are all, or only those found so far.
    """
    points: list[Point] = []
    with contextlib.suppress(UserError):  # the lines before a damaged one are shown
        for metrics in itertools.islice(read_metrics(path, unit), MOST_LINES):
            points.append(  # noqa: PERF401 (an error leaves the points before it)
                {
                    "steps": metrics[unit],
                    "lost": _games_lost(metrics),
                    "exact": "eval/games_lost" in metrics,
                    "optimal": metrics.get("eval/optimal_states"),
                }
            )
    if len(points) <= MOST_POINTS:
        return points
    spacing = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(number * spacing)] for number in range(MOST_POINTS)]


def _games_lost(metrics: Metrics) -> float | None:
    """Return the games lost in both seats; for a seat that was not followed completely, those found so far."""
    tags = [f"eval/{seat}/{how}" for seat in SEATS for how in ("losses", "illegal")]
    games = [metrics.get(tag, metrics.get(f"{tag}_at_least")) for tag in tags]
    return None if None in games else sum(number for number in games if number is not None)


def read_latest(path: Path, rules: Rules) -> dict[str, Any] | None:
    """Return the steps, the values of the opening and the game in a run's latest.json, None if it holds none."""
    try:
        state = json.loads(read_small(path, LARGEST_LATEST))
        latest = {name: state[name] for name in ("steps", "opening", "game")}
        values = [value for value in latest["opening"] if value is not None]
        written = all(abs(number) <= LARGEST_NUMBER for number in (latest["steps"], *values))  # no infinity, no NaN
        written &= len(latest["opening"]) == rules.cells and all(cell in range(rules.cells) for cell in latest["game"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    return latest if written and latest["game"] else None
