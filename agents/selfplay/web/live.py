"""What the page is told of runs while `train` writes them: their settings, exact scores, and latest games.

Files are checked twice a second, and read if they have changed. They can be anybody's: what is not written as a run
writes it is passed over.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from selfplay.algorithms import Config, read_settings
from selfplay.errors import UserError, one_line
from selfplay.files import read_small
from selfplay.training.folder import CONFIG, METRICS, NEWEST, legends
from selfplay.web.catalogue import Stamp, stamp
from tictactoe import Rules

Event: TypeAlias = tuple[str, Mapping[str, Any]]
"""Its name, `runs`, `metrics` or `latest`, and its data."""
Point: TypeAlias = dict[str, int | float | bool | None]

POLL_SECONDS = 0.5
MOST_POINTS = 400
"""Most points of a run that are plotted."""
LARGEST_METRICS, LARGEST_LATEST = 1 << 26, 1 << 16
"""Largest size of metrics.jsonl and of newest.json, bytes; a run writes about a thousand an evaluation, and some
hundreds."""
LARGEST_NUMBER = 1e100
"""Largest number that is shown; the games on the largest board are fewer than 64!, which is 1e89."""
SEATS = "first", "second"


async def events(folders: Callable[[], Sequence[Path]]) -> AsyncGenerator[str, None]:
    """Yield server-sent events of the runs in `folders`, which is called each time because runs may start."""
    runs = LiveRuns(folders)
    while True:
        for name, data in await asyncio.to_thread(runs.news):
            yield f"event: {name}\ndata: {json.dumps(data)}\n\n"
        await asyncio.sleep(POLL_SECONDS)


class LiveRuns:
    """Follow runs; each call of `news` returns what has happened since the last call."""

    def __init__(self, folders: Callable[[], Sequence[Path]]) -> None:
        self._folders = folders
        self._runs: dict[Path, Config] | None = None
        self._stamps: dict[Path, Stamp | None] = {}

    def news(self) -> list[Event]:
        """Return `runs` if there are new ones, and then the metrics and the latest game of each that has written."""
        runs = dict(self._runs or {})
        for folder in self._folders():
            if folder not in runs and self._has_changed(folder / CONFIG):
                try:
                    runs[folder], _ = read_settings(folder)
                except UserError:
                    continue  # it is read again when it has changed
        news: list[Event] = []
        if runs != self._runs:
            self._runs = runs
            news.append(("runs", {"runs": _described(runs)}))
        for index, (folder, config) in enumerate(runs.items()):
            if self._has_changed(folder / METRICS):
                news.append(("metrics", {"run": index, "points": read_points(folder / METRICS, config.unit)}))
            if self._has_changed(folder / NEWEST) and (latest := read_latest(folder / NEWEST, config.rules)):
                news.append(("latest", {"run": index, **latest}))
        return news

    def _has_changed(self, path: Path) -> bool:
        before, self._stamps[path] = self._stamps.get(path), stamp(path)
        return self._stamps[path] not in (None, before)


def _described(runs: Mapping[Path, Config]) -> list[dict[str, Any]]:
    return [
        {
            "index": index,
            "name": one_line(folder.name),
            "differs": legend,
            "unit": config.unit,
            "rows": config.rules.rows,
            "cols": config.rules.cols,
            "k": config.rules.k,
        }
        for index, ((folder, config), legend) in enumerate(zip(runs.items(), legends([*runs.values()]), strict=True))
    ]


def read_points(path: Path, unit: str) -> list[Point]:
    """Return points of metrics.jsonl, at most MOST_POINTS, evenly, with the first and the last."""
    try:
        lines = read_small(path, LARGEST_METRICS).splitlines(keepends=True)
    except OSError:
        return []
    whole = [line for line in lines if line.endswith(b"\n")]  # the last one may be half written
    if len(whole) > MOST_POINTS:
        spacing = (len(whole) - 1) / (MOST_POINTS - 1)
        whole = [whole[round(number * spacing)] for number in range(MOST_POINTS)]
    return [point for line in whole if (point := _point(line, unit))]


def _point(line: bytes, unit: str) -> Point | None:
    """Return a line of metrics.jsonl as a point, None if it is none; what it does not say is None.

    `lost` and `illegal` are games of both seats, `exact` whether these are all or only those met so far.
    """
    record = _object(line)
    if not _is_number(record.get(unit)):
        return None
    return {
        "steps": record[unit],
        "lost": _of_both_seats(record, "losses"),
        "illegal": _of_both_seats(record, "illegal"),
        "exact": all(f"eval/{seat}/losses" in record for seat in SEATS),
        "optimal": _number(record, "eval/optimal_states"),
        "positions": _number(record, "teach/positions"),
    }


def _of_both_seats(record: Mapping[str, Any], what: str) -> int | float | None:
    """Return the games of both seats, of a seat whose games were not all followed those met so far."""
    games = [_number(record, f"eval/{seat}/{what}") for seat in SEATS]
    met = [_number(record, f"eval/{seat}/{what}_at_least") for seat in SEATS]
    known = [least if number is None else number for number, least in zip(games, met, strict=True)]
    return None if None in known else sum(number for number in known if number is not None)


def read_latest(path: Path, rules: Rules) -> dict[str, Any] | None:
    """Return the steps, the values of the opening and the game that a run's newest.json holds, None if it does not."""
    try:
        state = _object(read_small(path, LARGEST_LATEST))
    except OSError:
        return None
    steps, opening, game = (state.get(name) for name in ("steps", "opening", "game"))
    if not _is_number(steps) or not isinstance(opening, list) or not isinstance(game, list):
        return None
    if len(opening) != rules.cells or not all(value is None or _is_number(value) for value in opening):
        return None
    if not game or not all(type(cell) is int and 0 <= cell < rules.cells for cell in game):
        return None
    return {"steps": steps, "opening": opening, "game": game}


def _object(text: bytes) -> dict[str, Any]:
    """Return a JSON object, an empty one for anything else."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _number(record: Mapping[str, Any], name: str) -> int | float | None:
    value = record.get(name)
    return value if _is_number(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER
