"""The results of a sweep's runs, from the state of the sweep and the folders of its runs."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from selfplay.errors import UserError, one_line
from selfplay.files import checksum_of_file
from selfplay.learning.api import Config
from selfplay.learning.folder import METRICS, MODEL
from selfplay.learning.loop import first_of_final_streak, proves
from selfplay.learning.metrics import Metrics, metrics_evaluation, read_metrics
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import UNPROVED_PENALTY, Run
from selfplay.sweep.state import Sweep

PROVED, UNPROVED, FAILED, DROPPED, MISSING = "proved", "no proof", "failed", "dropped", "missing"
"""How a run ended; a missing one has not, or its folder is gone."""


class Outcome(NamedTuple):
    """Hold the evaluations of a run, and the first from which the proof held to the end."""

    unit: str
    """Unit of steps, plies or games."""
    lines: Sequence[Metrics]
    """Lines of metrics.jsonl."""
    first: int | None = None
    """Number of the first line from which the proof held; None without a proof at the end."""

    def amount(self, kind: str) -> float:
        """Return the steps, updates or seconds of training to the proof, or to the end without one."""
        tag = {"steps": self.unit, "updates": "time/updates", "seconds": "time/training_s"}[kind]
        return self.lines[-1 if self.first is None else self.first].get(tag, 0) if self.lines else 0


class Result(NamedTuple):
    """Hold a run of a sweep and its result."""

    run: Run
    end: str
    why: str
    outcome: Outcome
    model: str
    """SHA-256 of its model, empty without one."""

    @property
    def counts(self) -> bool:
        """Tell whether shares and means count this run: it was not dropped and is not missing."""
        return self.end in (PROVED, UNPROVED, FAILED)

    def to_proof(self, kind: str) -> float:
        """Return the steps, updates or seconds to its proof, infinity without one."""
        return self.outcome.amount(kind) if self.end == PROVED else math.inf


Results: TypeAlias = Mapping[str, Sequence[Result]]
"""The results of a sweep by setting."""


def read(sweep: Sweep) -> Results:
    """Return the results of a sweep by setting, in the order of its runs; those of a search with the best one first."""
    results = {setting: [_result(sweep, run) for run in runs] for setting, runs in sweep.settings().items()}
    return best_first(results, sweep.plan.objective) if sweep.plan.search else results


def best_first(results: Results, objective: str) -> Results:
    """Return the settings sorted: those with the most proved seeds first, and among these the least mean first."""

    def order(setting: tuple[str, Sequence[Result]]) -> tuple[int, float]:
        proved = [result.to_proof(objective) for result in setting[1] if result.end == PROVED]
        return -len(proved), sum(proved) / max(len(proved), 1)

    return dict(sorted(results.items(), key=order))


def read_outcome(folder: Path, config: Config) -> Outcome:
    """Return the outcome of a run; a run that has recorded nothing has no lines.

    Raises:
        UserError: its metrics.jsonl cannot be read.
    """
    path = folder / METRICS
    lines = [*read_metrics(path, config.unit)] if path.exists() else []
    stop = "unbeatable" if config.stop == "never" else config.stop
    try:
        proofs = [proves(metrics_evaluation(line, config.rules), stop) for line in lines]
    except ValueError as error:  # of a board that is not solved
        raise UserError(f"{path}: is not what this run writes ({error}); restore it") from None
    return Outcome(config.unit, lines, first_of_final_streak(proofs))


def objective(outcome: Outcome, kind: str) -> float:
    """Return what a search minimizes; `kind` is steps or updates.

    Every run with a proof is below all without, which are ordered by their length.
    """
    return outcome.amount(kind) + (UNPROVED_PENALTY if outcome.first is None else 0.0)


def survival_data(results: Sequence[Result], kind: str) -> tuple[list[float], list[bool]]:
    """Return for each run of a setting the steps, updates or seconds it was followed, and whether to its proof.

    A failed run is never proved, so it counts as if it had run as long as the longest one.
    """
    amounts = [(result.end, result.outcome.amount(kind)) for result in results if result.end != DROPPED]
    longest = max((amount for _, amount in amounts), default=0)
    return [longest if end == FAILED else amount for end, amount in amounts], [end == PROVED for end, _ in amounts]


def _result(sweep: Sweep, run: Run) -> Result:
    """Return the result of a run; a file of it that cannot be read makes it a failed one."""
    folder, outcome, model = sweep.folder / run.name, Outcome(sweep.plan.unit, []), ""
    end, why = run.state if run.state in (FAILED, DROPPED) else MISSING, run.why
    try:
        outcome = read_outcome(folder, plans.config_of(sweep.plan, run.values, run.seed))
        model = checksum_of_file(folder / MODEL) if run.state in ("done", "failed") else ""
    except UserError as error:
        end, why = FAILED, run.why or str(error)
    except OSError:  # it has no model
        pass
    if run.state == "done" and outcome.lines:
        end = UNPROVED if outcome.first is None else PROVED
    elif end == MISSING:
        ended = "it has ended, but its folder holds no evaluation"
        why = ended if run.state == "done" else "it has not ended; selfplay sweep --resume goes on with it"
    return Result(run, end, one_line(why.replace(f"{sweep.folder}/", "")), outcome, model)
