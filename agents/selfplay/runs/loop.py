"""The loop that trains every learner: advance, evaluate, record, teach, snapshot, checkpoint, stop."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from selfplay.errors import UserError
from selfplay.judge.ask import AgentPolicy, agent_policy
from selfplay.judge.evaluate import evaluate_policy
from selfplay.judge.move_values import ALL_STATES_CELLS
from selfplay.judge.progress import EvaluationProgress
from selfplay.judge.teach import TrainingPositions, evaluate_for_training
from selfplay.judge.verdict import Verdict
from selfplay.learner import Learner
from selfplay.protocols import AnyAgent
from selfplay.runs.metrics import Metrics, evaluation_metrics
from selfplay.settings import RunSettings

PROOFS_TO_STOP = 3
"""Evaluations in a row that must prove what `stop` asks for."""
PER_DOUBLING = 10
"""Snapshots while the steps of a run double."""
RATES = {"plies": "time/env_steps_per_s", "games": "time/games_per_s", "steps": "time/steps_per_s"}
"""The tag of the steps per second, by what the steps are."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One evaluation of a run.

    `metrics` has these tags, without those that are not known. To watch while it trains:

    - `eval/ways_to_beat`: ways to beat it in both seats; 0 when it is unbeatable
    - `eval/unbeatable`: 1 if it is proved unbeatable, else 0
    - `eval/lapses`: evaluations after the first proof in which it could be beaten
    - `eval/optimal_fraction`: share of the decision states in which its move is optimal
    - `eval/steps_to_proof`: the first proof, written once

    The rest of the verdict; `exact/second/...` says of O what `exact/first/...` says of X:

    - `exact/first/losses`, `illegal`: ways to beat it, by a line and by its own illegal move
    - `exact/first/win_vs_random`, `draw_vs_random`, `loss_vs_random`, `illegal_loss_vs_random`: exact probabilities
      against uniformly random moves; illegal moves are losses, and the last counts them alone
    - `exact/first/best_response`: its result against the best opponent: 1, 0 or -1
    - `exact/first/plies_followed`, `positions_met`, `losses_at_least`, `illegal_at_least`: what is known instead where
      it reaches too many positions
    - `exact/optimal_states`, `exact/illegal_states`: decision states in which its move is optimal, or illegal
    - `exact/exploitability`: what the best opponent gets beyond the value of the game
    - `exact/confirmed`: 1 where a proof counts: somebody's agent was asked again, ours need not be

    The training; shares and speeds are those since the last evaluation:

    - `loss/td`, `q/mean`: loss of the last update, and the mean value of its actions
    - `q/opening`, `game/self_play`: in TensorBoard, at the end: its values on the empty board, a game against itself
    - `games/first_wins`, `second_wins`, `draws`, `illegal`: shares of the training games of a tabular learner
    - `explore/epsilon`: probability of a random move
    - `teach/positions`: counterexamples that this evaluation found
    - `time/training_s`, `time/updates`, `time/plies`: seconds, updates and plies of training so far
    - `time/env_steps_per_s`, `updates_per_s`, `games_per_s`: speeds without the evaluations
    """

    number: int
    """Evaluations of the run so far, this one included."""
    steps: int
    """Plies or games so far."""
    verdict: Verdict
    """The result of its exact evaluation."""
    metrics: Mapping[str, float] = field(repr=False)
    """Numbers of the evaluation and of the training, by TensorBoard tag."""
    proofs: int
    """Evaluations in a row, up to this one, that proved what `stop` asks for."""
    lapses: int | None = None
    """Evaluations since the first proof in which the player could be beaten; None before that proof."""
    player: Any = field(default=None, repr=False, compare=False)
    """The player that was evaluated; None in the records of a folder, whose `snapshots` hold it if it was saved."""


@dataclass(kw_only=True)
class Counters:
    """The counters that a resumed run needs besides the state of its learner."""

    due: int
    """Steps at which the next evaluation is due."""
    seconds: float = 0.0
    """Time spent in learning."""
    proofs: int = 0
    """Evaluations in a row that proved what `stop` asks for."""
    evaluations: int = 0
    lapses: int | None = None
    """Evaluations since the first proof in which the player could be beaten; None before that proof."""
    enlargements: int = 0
    """How often the sample of the next evaluation is enlarged, on a large board."""


class Recorder:
    """A recorder that keeps nothing; that of a run is its subclass `selfplay.runs.run.RunFolder`."""

    def record(self, record: Record) -> None:
        """Write the numbers of an evaluation."""

    def snapshot(self, player: AnyAgent) -> None:
        """Save the player between evaluations."""

    def checkpoint(self, progress: Counters, now: bool) -> None:
        """Write what the run needs to continue, if it is time or `now`."""


def train(
    learner: Learner,
    config: RunSettings,
    progress: Counters | None = None,
    recorder: Recorder | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    watch: Callable[[], EvaluationProgress | None] = lambda: None,
) -> Iterator[Record]:
    """Train until `stop` is proved three times in a row or the steps are spent, and yield each evaluation.

    The player of a record keeps learning while the run continues. `should_stop` is called every few steps; if it
    returns True, the run ends after a checkpoint. `watch` returns what shows how far an evaluation is. If the steps
    are spent before the next evaluation is due, an extra one ends the run; it does not count if the run is made longer
    later.

    Raises:
        UserError: what was learned is no longer finite, or a custom learner does not advance.
    """
    progress, recorder = progress or Counters(due=config.eval_every), recorder or Recorder()
    speed = _Speed(learner, progress)
    while not (progress.evaluations and ends(config, learner.steps, progress.proofs)):
        evaluation_due = min(progress.due, config.length)
        snapshot_due = next_snapshot(config.eval_every, learner.steps)
        _advance(learner, min(evaluation_due, snapshot_due), progress)
        if learner.steps >= evaluation_due:
            record, counterexamples = _evaluate(learner, config, progress, speed, watch())
            recorder.record(record)
            yield record
            _teach(learner, counterexamples)
        elif learner.steps >= snapshot_due:
            recorder.snapshot(learner.player())
        stopping = should_stop()
        recorder.checkpoint(progress, now=stopping or ends(config, learner.steps, progress.proofs))
        if stopping:
            return
    if hasattr(learner, "finish") and learner.finish():
        record, _ = _evaluate(learner, config, progress, speed, watch())
        recorder.record(record)
        yield record


def _advance(learner: Learner, until: int, progress: Counters) -> None:
    """Let the learner advance, if there is anything left: a run may only evaluate what it begins with.

    Raises:
        UserError: its steps stay as they are, with which the run would never end.
    """
    before, started = learner.steps, time.perf_counter()
    most = until - before
    learner.advance(most)
    progress.seconds += time.perf_counter() - started
    if learner.steps <= before and most > 0:
        raise UserError(f"{type(learner).__name__}: advance({most}) must increase steps, but left them at {before}")


def _teach(learner: Learner, counterexamples: TrainingPositions | None) -> None:
    """Hand counterexamples to a learner, if there are any."""
    if counterexamples is not None:
        mover, opponent, move = counterexamples.mover, counterexamples.opponent, counterexamples.move
        learner.teach(mover, opponent, move)  # type: ignore[attr-defined]


class _Speed:
    """The speed of learning between two evaluations."""

    def __init__(self, learner: Learner, progress: Counters) -> None:
        self._learner, self._progress = learner, progress
        self._last = self._now()

    def metrics(self, unit: str) -> Metrics:
        """Return steps and updates per second since the last call, and their totals, by TensorBoard tag."""
        last, self._last = self._last, self._now()
        steps, updates, seconds = (now - before for now, before in zip(self._last, last, strict=True))
        seconds = max(seconds, 1e-9)
        metrics = {RATES[unit]: steps / seconds, "time/training_s": self._progress.seconds}
        if hasattr(self._learner, "plies"):
            metrics["time/plies"] = self._learner.plies
        if hasattr(self._learner, "updates"):
            metrics |= {"time/updates_per_s": updates / seconds, "time/updates": self._learner.updates}
        return metrics

    def _now(self) -> tuple[int, int, float]:
        return self._learner.steps, getattr(self._learner, "updates", 0), self._progress.seconds


def _evaluate(
    learner: Learner, config: RunSettings, progress: Counters, speed: _Speed, watch: EvaluationProgress | None
) -> tuple[Record, TrainingPositions | None]:
    """Return an exact evaluation of the current player, and counterexamples if the learner is taught.

    An evaluation that comes before it is due, at the end of the run, does not count, and teaches nothing.
    """
    metrics = {name: float(value) for name, value in learner.metrics().items()} if hasattr(learner, "metrics") else {}
    metrics |= speed.metrics(config.unit)
    player, every_state = learner.player(), config.stop == "optimal"
    policy = learner_policy(learner, player, watch)
    positions = None
    if hasattr(learner, "teach"):
        generator = np.random.default_rng([config.seed, learner.steps])
        positions = evaluate_for_training(policy, every_state, generator, progress.enlargements)
        metrics["teach/positions"] = positions.found
        verdict = positions.verdict
    else:
        verdict = evaluate_policy(policy, every_state or config.rules.cells <= ALL_STATES_CELLS).verdict
    progress.evaluations += 1
    proofs = progress.proofs + 1 if proves(verdict, config.stop) else 0
    lapses = count_lapses(progress.lapses, verdict)
    if lapses is not None:
        metrics["eval/lapses"] = lapses
        if progress.lapses is None:
            metrics["eval/steps_to_proof"] = metrics.get("time/plies", learner.steps)
    progress.lapses = lapses
    record = Record(
        number=progress.evaluations,
        steps=learner.steps,
        verdict=verdict,
        metrics=evaluation_metrics(verdict) | metrics,
        proofs=proofs,
        lapses=lapses,
        player=player,
    )
    if learner.steps < progress.due:
        return record, None
    wait = config.eval_every
    if positions is not None:
        wait = int(wait * positions.wait_factor)
        progress.enlargements = positions.enlargements
    progress.due, progress.proofs = learner.steps + wait, proofs
    return record, positions


def learner_policy(learner: Learner, player: AnyAgent, watch: EvaluationProgress | None = None) -> AgentPolicy:
    """Return the policy with which a learner's player is evaluated."""
    perspective = getattr(learner, "perspective", "absolute")
    return replace(agent_policy(player, learner.rules, perspective, progress=watch), other_view=None)


