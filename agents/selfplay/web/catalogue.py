"""The players that can be chosen on the page, each under a number.

The page sends only numbers, never a path or the name of a module. A player is loaded when it is needed, and again when
a file of its run has changed. A run that cannot be loaded is listed with the reason.
"""

import threading
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from selfplay import players
from selfplay.errors import UserError, one_line
from selfplay.judging.agents import BuiltInPolicy, player_policy
from selfplay.judging.exact import ALL_STATES_CELLS
from selfplay.learning.api import SHIPPED, SHIPPED_FOLDER, load, read_settings, snapshot_steps
from selfplay.learning.folder import CONFIG, MODEL, SNAPSHOTS, about
from selfplay.players import REPAIRED, NamedPolicy, Perspective
from selfplay.web.analysis import searched_choices
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.rules import WORD_BITS

MOST_RUNS = 200
"""Upper bound for the runs shown from a folder of runs: the newest."""
MOST_LOADED = 16
"""Upper bound for the players in memory; a table can have megabytes."""


Stamp: TypeAlias = tuple[int, int, int] | None
"""Inode, size and time of a file, which tell its versions apart; None if there is no file."""


def stamp(path: Path) -> Stamp:
    """Return the stamp of a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


class Catalogue:
    """Hold the players that were named on the command line, and every run in a folder of runs.

    A player keeps its number. `perspective` and `rules` are for agents of the user, and `rules` also for the built-in
    opponents.

    Raises:
        UserError: one of the names is not a player.
    """

    def __init__(self, named: Iterable[str], runs: Path | None, perspective: Perspective, rules: Rules) -> None:
        self._runs, self._perspective, self._rules = runs, perspective, rules
        self._players: list[Path | str] = []
        """By number: a run folder of any name, or the name of another player."""
        self._named = [self._number(players.run_folder(name) or name) for name in named]
        self._always = [self._number(SHIPPED_FOLDER), *map(self._number, OPPONENTS)]
        self._loaded = lru_cache(MOST_LOADED)(self._load)
        self._lock = threading.Lock()
        self._described = lru_cache(2 * MOST_RUNS)(self._describe)
        for number in self._named:
            self.player(number)

    def entries(self) -> list[dict[str, Any]]:
        """Return an entry for each player, ready for JSON; those from the command line come first."""
        numbers = dict.fromkeys((*self._named, self._always[0], *map(self._number, self.run_folders()), *self._always))
        return [self._described(number, self._stamps(number)) for number in numbers]

    def player(self, number: int, steps: int | None = None) -> NamedPolicy:
        """Return a player as its files are now, or its snapshot after some steps.

        While its files do not change, it is the same object.

        Raises:
            UserError: there is no such number, or the player cannot be loaded.
        """
        if number >= len(self._players):
            raise UserError(f"there is no player {number}")
        with self._lock:  # it is loaded once
            return self._loaded(number, steps, self._stamps(number))

    def run_folders(self) -> list[Path]:
        """Return the newest run folders, the newest first, also those whose player is not written yet."""
        if self._runs is None:
            return []
        try:
            runs = [path for path in self._runs.iterdir() if (path / CONFIG).exists() or (path / MODEL).exists()]
            return sorted(runs, key=lambda path: path.stat().st_mtime_ns, reverse=True)[:MOST_RUNS]
        except OSError:
            return []

    def followed(self) -> list[Path]:
        """Return the run folders to follow: those from the command line, and those in the folder of runs."""
        named = [self._players[number] for number in self._named]
        folders = [player for player in named if isinstance(player, Path) and player != SHIPPED_FOLDER]
        return list(dict.fromkeys([*folders, *self.run_folders()]))

    def _load(self, number: int, steps: int | None, _version: tuple[Stamp, ...]) -> NamedPolicy:
        chosen, rules = self._players[number], self._rules
        if isinstance(chosen, Path):
            player = load(chosen, steps=steps)
            named = NamedPolicy(str(chosen), player_policy(player), player, chosen)
        elif chosen == "optimal" and rules.cells > ALL_STATES_CELLS:
            named = NamedPolicy(chosen, BuiltInPolicy(searched_choices, rules), None, None)
        else:
            named = players.resolve(chosen, self._perspective, rules)
        if named.rules.cells > WORD_BITS:
            raise UserError(f"{chosen}: {named.rules} has {named.rules.cells} cells; at most {WORD_BITS} are shown")
        return named

    def _describe(self, number: int, _version: tuple[Stamp, ...]) -> dict[str, Any]:
        chosen = self._players[number]
        folder = chosen if isinstance(chosen, Path) else None
        name = SHIPPED if folder == SHIPPED_FOLDER else folder.resolve().name if folder else chosen
        kind = "built-in" if chosen in OPPONENTS else "own"
        entry = {"index": number, "name": one_line(name), "kind": kind, "run": folder is not None}
        entry |= {"differs": "", "snapshots": [], "waiting": False, "error": None}
        try:
            if folder is not None:
                config, content = read_settings(folder)
                entry |= {
                    "kind": config.algorithm,
                    "differs": about(config),
                    "unit": config.unit,
                    "snapshots": snapshot_steps(folder),
                    "waiting": not (folder / MODEL).exists(),
                    "repaired": REPAIRED in content,
                    "rewards": getattr(config, "rewards", None),
                }
            rules = self.player(number).rules
        except UserError as error:
            return entry | {"error": str(error)}
        return entry | asdict(rules)

    def _stamps(self, number: int) -> tuple[Stamp, ...]:
        """Return the stamps of the files that a player depends on; empty for a player without a folder."""
        player = self._players[number]
        return tuple(stamp(player / name) for name in (CONFIG, MODEL, SNAPSHOTS)) if isinstance(player, Path) else ()

    def _number(self, player: Path | str) -> int:
        """Return the number of a player, a new one if it has none."""
        if player not in self._players:
            self._players.append(player)
        return self._players.index(player)
