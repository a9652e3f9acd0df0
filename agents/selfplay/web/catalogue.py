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
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.judge.ask import check_same_board, choices_policy, player_policy
from selfplay.judge.move_values import ALL_STATES_CELLS
from selfplay.players import NamedPolicy, Perspective
from selfplay.runs.folder import CONFIG, MODEL, SNAPSHOTS, settings_summary
from selfplay.runs.load import SHIPPED, SHIPPED_FOLDER, load, read_settings, snapshot_steps
from selfplay.settings import check_known_rules
from selfplay.web.analysis import searched_choices
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.rewards import named_rewards
from tictactoe.rules import WORD_BITS

MOST_RUNS = 200
"""Largest number of runs shown from a folder of runs: the newest."""
MOST_LOADED = 16
"""Largest number of players in memory; a table can have megabytes."""

Version: TypeAlias = tuple[int, ...]
"""When each file that a player depends on was changed, in nanoseconds; 0 where there is no file."""


class Catalogue:
    """The players named on the command line, the built-in ones, and every run in a folder of runs.

    A player keeps its number. `perspective` and `rules` are for agents of your own, and `rules` also for the built-in
    opponents.

    Raises:
        UserError: one of the names is not a player, or one that plays on another board.
    """

    def __init__(self, named: Iterable[str], runs: Path | None, perspective: Perspective, rules: Rules | None) -> None:
        self._runs, self._perspective, self._rules = runs, perspective, rules
        self._players: list[Path | str] = []
        """By number: a run folder of any name, or the name of another player."""
        self._named = [self._number(players.run_folder(name) or name) for name in named]
        self._shipped = self._number(SHIPPED_FOLDER)
        self._built_in = [self._number(name) for name in OPPONENTS]
        self._lock = threading.Lock()
        self._load_cached = lru_cache(MOST_LOADED)(self._load)
        self._describe_cached = lru_cache(2 * MOST_RUNS)(self._describe)
        for number in self._named:
            check_same_board(self.player(number).rules, rules, self._name(number))

    def entries(self) -> list[dict[str, Any]]:
        """Return an entry for each player, ready for JSON; those from the command line come first."""
        runs = [self._number(folder) for folder in self._run_folders()]
        numbers = dict.fromkeys([*self._named, self._shipped, *runs, *self._built_in])
        return [self._describe_cached(number, self._version(number)) for number in numbers]

    def player(self, number: int, steps: int | None = None) -> NamedPolicy:
        """Return a player as its files are now, or its snapshot after some steps.

        While its files do not change, it is the same object.

        Raises:
            UserError: there is no such number, or the player cannot be loaded.
        """
        if number >= len(self._players):
            raise UserError(f"there is no player {number}")
        with self._lock:  # else two requests would both load it
            return self._load_cached(number, steps, self._version(number))

    def _run_folders(self) -> list[Path]:
        """Return the newest run folders, the newest first, also those whose player is not written yet."""
        if self._runs is None or not self._runs.is_dir():
            return []
        runs = [path for path in self._runs.iterdir() if (path / CONFIG).exists() or (path / MODEL).exists()]
        return sorted(runs, key=lambda path: path.stat().st_mtime_ns, reverse=True)[:MOST_RUNS]

    def _load(self, number: int, steps: int | None, _version: Version) -> NamedPolicy:
        chosen, rules = self._players[number], self._rules
        if isinstance(chosen, Path):
            player = load(chosen, steps=steps)
            named = NamedPolicy(str(chosen), player_policy(player), player, chosen)
        elif chosen == "optimal" and rules is not None and rules.cells > ALL_STATES_CELLS:
            named = NamedPolicy(chosen, choices_policy(searched_choices, rules), None, None)
        else:
            named = players.resolve(chosen, self._perspective, rules)
        if named.rules.cells > WORD_BITS:
            raise UserError(f"{chosen}: {named.rules} has {named.rules.cells} cells; at most {WORD_BITS} are shown")
        check_known_rules(named.rules, f"{chosen}: the page")
        return named

    def _describe(self, number: int, _version: Version) -> dict[str, Any]:
        """Return the entry of a player; `rules` is None if it cannot be loaded, and `error` says why."""
        chosen = self._players[number]
        entry: dict[str, Any] = {"index": number, "differs": "", "snapshots": [], "waiting": False}
        entry |= {"rules": None, "error": None}
        kind = "built-in" if chosen in OPPONENTS else "own"
        entry |= {"name": self._name(number), "kind": kind, "run": isinstance(chosen, Path)}
        try:
            if isinstance(chosen, Path):
                entry |= _run_entry(chosen)
            entry["rules"] = asdict(self.player(number).rules)
        except UserError as error:
            entry["error"] = str(error)
        return entry

    def _name(self, number: int) -> str:
        player = self._players[number]
        if isinstance(player, Path):
            return SHIPPED if player == SHIPPED_FOLDER else player.resolve().name
        return player

    def _version(self, number: int) -> Version:
        player = self._players[number]
        if not isinstance(player, Path):
            return ()
        files = [player / name for name in (CONFIG, MODEL, SNAPSHOTS)]
        return tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)

    def _number(self, player: Path | str) -> int:
        """Return the number of a player, a new one if it has none."""
        if player not in self._players:
            self._players.append(player)
        return self._players.index(player)


def _run_entry(folder: Path) -> dict[str, Any]:
    """Return what the settings of a run say about its player."""
    config = read_settings(folder).config
    return {
        "kind": config.algorithm,
        "differs": settings_summary(config),
        "unit": config.unit,
        "snapshots": snapshot_steps(folder),
        "waiting": not (folder / MODEL).exists(),
        "worth": worth(config) if isinstance(config, DQNConfig) else None,
    }


def worth(config: DQNConfig) -> dict[str, float]:
    """Return what each result is worth to a DQN, and what it is paid for a move that allows a win or is illegal."""
    rewards = named_rewards(config.rewards)
    # The negamax target takes the opponent's win for its own loss; the independent one is paid for both moves.
    illegal = 0.0 if config.mask else rewards.illegal  # with a mask it marks no taken cell, and is charged for none
    loss = rewards.allow + rewards.loss if config.target == "independent" else -rewards.win
    return {"loss": loss, "draw": rewards.draw, "win": rewards.win, "allow": rewards.allow, "illegal": illegal}
