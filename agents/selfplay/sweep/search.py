"""What a search draws from, how what it has drawn becomes settings, and what it knows already. Optuna does the rest."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import optuna
from ray.tune.search.optuna import OptunaSearch

from selfplay.errors import UserError
from selfplay.sweep import plan as plans
from selfplay.sweep.ranges import Range, distribution
from selfplay.sweep.record import Row, Sweep


class Known(NamedTuple):
    """Hold what earlier processes of a search have drawn, by the name of a setting and its words."""

    ended: list[tuple[dict[str, Any], float]]
    """With its mean objective."""
    begun: list[dict[str, Any]]
    """To be gone on with."""


def distributions(plan: plans.Plan) -> dict[str, Any]:
    """Return what Optuna draws from; words of a list stand for its values, which may be anything."""
    return {
        name: distribution(values if isinstance(values, Range) else [plans.text(value) for value in values])
        for name, values in plan.vary.items()
    }


def values(plan: plans.Plan, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that were drawn, numbers of a range with few digits."""
    found = {}
    for name, value in drawn.items():
        among = plan.vary[name]
        found[name] = (
            among.rounded(value)
            if isinstance(among, Range)
            else next(each for each in among if plans.text(each) == value)
        )
    return found


def drawn(plan: plans.Plan, values_of: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Optuna would have drawn for these settings."""
    return {
        name: value if isinstance(plan.vary[name], Range) else plans.text(value) for name, value in values_of.items()
    }


def known(sweep: Sweep) -> Known:
    """Return what a sweep's record and its runs' folders say of the settings that were drawn."""
    settings: dict[str, list[Row]] = {}
    for row in sweep.rows:
        settings.setdefault(json.dumps(row.values), []).append(row)
    found = Known([], [])
    for rows in settings.values():
        point = drawn(sweep.plan, rows[0].values)
        if all(row.state in ("done", "failed", "dropped") for row in rows):
            trained = [objective(sweep, row) for row in rows if row.state != "dropped"]
            found.ended.append((point, sum(trained) / len(trained)))
        else:
            found.begun.append(point)
    return found


def objective(sweep: Sweep, row: Row) -> float:
    """Return the objective of a run that has ended."""
    from selfplay.sweep import outcome as outcomes

    try:
        config = plans.config_of(sweep.plan, row.values, row.seed)
        outcome = None if row.state == "failed" else outcomes.read(sweep.place / row.name, config)
    except UserError:
        outcome = None
    return outcomes.objective(outcome, sweep.plan.objective)


def searcher(sweep: Sweep, already: Known, metric: str) -> OptunaSearch:
    """Return Optuna's search, which goes on with what was begun and knows what has ended."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = distributions(sweep.plan)
    drawn_so_far = len(already.ended) + len(already.begun)
    # A seed of its own for each process that goes on, or it would draw again what the first has drawn.
    search = Search(space, metric=metric, mode="min", points_to_evaluate=already.begun or None, seed=drawn_so_far)
    for point, value in already.ended:
        search.add_evaluated_point(point, value)
    return search


class Search(OptunaSearch):
    """Keep what is drawn apart from the rest of a worker's configuration."""

    def suggest(self, trial_id: str) -> dict[str, Any] | None:
        """Return what is drawn next."""
        found = super().suggest(trial_id)
        return None if found is None else {"drawn": found}
