"""A run's metrics.jsonl and newest.json, read again and again while `train` writes them, as points to draw.

Anybody may have written what is read, so it is bounded, and what is not as a run writes it is passed over.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from selfplay.files import open_regular, read_small
from selfplay.settings import LARGEST
from tictactoe import Rules

Point: TypeAlias = dict[str, int | float | bool | None]

MOST_POINTS = 400
"""Of a run that are told of at once."""
LONGEST_LINE = 1 << 16
"""Bytes; a run writes about a thousand."""
LARGEST_RECORD = 1 << 28
"""Bytes of metrics.jsonl; what comes after them is not read."""
LARGEST_NEWEST = 1 << 16
"""Bytes of newest.json; a run writes some hundreds."""
LARGEST_NUMBER = 1e100
"""Of a record; the game lines of the largest board are fewer than 64!, which is 1e89."""
SEATS = "first", "second"


class Stamp(NamedTuple):
    """Tell a file from what stood in its place earlier."""

    inode: int
    size: int
    time: int


def stamp(path: Path) -> Stamp | None:
    """Return how a file looks from outside, None if there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)


class Record:
    """Read on in a run's metrics.jsonl, of which the last line may be half written, whenever it has grown.

    A resumed run puts a shorter file in its place; then everything is read anew.
    """

    def __init__(self, path: Path, unit: str) -> None:
        self._path, self._unit = path, unit
        self._seen: Stamp | None = None
        self._read = 0
        """Bytes of whole lines that have been read."""

    def news(self) -> tuple[list[Point], bool] | None:
        """Return the points that are new, MOST_POINTS at most, and whether they stand for all; None if nothing is."""
        found, seen = stamp(self._path), self._seen
        self._seen = found
        if found is None or found == seen:
            return None
        anew = seen is None or found.inode != seen.inode or found.size < self._read
        if anew:
            self._read = 0
        try:
            with open_regular(self._path) as file:
                file.seek(self._read)
                points = self._points(file)
        except OSError:
            return None
        return (points, anew) if points or anew else None

    def _points(self, file: BinaryIO) -> list[Point]:
        """Return points of the lines to come, of many only some, evenly, and always the last."""
        kept: list[bytes] = []
        last, number, every = b"", 0, 1
        while self._read < LARGEST_RECORD and (line := file.readline(LONGEST_LINE)):
            if not line.endswith(b"\n"):
                if len(line) < LONGEST_LINE:
                    break  # half written: it is read again when there is more
                self._read += len(line)  # a line beyond measure; its end is no JSON
                continue
            self._read += len(line)
            last = line
            if number % every == 0:
                kept.append(line)
                if len(kept) > 2 * MOST_POINTS:
                    kept, every = kept[::2], 2 * every
            number += 1
        if (number - 1) % every:
            kept.append(last)
        return thinned([point for line in kept if (point := point_of(line, self._unit))])


def thinned(points: Sequence[Point]) -> list[Point]:
    """Return at most MOST_POINTS of some points, evenly, with the first and the last."""
    if len(points) <= MOST_POINTS:
        return list(points)
    spacing = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(number * spacing)] for number in range(MOST_POINTS)]


def point_of(line: bytes, unit: str) -> Point | None:
    """Return a line of metrics.jsonl as a point, None if it is none; what it does not tell is None.

    `lost` and `illegal` are game lines of both seats, `exact` whether that is all of them or only those met so far.
    """
    found = _object(line)
    steps = None if found is None else found.get(unit)
    if found is None or not _is_count(steps):
        return None
    exact = all(_number(found, f"eval/{seat}/losses") is not None for seat in SEATS)
    return {
        "steps": steps,
        "seconds": _number(found, "time/training_s"),
        "lost": _both(found, "losses"),
        "illegal": _both(found, "illegal"),
        "exact": exact,
        "optimal": _number(found, "eval/optimal_states"),
        "positions": _number(found, "teach/positions"),
        "explored": _number(found, "explore/epsilon"),
    }


def _both(found: Mapping[str, Any], what: str) -> int | float | None:
    """Return the game lines of both seats, or for a seat of which not all are known those met so far."""
    known = [_number(found, f"eval/{seat}/{what}") for seat in SEATS]
    met = [_number(found, f"eval/{seat}/{what}_at_least") for seat in SEATS]
    numbers = [least if number is None else number for number, least in zip(known, met, strict=True)]
    return None if None in numbers else sum(number for number in numbers if number is not None)


def newest_of(path: Path, rules: Rules) -> dict[str, Any] | None:
    """Return what a run's newest.json holds, None if that is not what a run writes."""
    try:
        found = _object(read_small(path, LARGEST_NEWEST))
    except OSError:
        return None
    if found is None or not all(_is_count(found.get(name)) for name in ("steps", "proofs")):
        return None
    opening, game = found.get("opening"), found.get("game")
    if not isinstance(opening, list) or len(opening) != rules.cells:
        return None
    if not all(value is None or _is_number(value) for value in opening):
        return None
    if not isinstance(game, list) or not 0 < len(game) <= rules.cells:
        return None
    if not all(_is_count(cell) and cell < rules.cells for cell in game) or len(set(game[:-1])) < len(game) - 1:
        return None
    return {name: found[name] for name in ("steps", "opening", "game", "proofs")}


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _number(found: Mapping[str, Any], name: str) -> int | float | None:
    value = found.get(name)
    return value if _is_number(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2 * LARGEST