def proves(verdict: Verdict, stop: str) -> bool:
    """Return whether a verdict proves what `stop` asks for."""
    if stop == "optimal":
        return verdict.optimal
    return stop == "unbeatable" and verdict.unexploitable


def worth(verdict: Verdict, stop: str) -> int:
    """Return how much a verdict proves: at its end a run keeps the last player with the most, if that is above 0."""
    return verdict.unexploitable + (stop == "optimal" and verdict.optimal)


def count_lapses(before: int | None, verdict: Verdict) -> int | None:
    """Return the lapses up to an evaluation, from those before it; None before the first proof."""
    if proves(verdict, "unbeatable"):
        return before or 0
    return None if before is None else before + 1


def ends(config: RunSettings, steps: int, proofs: int) -> bool:
    """Return whether a run ends after these steps with these proofs in a row."""
    return proofs == PROOFS_TO_STOP or steps >= config.length


def next_snapshot(eval_every: int, steps: int) -> int:
    """Return the steps after `steps` at which the next snapshot is due, evenly in the logarithm of the steps."""
    first = max(1, eval_every // 4)
    number = math.floor(PER_DOUBLING * math.log2(max(steps, first - 0.5) / first)) + 1
    return max(steps + 1, math.ceil(first * 2 ** (number / PER_DOUBLING)))
