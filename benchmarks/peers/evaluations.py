"""What every learner of the comparison is, and how it is evaluated while it trains: at set times, exactly."""

import ast
import csv
import importlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from rich.console import Console

import selfplay
from benchmarks import harness
from selfplay.errors import UserError
from selfplay.players import imported
from tictactoe import Rules

RULES = Rules()
FIRST_PART = 1 / 300
"""Part of the training time after which the first evaluation is due."""
SEARCHED = ", searched"
"""Suffix of players whose settings were searched for."""
MODULES: Mapping[str, str] = {
    "ours": "ours",
    "ours-plain": "ours_plain",
    "stable-baselines3": "stable_baselines3_dqn",
    "cleanrl-style": "cleanrl_dqn",
    "maskable-ppo": "maskable_ppo",
    "open-spiel": "open_spiel_dqn",
    "tianshou": "tianshou_dqn",
}
"""Module in this folder of each learner; its `make` prepares a training."""
Tick: TypeAlias = Callable[[int, Any], bool]
"""Takes the updates so far and the current player, which sees the mover's view, and tells whether to go on."""
Train: TypeAlias = Callable[[Tick], None]
"""Trains, and calls the tick after every step until that returns False."""


class Evaluation(NamedTuple):
    """Hold one evaluation of a run; its fields are the columns of the CSV."""

    player: str
    seed: int
    seconds: float
    """Training up to this evaluation, without the evaluations."""
    updates: int
    """Updates of each network."""
    first_losses: int
    second_losses: int
    first_illegal: int
    second_illegal: int
    optimal_states: int
    exploitability: float
    unbeatable: bool

    @property
    def bad_games(self) -> int:
        """Return the lost and the illegal games of both seats."""
        return self.first_losses + self.second_losses + self.first_illegal + self.second_illegal


def load(name: str) -> Any:
    """Import a learner's module, or what is named as `module:name` and makes a training as its `make` does."""
    if ":" in name:
        return SimpleNamespace(make=imported(name))
    return importlib.import_module(f"benchmarks.peers.{MODULES[name]}")


def available(names: Iterable[str], console: Console) -> list[str]:
    """Return the learners that can be trained here, and print what the others lack."""
    return [name for name in names if harness.prepare(console, name, partial(load, name))]


def growing_times(seconds: float, evaluations: int) -> list[float]:
    """Return when to evaluate: each interval is longer than the one before by the same factor."""
    return [seconds] if evaluations == 1 else np.geomspace(FIRST_PART * seconds, seconds, evaluations).tolist()


def measure(
    name: str, train: Train, seed: int, due: Sequence[float], now: Callable[[], float] = time.process_time
) -> list[Evaluation]:
    """Train one player and evaluate it at each due time; the last of them ends the training.

    The clock stops during evaluations. It counts the seconds on the processor, so that other programs on the same core
    take nothing from the training time.

    Raises:
        UserError: The training returned before the last due time, or did not return after it, or is no function.
    """
    history: list[Evaluation] = []
    evaluated = 0.0

    def tick(updates: int, player: selfplay.Agent) -> bool:
        nonlocal evaluated
        if len(history) == len(due):
            raise UserError("went on after tick had returned False; return then")
        stopped = now()
        seconds = stopped - started - evaluated
        if seconds < due[len(history)]:
            return True
        found = selfplay.evaluate(player, RULES, perspective="mover")
        first, second = found.first, found.second
        assert found.optimal_states is not None
        assert found.exploitability is not None
        counts = (first.losses, second.losses, first.illegal, second.illegal, found.optimal_states)
        run = (name, seed, round(seconds, 3), updates)
        history.append(Evaluation(*run, *counts, found.exploitability, found.unbeatable))
        evaluated += now() - stopped
        return len(history) < len(due)

    if not callable(train):
        raise UserError(f"must return a function train(tick), got {train!r}")
    selfplay.evaluate(lambda _: 0, RULES)  # solves the game, which is slow only once in a process
    started = now()
    train(tick)
    if len(history) < len(due):
        raise UserError("returned too early; call tick until it returns False")
    return history


def read(path: Path) -> list[Evaluation]:
    """Return the evaluations of an earlier measurement; none if there is no such file."""
    lines = csv.reader(path.read_text().splitlines()[1:] if path.exists() else [])
    return [Evaluation(player, *map(ast.literal_eval, fields)) for player, *fields in lines]


def widths(word: str) -> tuple[int, ...]:
    """Return the widths of hidden layers from a word like 256x256."""
    return tuple(map(int, word.split("x")))
