"""What every learner of the comparison is, and how it is judged while it trains: at set times, exactly."""

import csv
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from benchmarks.measuring.counts import counts, known
from selfplay.agent import Agent
from selfplay.errors import UserError
from selfplay.evaluation.evaluate import evaluate
from selfplay.files import write_csv
from tictactoe import Rules

RULES = Rules()
FIRST_PART = 1 / 300
"""Part of the training time after which the first evaluation is due."""

SEARCHED = ", searched"
"""Behind the name of a player whose settings were searched for."""

Tick = Callable[[int], bool]
"""Takes the updates done so far, and answers whether to go on training."""


class Training(NamedTuple):
    """Hold a player and what trains it."""

    player: Agent
    """Plays as training has taught it so far."""
    run: Callable[[Tick], None]
    """Train, calling `Tick` after every step, until that answers False."""


class Make(Protocol):
    """Prepare a training: all that is not training itself."""

    def __call__(self, seed: int) -> Training:
        """Return the training of that seed, which goes on until it is told to stop."""
        ...


class Judged(NamedTuple):
    """Hold one evaluation of a run; its fields are the columns of the CSV."""

    player: str
    seed: int
    seconds: float
    """Training up to this evaluation, without the evaluations."""
    updates: int
    """Of each network."""
    first_losses: int
    second_losses: int
    first_illegal: int
    second_illegal: int
    optimal_states: int
    exploitability: float
    unbeatable: bool

    @property
    def losses(self) -> int:
        """Return the lost lines of both seats."""
        return self.first_losses + self.second_losses

    @property
    def illegal(self) -> int:
        """Return the illegal lines of both seats."""
        return self.first_illegal + self.second_illegal

    @property
    def bad_lines(self) -> int:
        """Return the lost and the illegal lines of both seats."""
        return self.losses + self.illegal


def widths(word: str) -> tuple[int, ...]:
    """Return the widths of hidden layers out of a word like 256x256."""
    return tuple(map(int, word.split("x")))


def times(seconds: float, evaluations: int) -> list[float]:
    """Return when to evaluate: at growing intervals, each longer than the one before by the same factor."""
    last = [seconds] if evaluations == 1 else np.geomspace(FIRST_PART * seconds, seconds, evaluations).tolist()
    return [float(due) for due in last]


class Clock:
    """Count the seconds of training and evaluate the player when it is due; the clock stands still meanwhile."""

    def __init__(
        self, player: Agent, due: Sequence[float], name: str, seed: int, now: Callable[[], float] = time.perf_counter
    ) -> None:
        self.history: list[Judged] = []
        self._player, self._due, self._name, self._seed, self._now = player, due, name, seed, now
        self._started = now()

    def __call__(self, updates: int) -> bool:
        """Evaluate if it is due, and tell whether there is training time left."""
        seconds = self._now() - self._started
        if seconds < self._due[len(self.history)]:
            return True
        found = evaluate(self._player, RULES)
        counted = (*counts(found), known(found.exploitability), found.unbeatable)
        self.history.append(Judged(self._name, self._seed, round(seconds, 3), updates, *counted))
        self._started = self._now() - seconds
        return len(self.history) < len(self._due)


class Run(NamedTuple):
    """Hold the evaluations of a run, and what tells whether anything else slowed it."""

    history: list[Judged]
    busy: float
    """Part of its time that it spent on the processor."""


def measure(
    name: str, make: Make, seed: int, due: Sequence[float], now: Callable[[], float] = time.perf_counter
) -> Run:
    """Train one player, and evaluate it after each of so many seconds of a clock; the last of them ends the training.

    With `time.process_time` other programs on the same core take nothing from it.
    """
    training = make(seed)
    evaluate(training.player, RULES)  # solves the game, which is slow only once in a process
    clock = Clock(training.player, due, name, seed, now)
    started, worked = time.perf_counter(), time.process_time()
    training.run(clock)
    return Run(clock.history, (time.process_time() - worked) / (time.perf_counter() - started))


def read(path: Path) -> list[Judged]:
    """Return what an earlier measurement has left; nothing where there is no such file.

    Raises:
        UserError: the file is not one of this benchmark.
    """
    if not path.exists():
        return []
    try:
        with path.open(newline="") as file:
            header, *lines = csv.reader(file)
        if tuple(header) == Judged._fields:
            return [parsed(line) for line in lines]
    except (ValueError, LookupError, TypeError):
        pass
    raise UserError(f"{path}: is not a file of this benchmark; move it away, or name another folder")


def parsed(fields: Sequence[str]) -> Judged:
    """Return the evaluation that a line of the CSV holds."""
    player, seed, seconds, updates, *counts, exploitability, unbeatable = fields
    verdict = {"True": True, "False": False}[unbeatable]
    return Judged._make(
        [player, int(seed), float(seconds), int(updates), *map(int, counts), float(exploitability), verdict]
    )


def write(path: Path, lines: Sequence[Judged]) -> None:
    """Write all evaluations as CSV."""
    write_csv(path, [Judged._fields, *lines])
