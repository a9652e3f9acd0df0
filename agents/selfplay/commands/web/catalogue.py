"""Who can be chosen on the page, by a number that is given here: no path and no module's name comes from the page.

A player is loaded when it is asked for, and loaded anew when a file of its has changed, as those of a run that goes on
do. What cannot be loaded is an entry that says why.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from selfplay.algorithms import SHIPPED, SHIPPED_FOLDER, read_settings
from selfplay.commands import players
from selfplay.errors import UserError, one_line
from selfplay.runs.folder import CONFIG, MODEL, differences
from selfplay.settings import RunSettings
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.rules import WORD_BITS

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.proof.judge import Asked

Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]
"""Of each file of a run when it was written, its size and its number; None where there is none."""

FILES = (CONFIG, MODEL)
MOST_RUNS = 200
"""The newest that are shown of a folder of runs."""
MOST_LOADED = 16
"""Players that are kept in memory; a table can have megabytes."""
LONGEST_NOTE = 120
"""Characters of what is said of a run beside its name."""


class Chosen(NamedTuple):
    """Hold a player that was chosen on the page."""

    name: str
    kind: str
    """The algorithm of a run, "built-in", or "own"."""
    judge: "Asked"
    player: "Player | None"
    """Itself, if it is one of our own trained players, which have values to show."""
    stamp: Stamp

    @property
    def rules(self) -> Rules:
        """Return the rules of its board."""
        return self.judge.rules


class Catalogue:
    """Know the players that were named on the command line, and every run in a folder of runs.

    A number stays with its player as long as this lives. `perspective` and `rules` are what an agent of one's own is
    shown and plays, and the board of the built-in opponents.

    Raises:
        UserError: one that was named is no player.
    """

    def __init__(self, named: Iterable[str], runs: Path | None, perspective: str, rules: Rules) -> None:
        self._runs, self._perspective, self._rules = runs, perspective, rules
        self._names: list[str] = []
        """By number: a folder, or what was named."""
        self._named = [self._number(name) for name in dict.fromkeys(named)]
        self._always = [self._number(name) for name in (SHIPPED, *OPPONENTS)]
        self._entries: dict[int, tuple[Stamp, dict[str, Any]]] = {}
        self._loaded: OrderedDict[int, Chosen] = OrderedDict()
        self._lock = threading.Lock()
        for number in self._named:
            self.chosen(number)

    def entries(self) -> list[dict[str, Any]]:
        """Return what the page is told of each player, those that were named first, ready for JSON."""
        runs = [self._number(str(folder)) for folder in self.run_folders()]
        return [self._entry(number) for number in dict.fromkeys((*self._named, *runs, *self._always))]

    def _entry(self, number: int) -> dict[str, Any]:
        stamp = _stamp(self.folder(number))
        before = self._entries.get(number)
        if before is None or before[0] != stamp:
            before = self._entries[number] = stamp, self._described(number)
        return before[1]

    def run_folders(self) -> list[Path]:
        """Return the newest folders in the folder of runs that have, or are to have, a player; the newest first."""
        if self._runs is None:
            return []
        try:
            found = [(path.stat().st_mtime_ns, path) for path in self._runs.iterdir() if _is_run(path)]
        except OSError:
            return []
        return [path for _, path in sorted(found, reverse=True)[:MOST_RUNS]]

    def folder(self, number: int) -> Path | None:
        """Return the run folder of a player, None if it has none.

        Raises:
            UserError: there is no such number.
        """
        if not 0 <= number < len(self._names):
            raise UserError(f"there is no player {number}")
        name = self._names[number]
        return SHIPPED_FOLDER if name == SHIPPED else Path(name) if Path(name).is_dir() else None

    def chosen(self, number: int) -> Chosen:
        """Return a player as its files are now.

        Raises:
            UserError: there is no such number, or the player cannot be loaded.
        """
        stamp = _stamp(self.folder(number))
        with self._lock:
            found = self._loaded.get(number)
            if found is None or found.stamp != stamp:
                found = self._load(self._names[number], stamp)
                self._loaded[number] = found
            self._loaded.move_to_end(number)
            while len(self._loaded) > MOST_LOADED:
                self._loaded.popitem(last=False)
            return found

    def _load(self, name: str, stamp: Stamp) -> Chosen:
        judge, player = self._asked(name)
        if judge.rules.cells > WORD_BITS:
            raise UserError(f"{name}: {judge.rules} has {judge.rules.cells} cells; at most {WORD_BITS} are shown")
        kind = "built-in" if name in OPPONENTS else "own"
        if player is not None:
            kind = read_settings(SHIPPED_FOLDER if name == SHIPPED else Path(name))[0].algorithm
        return Chosen(_title(name), kind, judge, player, stamp)

    def _asked(self, name: str) -> "tuple[Asked, Player | None]":
        from selfplay.commands.web.insight import searched_choices
        from selfplay.proof.built_in import BuiltIn
        from selfplay.proof.reach import WHOLE_TREE_CELLS

        if name in OPPONENTS:
            searched = name == "optimal" and self._rules.cells > WHOLE_TREE_CELLS
            return BuiltIn(searched_choices if searched else OPPONENTS[name], self._rules), None
        return players.find(name, self._perspective, self._rules, also=OPPONENTS)

    def _number(self, name: str) -> int:
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def _described(self, number: int) -> dict[str, Any]:
        name, folder = self._names[number], self.folder(number)
        entry: dict[str, Any] = {"index": number, "name": _title(name), "kind": None, "run": folder is not None}
        entry |= dict.fromkeys(("rows", "cols", "k"), 0) | {"values": False, "kept": None, "differs": "", "error": None}
        try:
            chosen = self.chosen(number)
        except UserError as error:
            return entry | {"error": str(error)}
        entry |= {"kind": chosen.kind, "values": chosen.player is not None}
        entry |= {size: getattr(chosen.rules, size) for size in ("rows", "cols", "k")}
        if folder is not None:
            entry |= {"differs": note(read_settings(folder)[0])}
        return entry


def note(config: RunSettings) -> str:
    """Return in a few words what is special about a run."""
    words = []
    for name, value in differences(config).items():
        text = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(text if value else f"no {text}")
        else:
            shown = "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words.append(f"{text} {shown}")
    return one_line(", ".join([*words, f"seed {config.seed}"]))[:LONGEST_NOTE]


def _title(name: str) -> str:
    """Return what the page calls a player."""
    return one_line(Path(name).resolve().name if Path(name).is_dir() else name)


def _is_run(path: Path) -> bool:
    return path.is_dir() and any((path / name).exists() for name in FILES)


def _stamp(folder: Path | None) -> Stamp:
    return () if folder is None else tuple(_stamp_of(folder / name) for name in FILES)


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
