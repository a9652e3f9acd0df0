"""The players that can be chosen on the page, by numbers that are given here.

No path and no module's name comes from the page. A player is loaded when it is asked for, and again when a file of its
run has changed. A run that cannot be loaded is an entry that says why.
"""

import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from selfplay import players
from selfplay.algorithms import SHIPPED, read_settings, snapshot_steps
from selfplay.errors import UserError, one_line
from selfplay.evaluation.agents import BuiltInPolicy
from selfplay.evaluation.evaluate import ALL_STATES_CELLS
from selfplay.players import NamedPolicy, Perspective
from selfplay.training.folder import CONFIG, MODEL, SNAPSHOTS, about
from selfplay.web.analysis import searched_choices
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.rules import WORD_BITS

MOST_RUNS = 200
"""Most runs of a folder of runs that are shown: the newest."""
MOST_LOADED = 16
"""Most players in memory; a table can have megabytes."""


class Stamp(NamedTuple):
    """Tell versions of a file apart without reading it."""

    inode: int
    size: int
    time: int


Stamps: TypeAlias = tuple[Stamp | None, ...]
"""The stamp of each file of a run that a player depends on; none for a player without a folder."""


def stamp(path: Path) -> Stamp | None:
    """Return the stamp of a file, None if there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns)


class Catalogue:
    """Know the players that were named on the command line, and every run in a folder of runs.

    A number stays with its player as long as this lives. `perspective` and `rules` are for agents of the user, and
    `rules` also for the built-in opponents.

    Raises:
        UserError: one that was named is no player.
    """

    def __init__(self, named: Iterable[str], runs: Path | None, perspective: Perspective, rules: Rules) -> None:
        self._runs, self._perspective, self._rules = runs, perspective, rules
        self._names: list[str] = []
        """By number: a folder, or what was named."""
        self._named = [self._number(name) for name in named]
        self._always = [self._number(name) for name in (SHIPPED, *OPPONENTS)]
        self._loaded = lru_cache(MOST_LOADED)(self._load)
        self._lock = threading.Lock()
        self._described = lru_cache(2 * MOST_RUNS)(self._describe)
        for number in self._named:
            self.player(number)

    def entries(self) -> list[dict[str, Any]]:
        """Return what the page is told of each player, those that were named first, ready for JSON."""
        runs = [self._number(_path(folder)) for folder in self.run_folders()]
        numbers = dict.fromkeys((*self._named, *runs, *self._always))
        return [self._described(number, self._stamps(number)) for number in numbers]

    def player(self, number: int, steps: int | None = None) -> NamedPolicy:
        """Return a player as its files are now, or the snapshot of it after some steps.

        It is the same object as before while its files are the same.

        Raises:
            UserError: there is no such number, or the player cannot be loaded.
        """
        if number >= len(self._names):
            raise UserError(f"there is no player {number}")
        with self._lock:  # it is loaded once
            return self._loaded(number, steps, self._stamps(number))

    def run_folders(self) -> list[Path]:
        """Return the newest folders in the folder of runs that have, or will have, a player; the newest first."""
        if self._runs is None:
            return []
        try:
            runs = [path for path in self._runs.iterdir() if (path / CONFIG).exists() or (path / MODEL).exists()]
            return sorted(runs, key=lambda path: path.stat().st_mtime_ns, reverse=True)[:MOST_RUNS]
        except OSError:
            return []

    def followed(self) -> list[Path]:
        """Return the run folders whose training is followed: those that were named, and those in the folder of runs."""
        names = [self._names[number] for number in self._named]
        folders = [Path(name) for name in names if name != SHIPPED and players.run_folder(name) is not None]
        return list(dict.fromkeys([*folders, *self.run_folders()]))

    def _load(self, number: int, steps: int | None, _version: Stamps) -> NamedPolicy:
        name, rules = self._names[number], self._rules
        if name == "optimal" and rules.cells > ALL_STATES_CELLS:
            named = NamedPolicy(name, BuiltInPolicy(searched_choices, rules), None, None)
        else:
            named = players.resolve(name, self._perspective, rules, steps)
        if named.rules.cells > WORD_BITS:
            raise UserError(f"{name}: {named.rules} has {named.rules.cells} cells; at most {WORD_BITS} are shown")
        return named

    def _describe(self, number: int, _version: Stamps) -> dict[str, Any]:
        name = self._names[number]
        folder = players.run_folder(name)
        kind = "built-in" if name in OPPONENTS else "own"
        title = one_line(folder.resolve().name if folder is not None and name != SHIPPED else name)
        entry: dict[str, Any] = {"index": number, "name": title, "kind": kind, "run": folder is not None}
        entry |= {"differs": "", "snapshots": None, "error": None}
        try:
            rules = self.player(number).rules
            if folder is not None:
                config, _ = read_settings(folder)
                steps = list(snapshot_steps(folder))
                entry |= {"kind": config.algorithm, "differs": about(config)}
                entry |= {"snapshots": {"unit": config.unit, "steps": steps} if steps else None}
        except UserError as error:
            return entry | {"error": str(error)}
        return entry | {"rows": rules.rows, "cols": rules.cols, "k": rules.k}

    def _stamps(self, number: int) -> Stamps:
        folder = players.run_folder(self._names[number])
        return () if folder is None else tuple(stamp(folder / name) for name in (CONFIG, MODEL, SNAPSHOTS))

    def _number(self, name: str) -> int:
        """Return the number of a player, a new one if it has none."""
        folder = players.run_folder(name)
        name = name if folder is None or name == SHIPPED else _path(folder)
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)


def _path(folder: Path) -> str:
    """Return a folder as no module and no built-in opponent is called, also once it has been removed."""
    return f"{folder.parent}/{folder.name}"  # "./NAME" for a bare name
