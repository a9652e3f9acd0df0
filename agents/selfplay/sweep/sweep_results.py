"""The results of a sweep's runs, read from their folders."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import selfplay
from selfplay.errors import UserError
from selfplay.files import checksum_of_file, read_small
from selfplay.runs.folder import CONFIG, MODEL
from selfplay.runs.result import past_proof
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import Plan, PlannedRun, value_of

FAILURE = "failure.txt"
"""File in a run's folder that says why it failed; it is removed when the run is resumed."""
LARGEST_FAILURE = 1 << 20
"""Bytes."""
PROVED, UNPROVED, FAILED, MISSING = "proved", "no proof", "failed", "missing"
"""How a run ended; a missing one has not begun, or not ended."""


class SweepResult(NamedTuple):
    """How a run ended, and what it took up to its proof, or up to its last evaluation without one."""

    run: str
    setting: str
    seed: int
    end: str
    why: str = ""
    """Why it failed or is missing."""
    steps: int = 0
    updates: int = 0
    seconds: float = 0.0
    """Time of training."""
    all_seconds: float = 0.0
    """Time of training to the end of the run, also after its proof."""
    since_proof: int = 0
    """Evaluations from the first proof, whether or not it held."""
    not_proved: int = 0
    """Evaluations of these at which the player could be beaten."""
    all_optimal: int = 0
    """Evaluations of these at which its move was optimal in every state."""
    model_sha256: str = ""

    @property
    def failed(self) -> bool:
        """Return whether the run failed."""
        return self.end == FAILED

    def to_proof(self, kind: str) -> float:
        """Return the steps, updates or seconds to its proof, infinity without one."""
        return float(getattr(self, kind)) if self.end == PROVED else math.inf


SweepResults: TypeAlias = Mapping[str, Sequence[SweepResult]]
"""The results of a sweep by setting."""


def read(folder: Path, plan: Plan) -> SweepResults:
    """Return the results of a sweep by setting, in the order of its runs; those of a search with the best one first.

    The runs of a search are those whose folders exist.
    """
    runs = runs_of_search(folder, plan) if plan.search else plans.all_runs(plan)
    results: dict[str, list[SweepResult]] = {}
    for run in runs:
        results.setdefault(run.setting, []).append(read_result(folder / run.name, run))
    return best_first(results, plan.objective) if plan.search else results


def runs_of_search(folder: Path, plan: Plan) -> list[PlannedRun]:
    """Return the runs of a search that have begun, in the order of their seeds."""
    varied = [name for name, _ in plans.pairs(plan, "vary")]
    runs = []
    for path in sorted(folder.glob(f"*/{CONFIG}")):
        config = selfplay.open(path.parent).config
        values = {name: value_of(config, name) for name in varied}
        runs.append(plans.make_run(plan, values, config.seed))
    return sorted(runs, key=lambda run: run.config.seed)


def best_first(results: SweepResults, objective: str) -> SweepResults:
    """Return the settings sorted: those with the most proved seeds first, and of these those with the lowest mean."""

    def order(setting: str) -> tuple[int, float]:
        proved = [result.to_proof(objective) for result in results[setting] if result.end == PROVED]
        return -len(proved), sum(proved) / max(len(proved), 1)

    return {setting: results[setting] for setting in sorted(results, key=order)}


def read_result(folder: Path, run: PlannedRun) -> SweepResult:
    """Return the result of the run in a folder. A file that cannot be read makes it a failed run."""
    result = SweepResult(run.name, run.setting, run.config.seed, MISSING, "it has not begun")
    try:
        if (folder / CONFIG).exists():
            result = _result_of_begun(folder, result)
        if (folder / FAILURE).exists():
            why = read_small(folder / FAILURE, LARGEST_FAILURE).decode(errors="replace")
            result = result._replace(end=FAILED, why=why.strip().rpartition("\n")[2])  # below a traceback
    except (UserError, OSError) as error:
        result = result._replace(end=FAILED, why=str(error))
    return result


def _result_of_begun(folder: Path, result: SweepResult) -> SweepResult:
    """Return the result of a run that has begun.

    Raises:
        UserError: its folder cannot be read.
    """
    run = selfplay.open(folder)
    proved_from = run.proved_from
    if run.interrupted:
        result = result._replace(why="it has not ended")
    elif proved_from is None:
        result = result._replace(end=UNPROVED, why="")
    else:
        result = result._replace(end=PROVED, why="")
    if (folder / MODEL).exists():
        result = result._replace(model_sha256=checksum_of_file(folder / MODEL))
    if not run.records:
        return result
    last = run.records[-1]
    counted = last if run.interrupted or proved_from is None else proved_from
    since_proof = past_proof(run.records)
    return result._replace(
        steps=counted.steps,
        updates=int(counted.metrics.get("time/updates", 0)),
        seconds=counted.metrics["time/training_s"],
        all_seconds=last.metrics["time/training_s"],
        since_proof=len(since_proof),
        not_proved=sum(not record.verdict.unexploitable for record in since_proof),
        all_optimal=sum(record.metrics.get("eval/optimal_fraction") == 1 for record in since_proof),
    )


def survival_data(results: Sequence[SweepResult], kind: str) -> tuple[list[float], list[bool]]:
    """Return the steps, updates or seconds for which each run of a setting was followed, and whether to its proof.

    A failed run is never proved, so it counts as if it had run as long as the longest one.
    """
    followed = [float(getattr(result, kind)) for result in results]
    longest = max(followed)
    for number, result in enumerate(results):
        if result.failed:
            followed[number] = longest
    return followed, [result.end == PROVED for result in results]
