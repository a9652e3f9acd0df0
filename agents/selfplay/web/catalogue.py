"""Who can be chosen on the page, by a number that is given here: no path and no module's name comes from the page.

A player is loaded when it is asked for, and loaded anew when a file of its has changed, as those of a run that goes on
do. What cannot be loaded is an entry that says why.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from selfplay import players
from selfplay.algorithms import SHIPPED, load, read_settings, snapshot_steps
from selfplay.errors import UserError, one_line
from selfplay.evaluation.agents import AgentPolicy, built_in_policy, player_policy
from selfplay.evaluation.evaluate import ALL_STATES_CELLS
from selfplay.training.folder import CONFIG, MODEL, SNAPSHOTS, about
from selfplay.web.insight import prepare, searched_choices
from selfplay.web.record import Stamp, stamp
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.rules import WORD_BITS

if TYPE_CHECKING:
    from selfplay.agent import Player

Stamps: TypeAlias = tuple[Stamp | None, ...]
"""Of each file of a run, how it looks from outside; nothing of who has no folder."""

FILES = CONFIG, MODEL, SNAPSHOTS
MOST_RUNS = 200
"""The newest that are shown of a folder of runs."""
MOST_LOADED = 16
"""Players that are kept in memory; a table can have megabytes."""


class Chosen(NamedTuple):
    """Hold a player that was chosen on the page."""

    name: str
    kind: str
    """The algorithm of a run, "built-in", or "own"."""
    judge: AgentPolicy
    player: "Player | None"
    """Itself, if it is one of our own trained players, which have values to show."""
    stamp: Stamps

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

    def __init__(self, named: Iterable[str], runs: Path | None, perspective: players.Perspective, rules: Rules) -> None:
        self._runs, self._perspective, self._rules = runs, perspective, rules
        self._names: list[str] = []
        """By number: a folder, or what was named."""
        self._named = [self._number(name) for name in dict.fromkeys(named)]
        self._always = [self._number(name) for name in (SHIPPED, *OPPONENTS)]
        self._entries: dict[int, tuple[Stamps, dict[str, Any]]] = {}
        self._loaded: OrderedDict[tuple[int, int | None], Chosen] = OrderedDict()
        self._lock = threading.Lock()
        for number in self._named:
            self.chosen(number)

    def entries(self) -> list[dict[str, Any]]:
        """Return what the page is told of each player, those that were named first, ready for JSON."""
        runs = [self._number(str(folder)) for folder in self.run_folders()]
        return [self._entry(number) for number in dict.fromkeys((*self._named, *runs, *self._always))]

    def _entry(self, number: int) -> dict[str, Any]:
        stamp = _stamps(self.folder(number))
        before = self._entries.get(number)
        if before is None or before[0] != stamp:
            before = self._entries[number] = stamp, self._described(number)
        return before[1]

    def followed(self) -> list[Path]:
        """Return the run folders whose training is followed: those that were named, and those in the folder of runs."""
        named = [Path(self._names[number]) for number in self._named if self._names[number] != SHIPPED]
        return list(dict.fromkeys([*(folder for folder in named if folder.is_dir()), *self.run_folders()]))

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
        return players.run_folder(self._names[number])

    def chosen(self, number: int, kept: int | None = None) -> Chosen:
        """Return a player as its files are now, or as it was when its run kept it, by the order of those that are kept.

        Raises:
            UserError: there is no such number, or the player cannot be loaded.
        """
        now = _stamps(self.folder(number))
        with self._lock:
            found = self._loaded.get((number, kept))
            if found is None or found.stamp != now:
                found = self._load(number, kept, now)
                self._loaded[number, kept] = found
                prepare(found.rules)
            self._loaded.move_to_end((number, kept))
            while len(self._loaded) > MOST_LOADED:
                self._loaded.popitem(last=False)
            return found

    def _load(self, number: int, kept: int | None, now: Stamps) -> Chosen:
        name, folder = self._names[number], self.folder(number)
        if folder is None:
            if kept is not None:
                raise UserError(f"{name}: has no folder in which players are kept")
            judge = self._without_a_folder(name)
            if judge.rules.cells > WORD_BITS:
                raise UserError(f"{name}: {judge.rules} has {judge.rules.cells} cells; at most {WORD_BITS} are shown")
            return Chosen(name, "built-in" if name in OPPONENTS else "own", judge, None, now)
        steps = None
        if kept is not None:
            there = snapshot_steps(folder)
            if kept >= len(there):
                raise UserError(f"{_title(name)}: has kept {len(there)} players, and {kept} is counted from 0")
            steps = there[kept]
        player = load(folder, steps=steps)
        return Chosen(_title(name), read_settings(folder)[0].algorithm, player_policy(player), player, now)

    def _without_a_folder(self, name: str) -> AgentPolicy:
        if name in OPPONENTS:
            searched = name == "optimal" and self._rules.cells > ALL_STATES_CELLS
            return built_in_policy(searched_choices if searched else OPPONENTS[name], self._rules)
        return players.resolve(name, self._perspective, self._rules).policy

    def _number(self, name: str) -> int:
        """Return the number of a player, a new one if it has none."""
        name = str(Path(name)) if Path(name).is_dir() else name  # which one may have typed with a slash at its end
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
        if folder is None:
            return entry
        config, _ = read_settings(folder)
        return entry | {"differs": about(config), "kept": _kept(folder, config.unit)}


def _kept(folder: Path, unit: str) -> dict[str, Any] | None:
    """Return after how many steps players were kept; None if there are none, or no longer any to be read."""
    try:
        steps = snapshot_steps(folder)
    except UserError:
        return None
    return {"unit": unit, "steps": list(steps)} if steps else None


def _title(name: str) -> str:
    """Return what the page calls a player."""
    return one_line(Path(name).resolve().name if Path(name).is_dir() else name)


def _is_run(path: Path) -> bool:
    return path.is_dir() and any((path / name).exists() for name in (CONFIG, MODEL))


def _stamps(folder: Path | None) -> Stamps:
    return () if folder is None else tuple(stamp(folder / name) for name in FILES)
