"""What the page hears of runs while `train` writes them: what each is, its exact scores, and its newest game.

Folders and files are looked at twice a second, from outside, and read where they have changed.
"""

import asyncio
import heapq
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.algorithms import read_settings
from selfplay.errors import UserError, one_line
from selfplay.settings import RunSettings
from selfplay.training.folder import CONFIG, LATEST, METRICS, legends
from selfplay.web.record import Record, Stamp, newest_of, stamp

POLL_SECONDS = 0.5
KEEP_ALIVE_SECONDS = 15.0
MOST_RUNS = 100
"""That are followed: the newest there are, and those that begin until there are so many."""


class Event(NamedTuple):
    """Hold what the page is told: `runs`, `points` or `newest`; or nothing, which keeps the connection alive."""

    name: str
    data: Mapping[str, Any]

    def text(self) -> str:
        """Return it as a server-sent event."""
        return f"event: {self.name}\ndata: {json.dumps(self.data)}\n\n" if self.name else ":\n\n"


async def follow(folders: Callable[[], Iterable[Path]]) -> AsyncGenerator[Event, None]:
    """Yield what there is to tell of runs, and from then on what is new, for ever.

    `folders` is asked again each time, for runs may begin.
    """
    following = Following(folders)
    silent = 0.0
    while True:
        events = await asyncio.to_thread(following.news)
        silent = 0.0 if events else silent + POLL_SECONDS
        if silent >= KEEP_ALIVE_SECONDS:
            events, silent = [Event("", {})], 0.0
        for event in events:
            yield event
        await asyncio.sleep(POLL_SECONDS)


class Followed:
    """Follow one run; of a run whose settings cannot be read there is nothing to tell."""

    def __init__(self, folder: Path, index: int, config: RunSettings) -> None:
        self.index, self.config = index, config
        self.name = one_line(folder.name)
        self._record = Record(folder / METRICS, config.unit)
        self._newest = folder / LATEST
        self._newest_seen: Stamp | None = None

    def news(self) -> list[Event]:
        """Return what is new."""
        events = []
        if (found := self._record.news()) is not None:
            points, anew = found
            events.append(Event("points", {"run": self.index, "points": points, "anew": anew}))
        seen = stamp(self._newest)
        if seen is not None and seen != self._newest_seen:
            self._newest_seen = seen
            if (newest := newest_of(self._newest, self.config.rules)) is not None:
                events.append(Event("newest", {"run": self.index, **newest}))
        return events


class Following:
    """Follow the runs of some folders; each call of `news` tells what has happened since the one before."""

    def __init__(self, folders: Callable[[], Iterable[Path]]) -> None:
        self._folders = folders
        self._followed: dict[Path, Followed] = {}
        self._unreadable: dict[Path, Stamp | None] = {}
        self._told = False

    def news(self) -> list[Event]:
        """Return `runs` if there are others than before, and then what is new of each."""
        begun = self._begin()
        events = [Event("runs", {"runs": self._runs()})] if begun or not self._told else []
        self._told = True
        return events + [event for followed in self._followed.values() for event in followed.news()]

    def _begin(self) -> bool:
        """Follow the runs that are new, and tell whether there are any."""
        seen = {path: stamp(path / CONFIG) for path in self._folders() if path not in self._followed}
        changed = [path for path, found in seen.items() if found and found != self._unreadable.get(path)]
        room = MOST_RUNS - len(self._followed)
        newest = heapq.nlargest(room, changed, key=lambda path: (seen[path] or Stamp(0, 0, 0)).time)
        before = len(self._followed)
        for path in sorted(newest, key=changed.index):
            try:
                config, _ = read_settings(path)
            except UserError:
                self._unreadable[path] = seen[path]
                continue
            self._followed[path] = Followed(path, len(self._followed), config)
        return len(self._followed) > before

    def _runs(self) -> list[dict[str, Any]]:
        runs = list(self._followed.values())
        texts = legends([run.config for run in runs])
        return [
            {
                "index": run.index,
                "name": run.name,
                "differs": text,
                "unit": run.config.unit,
                "rows": run.config.rules.rows,
                "cols": run.config.rules.cols,
                "k": run.config.rules.k,
            }
            for run, text in zip(runs, texts, strict=True)
        ]
