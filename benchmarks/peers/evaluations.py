"""What every learner of the comparison is, and how it is evaluated while it trains: at set times, exactly."""

import ast
import csv
import importlib
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import selfplay
from benchmarks.harness import held_from
from selfplay.players import imported
from tictactoe import Rules

RULES = Rules()
TRIALS, TRIAL_SECONDS, TRIAL_EVALUATIONS = 20, 60.0, 12
"""The trials of a search for settings; the evaluations of each are at equal intervals."""
FINAL_SECONDS, FINAL_EVALUATIONS = 300.0, 40
"""The runs that are published; see `growing_times`."""
FIRST_PART = 1 / 300
"""Part of the training time after which the first evaluation of such a run is due."""
SEARCHED = ", searched"
"""Suffix of players whose settings were searched for."""
MODULES: Mapping[str, str] = {
    "ours": "our_dqn",
    "ours-plain": "our_dqn_plain",
    "stable-baselines3": "stable_baselines3_dqn",
    "cleanrl-style": "cleanrl_dqn",
    "maskable-ppo": "maskable_ppo",
    "open-spiel": "open_spiel_dqn",
    "tianshou": "tianshou_dqn",
}
"""Module in this folder of each learner; its `make` prepares a training."""
Tick: TypeAlias = Callable[[int, Any], bool]
"""Takes the updates so far and the current player, which sees the mover's view; returns whether to train on."""
Train: TypeAlias = Callable[[Tick], None]
"""Trains, and calls the tick after every step until that returns False."""


class Evaluation(NamedTuple):
    """One evaluation of a run; its fields are the columns of the CSV."""

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
        """Return the ways to beat it, in both seats."""
        return self.first_losses + self.second_losses + self.first_illegal + self.second_illegal


def load(name: str) -> Any:
    """Import a learner's module, or what is named as `module:name` and makes a training as its `make` does."""
    if ":" in name:
        return SimpleNamespace(make=imported(name))
    return importlib.import_module(f"benchmarks.peers.{MODULES[name]}")


def growing_times(seconds: float, evaluations: int) -> list[float]:
    """Return when to evaluate: each interval is longer than the one before by the same factor."""
    return [seconds] if evaluations == 1 else np.geomspace(FIRST_PART * seconds, seconds, evaluations).tolist()


def even_times(seconds: float, evaluations: int) -> list[float]:
    """Return when to evaluate, at equal intervals."""
    return [seconds * part / evaluations for part in range(1, evaluations + 1)]


def measure(
    name: str, train: Train, seed: int, due: Sequence[float], now: Callable[[], float] = time.process_time
) -> list[Evaluation]:
    """Train one player and evaluate it at each due time; the last of them ends the training.

    The clock stops during evaluations. It counts the seconds on the processor, so that other programs on the same core
    take nothing from the training time.

    Raises:
        TypeError: The training is no function.
        ValueError: It returned before the last due time, or did not return after it.
    """
    history: list[Evaluation] = []
    evaluated = 0.0

    def tick(updates: int, player: selfplay.Agent) -> bool:
        nonlocal evaluated
        if len(history) == len(due):
            raise ValueError("went on after tick had returned False; return then")
        stopped = now()
        seconds = stopped - started - evaluated
        if seconds < due[len(history)]:
            return True
        verdict = selfplay.evaluate(player, RULES, perspective="mover")
        assert verdict.optimal_states is not None
        assert verdict.exploitability is not None
        history.append(
            Evaluation(
                name,
                seed,
                round(seconds, 3),
                updates,
                verdict.first.losses,
                verdict.second.losses,
                verdict.first.illegal,
                verdict.second.illegal,
                verdict.optimal_states,
                verdict.exploitability,
                verdict.unbeatable,
            )
        )
        evaluated += now() - stopped
        return len(history) < len(due)

    if not callable(train):
        raise TypeError(f"make must return a function train(tick), got {train!r}")
    selfplay.evaluate(lambda _: 0, RULES)  # solves the game, which is slow only once in a process
    started = now()
    train(tick)
    if len(history) < len(due):
        raise ValueError("returned too early; call tick until it returns False")
    return history


def score(history: Sequence[Evaluation]) -> float:
    """Return what the evaluations of a trial at equal moments are worth; less is better.

    A proof that holds to the end comes first: the number of the moment from which it holds over the number of all, less
    1, which is 0 or below. Without one it is the mean number of ways to beat it, in both seats, over the last quarter
    of the moments, because they swing by dozens from one to the next, and the fewest ever would reward luck. A trial
    that failed, and has none, comes last.
    """
    if not history:
        return math.inf
    first = held_from([line.unbeatable for line in history])
    if first is not None:
        return (first + 1) / len(history) - 1
    return statistics.mean(line.bad_games for line in history[-math.ceil(len(history) / 4) :])


def read(path: Path) -> list[Evaluation]:
    """Return the evaluations of an earlier measurement; none if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [from_fields(fields) for fields in list(csv.reader(file))[1:]]


def from_fields(fields: Sequence[str]) -> Evaluation:
    """Return an evaluation from the fields of a CSV file."""
    player, *values = fields
    return Evaluation(player, *map(ast.literal_eval, values))
