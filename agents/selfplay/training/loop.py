"""The one story of a run, whatever learns: advance, evaluate, keep a checkpoint, and stop when it is proved."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from selfplay.agent import Player
from selfplay.checks import LARGEST, require
from selfplay.errors import UserError
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.counterexamples import evaluate_for_training
from selfplay.evaluation.evaluate import evaluate_policy
from selfplay.evaluation.verdict import Verdict
from selfplay.learner import Learner, State
from selfplay.settings import RunSettings
from selfplay.training.checkpoints import Checkpoints

EVALUATIONS_TO_STOP = 3
"""Evaluations running that must prove what `stop` asks for."""
RATES = {"plies": "time/env_steps_per_s", "games": "time/games_per_s"}
"""The tag of the steps per second, by what the steps are."""


class Record(NamedTuple):
    """Say how a run stands at one of its evaluations."""

    steps: int
    """Plies or games so far."""
    evaluation: Verdict
    """What is exactly known of the player."""
    metrics: Mapping[str, float]
    """What was measured beside it, by TensorBoard tag."""
    player: Player
    """The player that was evaluated; that of a DQN learns on with the run."""


class Standing(NamedTuple):
    """Say how a run stands between two steps, beside what its learner holds."""

    due: int
    """Steps at which the next evaluation is due."""
    seconds: float = 0.0
    """Time spent in learning so far."""
    proofs: int = 0
    """Evaluations running, up to the last, that have proved what `stop` asks for."""
    evaluations: int = 0


def records(learner: Learner, standing: Standing | None = None, kept: Checkpoints | None = None) -> Iterator[Record]:
    """Train from the beginning or from where a run stood; yield each evaluation with what was measured.

    Training ends when `stop` is proved three times running or the steps are spent. Checkpoints are written where
    they are to be kept, the first before anything is learned. An evaluation that comes early, because the steps are
    spent, does not count for a run that is made longer.

    Raises:
        UserError: what was learned is no longer finite.
        KeyboardInterrupt: the run was asked to stop, and its checkpoint is written.
    """
    config = learner.config
    due, seconds, proofs, evaluations = standing or Standing(config.eval_every)
    since = learner.steps, learner.updates or 0, seconds

    def record() -> Record:
        nonlocal since
        now = learner.steps, learner.updates or 0, seconds
        steps, updates, elapsed = (after - before for after, before in zip(now, since, strict=True))
        since = now
        elapsed = max(elapsed, 1e-9)
        metrics = learner.metrics() | {RATES[config.unit]: steps / elapsed, "time/training_s": seconds}
        if learner.updates is not None:
            metrics |= {"time/updates_per_s": updates / elapsed, "time/updates": learner.updates}
        player, every_state = learner.player(), config.stop == "optimal"
        if not learner.takes_counterexamples:
            return Record(learner.steps, evaluate_policy(player_policy(player), every_state), metrics, player)
        generator = np.random.default_rng([config.seed, learner.steps])
        evaluated = evaluate_for_training(player_policy(player), every_state, generator)
        if learner.steps >= due:
            learner.teach(evaluated.mover, evaluated.opponent)
        return Record(learner.steps, evaluated.verdict, metrics | {"teach/positions": evaluated.found}, player)

    if kept and not kept.begun:
        # Or a record without a checkpoint would not say whether the run was killed early or its checkpoints are gone.
        kept.write(_with_standing(learner.state(), Standing(due, seconds, proofs, evaluations)))
    started = time.perf_counter()
    while not (evaluations and ends(config, learner.steps, proofs)):
        learner.advance(min(due, config.length) - learner.steps)
        evaluating = learner.steps >= min(due, config.length)
        if not evaluating and not (kept and kept.due(learner.steps)):
            continue
        learner.check_finite()
        seconds += time.perf_counter() - started
        if evaluating:
            evaluated = record()
            yield evaluated
            evaluations += 1
            if learner.steps >= due:
                due = learner.steps + config.eval_every
                proofs = proofs + 1 if proves(evaluated.evaluation, config.stop) else 0
        if kept and (ends(config, learner.steps, proofs) or kept.due(learner.steps)):
            kept.write(_with_standing(learner.state(), Standing(due, seconds, proofs, evaluations)))
        started = time.perf_counter()
    if learner.finish():
        learner.check_finite()
        seconds += time.perf_counter() - started
        yield record()


def proves(evaluation: Verdict, stop: str) -> bool:
    """Tell whether an evaluation proves what `stop` asks for."""
    if stop == "optimal":
        return evaluation.optimal
    return stop == "unbeatable" and evaluation.unexploitable


def ends(config: RunSettings, steps: int, proofs: int) -> bool:
    """Tell whether a run ends after so many steps, with so many proofs running."""
    return proofs == EVALUATIONS_TO_STOP or steps >= config.length


def first_of_final_streak(proofs: Sequence[bool]) -> int | None:
    """Return the number of the first evaluation from which the proof held to the end, None if it did not."""
    failures = [number for number, proved in enumerate(proofs) if not proved]
    first = failures[-1] + 1 if failures else 0
    return first if first < len(proofs) else None


def resumed(learner: Learner, kept: Checkpoints) -> Standing:
    """Make the learner what it was at the last checkpoint, and return how the run stood.

    Raises:
        UserError: there is no checkpoint of such a run, or the run is finished.
    """
    config, beginning = learner.config, Standing(learner.config.eval_every)
    found = kept.read(_with_standing(learner.state(), beginning))
    if found is None:
        return beginning
    counters = dict(found.counters)
    standing = Standing(**{name: counters.pop(name) for name in Standing._fields})
    try:
        learner.restore(State(found.tensors, counters), kept.settings)
    except UserError as error:
        raise UserError(f"{kept.folder}: {error}") from None
    if standing.proofs > EVALUATIONS_TO_STOP or max(standing.due, standing.evaluations) > 2 * LARGEST:
        raise UserError(f"{kept.folder}: its checkpoint is not one of such a run; start a new run")
    if kept.settings.get("stop") != config.stop:
        standing = standing._replace(proofs=0)
    elif kept.finished and standing.proofs == EVALUATIONS_TO_STOP:
        raise UserError(f"{kept.folder}: is finished: --stop {config.stop} is proved; --stop never --force goes on")
    kept.check_unfinished()
    # By force a run could be made shorter than it is, and what it was there is known no longer. It is played in
    # whole strides, so that the last one may go beyond what is wanted.
    name, wanted, played = config.length_setting, config.length, learner.steps
    counted = standing.evaluations > 0 or played == 0
    ended = kept.settings.get(name) == wanted and played < wanted + learner.stride and counted
    require(wanted > played or ended, name, f"above what has been played, {played:,}", wanted)
    kept.steps = played
    return standing


def _with_standing(state: State, standing: Standing) -> State:
    return State(state.tensors, {**standing._asdict(), **state.counters})
