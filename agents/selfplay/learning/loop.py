"""The loop that trains every learner: advance, evaluate, teach, record, snapshot, checkpoint, stop."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from selfplay.agent import Player
from selfplay.judging.agents import player_policy
from selfplay.judging.counterexamples import TrainingPositions, evaluate_for_training
from selfplay.judging.evaluate import evaluate_policy
from selfplay.judging.verdict import Verdict
from selfplay.learner import RunLearner
from selfplay.learning.metrics import evaluation_metrics
from selfplay.settings import RunSettings

if TYPE_CHECKING:
    from selfplay.learning.checkpoint import Checkpoints

PROOFS_TO_STOP = 3
"""Evaluations in a row that must prove what `stop` asks for."""
PER_DOUBLING = 10
"""Snapshots while the steps of a run double."""
RATES = {"plies": "time/env_steps_per_s", "games": "time/games_per_s", "steps": "time/steps_per_s"}
"""The tag of the steps per second, by what the steps are."""


@dataclass(frozen=True)
class Record:
    """Describe a run at one of its evaluations."""

    number: int
    """Evaluations of the run so far, this one included."""
    steps: int
    """Plies or games so far."""
    evaluation: Verdict
    """Verdict of the exact evaluation."""
    metrics: Mapping[str, float] = field(repr=False)
    """Numbers of the evaluation and of the training, by TensorBoard tag."""
    get_player: Callable[[], Player] = field(repr=False, compare=False)
    """Returns `player`."""
    proofs: int
    """Evaluations in a row, up to this one, that proved what `stop` asks for."""

    @property
    def player(self) -> Player:
        """Return the player that was evaluated: a copy, or, if the run has a folder, the snapshot with these steps.

        Raises:
            UserError: the run saved no snapshot at these steps.
        """
        return self.get_player()


class Callback:
    """React to what happens in a run; a subclass overrides what it needs."""

    def evaluated(self, record: Record) -> None:
        """React to an evaluation."""

    def between(self, steps: int, player: Player) -> None:
        """React to a step between evaluations at which a snapshot is due."""

    def ended(self, record: Record) -> None:
        """React to the end of the training; the record is that of the last evaluation."""


@dataclass
class Progress:
    """Hold the counters that a resumed run needs besides the state of its learner."""

    due: int
    """Steps at which the next evaluation is due."""
    seconds: float = 0.0
    """Time spent in learning."""
    proofs: int = 0
    """Evaluations in a row that proved what `stop` asks for."""
    evaluations: int = 0


def train(
    learner: RunLearner,
    progress: Progress | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoints: "Checkpoints | None" = None,
) -> Iterator[Record]:
    """Train until `stop` is proved three times in a row or the steps are spent, and yield each evaluation.

    The player of a record keeps learning while the run goes on.

    A run that is asked to stop ends after its next checkpoint. If the steps are spent before the next evaluation is
    due, an extra one ends the run; it does not count if the run is made longer later.

    Raises:
        UserError: what was learned is no longer finite.
    """
    config = learner.config
    progress = progress or Progress(config.eval_every)
    clock, frame = _Clock(learner, progress), next_frame(config.eval_every, learner.steps)
    while not (progress.evaluations and ends(config, learner.steps, progress.proofs)):
        learner.advance(min(progress.due, config.length, frame) - learner.steps)
        due = learner.steps >= progress.due
        evaluating = due or learner.steps >= config.length
        if learner.steps >= frame:
            frame = next_frame(config.eval_every, learner.steps)
            if not evaluating:
                clock.stop()
                for callback in callbacks:
                    callback.between(learner.steps, learner.player())
                clock.start()
        if not evaluating and not (checkpoints and checkpoints.due()):
            continue
        clock.stop()
        if evaluating:
            record, counterexamples = _evaluate(learner, progress, clock)
            if due:
                progress.due, progress.proofs = learner.steps + config.eval_every, record.proofs
            for callback in callbacks:  # metrics, screen, snapshots
                callback.evaluated(record)
            yield record
            if due and counterexamples:
                learner.teach(counterexamples.mover, counterexamples.opponent)
        if checkpoints and (ends(config, learner.steps, progress.proofs) or checkpoints.due()):
            checkpoints.write(learner.state(), progress)
            if checkpoints.stopping:
                return
        clock.start()
    if learner.finish():
        clock.stop()
        record, _ = _evaluate(learner, progress, clock)
        for callback in callbacks:
            callback.evaluated(record)
        yield record


class _Clock:
    """Add up the time that is spent in learning, and measure the speed between two evaluations."""

    def __init__(self, learner: RunLearner, progress: Progress) -> None:
        self._learner, self._progress = learner, progress
        self._last = self._now()
        self.start()

    def start(self) -> None:
        self._started = time.perf_counter()

    def stop(self) -> None:
        """Wait for the learner and stop the time."""
        self._learner.check_finite()
        self._progress.seconds += time.perf_counter() - self._started

    def metrics(self) -> dict[str, float]:
        """Return steps and updates per second since the last call, and their totals, by TensorBoard tag."""
        last, self._last = self._last, self._now()
        steps, updates, seconds = (now - before for now, before in zip(self._last, last, strict=True))
        seconds = max(seconds, 1e-9)
        metrics = {RATES[self._learner.config.unit]: steps / seconds, "time/training_s": self._progress.seconds}
        if self._learner.updates is not None:
            metrics |= {"time/updates_per_s": updates / seconds, "time/updates": self._learner.updates}
        return metrics

    def _now(self) -> tuple[int, int, float]:
        return self._learner.steps, self._learner.updates or 0, self._progress.seconds


def _evaluate(learner: RunLearner, progress: Progress, clock: _Clock) -> tuple[Record, TrainingPositions | None]:
    """Return an exact evaluation of the current player, and counterexamples if the learner takes any."""
    config, player = learner.config, learner.player()
    metrics = learner.metrics() | clock.metrics()
    policy, every_state = player_policy(player), config.stop == "optimal"
    positions = None
    if learner.takes_counterexamples:
        generator = np.random.default_rng([config.seed, learner.steps])
        positions = evaluate_for_training(policy, every_state, generator)
        metrics["teach/positions"] = positions.found
    evaluation = positions.verdict if positions else evaluate_policy(policy, every_state)
    metrics = evaluation_metrics(evaluation) | metrics
    progress.evaluations += 1
    proofs = progress.proofs + 1 if proves(evaluation, config.stop) else 0
    return Record(progress.evaluations, learner.steps, evaluation, metrics, lambda: player, proofs), positions


def proves(evaluation: Verdict, stop: str) -> bool:
    """Tell whether an evaluation proves what `stop` asks for."""
    if stop == "optimal":
        return evaluation.optimal
    return stop == "unbeatable" and evaluation.unexploitable


def ends(config: RunSettings, steps: int, proofs: int) -> bool:
    """Tell whether a run ends after these steps with these proofs in a row."""
    return proofs == PROOFS_TO_STOP or steps >= config.length


def next_frame(eval_every: int, steps: int) -> int:
    """Return the steps after `steps` at which the next snapshot is due, evenly in the logarithm of the steps."""
    first = max(1, eval_every // 4)
    number = math.floor(PER_DOUBLING * math.log2(max(steps, first - 0.5) / first)) + 1
    return max(steps + 1, math.ceil(first * 2 ** (number / PER_DOUBLING)))


def first_of_final_streak(proofs: Sequence[bool]) -> int | None:
    """Return the index of the first evaluation from which the proof held to the end, None if it did not."""
    first = len(proofs)
    while first and proofs[first - 1]:
        first -= 1
    return first if first < len(proofs) else None
