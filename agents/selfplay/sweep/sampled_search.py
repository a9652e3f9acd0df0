"""A search: Optuna samples settings, and stops those whose first seeds were worse than those of others.

What it has tried is in `search.log` in the sweep's folder, a journal of Optuna in JSON.
"""

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import Trial, TrialState

from selfplay.errors import UserError
from selfplay.files import open_regular
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import Plan, PlannedRun, Range, read_value
from selfplay.sweep.sweep_results import PROVED, SweepResult

LOG = "search.log"
LARGEST_LOG = 1 << 28
"""Bytes; a setting that is tried takes about a thousand."""
UNPROVED = 1e12
"""The count of a run without a proof; more than the length of any run."""
DIGITS = 3
"""Significant digits of a number sampled from a range, so that the names of runs are short."""


class SampledSearch:
    """The runs of a search. The seeds of each setting are trained one after the other."""

    def __init__(self, plan: Plan, space: Mapping[str, Range | list[str]], folder: Path) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        log = folder / LOG
        if log.is_symlink():
            raise UserError(f"{log}: is a link to elsewhere; remove it")
        if log.exists():
            try:
                open_regular(log, LARGEST_LOG).close()  # Optuna would read it whole
            except OSError as error:
                raise UserError(f"{log}: cannot be read ({error.strerror}); restore it") from None
        self.plan = plan
        self.seeds = plans.parse_seeds(plan.seeds)
        self.space = space
        self.distributions = {name: distribution(choices) for name, choices in space.items()}
        self.study = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(log))),
            study_name="search",
            load_if_exists=True,
            pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3),
        )
        # A search that is resumed samples other settings than those it began with.
        self.study.sampler = optuna.samplers.TPESampler(seed=len(self.study.trials))
        self.trials: dict[str, tuple[Trial, dict[str, Any], list[float]]] = {}
        """For each setting that is being trained its trial, its values, and the objectives of the seeds so far."""
        self.waiting: list[PlannedRun] = []
        for trial in self.study.get_trials(states=[TrialState.RUNNING]):  # of a process that was stopped or killed
            self.study.tell(trial.number, state=TrialState.FAIL)
            self.study.enqueue_trial(trial.params)

    def next_run(self) -> PlannedRun | None:
        """Return a run to train next, None if there is none for now."""
        if self.waiting:
            return self.waiting.pop(0)
        while self._settings_tried() < self.plan.search:
            trial = self.study.ask(self.distributions)
            values = {name: sampled_value(value, self.space[name]) for name, value in trial.params.items()}
            run = plans.make_run(self.plan, values, self.seeds[0])
            if run.setting not in self.trials:
                self.trials[run.setting] = trial, values, []
                return run
            self.study.tell(trial, state=TrialState.PRUNED)  # it is being trained already
        return None

    def _settings_tried(self) -> int:
        """Return the number of settings that have been tried, or are being trained."""
        ended = self.study.get_trials(deepcopy=False, states=[TrialState.COMPLETE, TrialState.PRUNED])
        return len(ended) + len(self.trials)

    def ended(self, run: PlannedRun, result: SweepResult) -> None:
        """Note the result of a run. Its setting continues with the next seed, unless others were better."""
        trial, values, objectives = self.trials[run.setting]
        objectives.append(float(getattr(result, self.plan.objective)) if result.end == PROVED else UNPROVED)
        mean = statistics.mean(objectives)
        trial.report(mean, step=len(objectives))
        if trial.should_prune():
            self.study.tell(trial, state=TrialState.PRUNED)
            del self.trials[run.setting]
        elif len(objectives) == len(self.seeds):
            self.study.tell(trial, mean)
            del self.trials[run.setting]
        else:
            self.waiting.append(plans.make_run(self.plan, values, self.seeds[len(objectives)]))


def distribution(choices: Range | list[str]) -> CategoricalDistribution | FloatDistribution | IntDistribution:
    """Return what Optuna samples from; a range above 0 on a logarithmic scale."""
    if not isinstance(choices, Range):
        return CategoricalDistribution(choices)
    low, high = choices
    if isinstance(low, int) and isinstance(high, int):
        return IntDistribution(low, high, log=low > 0)
    return FloatDistribution(low, high, log=low > 0)


def sampled_value(sampled: Any, choices: Range | list[str]) -> Any:
    """Return the value of a setting that was sampled, a fraction rounded within its range."""
    if isinstance(sampled, str):
        return read_value(sampled)
    if isinstance(sampled, float) and isinstance(choices, Range):
        return min(max(float(f"{sampled:.{DIGITS}g}"), choices.low), choices.high)
    return sampled
