"""The comparison of ordinary runs: the settings in which they differ, and their results."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from selfplay.runs.folder import differences, in_words
from selfplay.runs.result import Run
from selfplay.settings import RunSettings, written
from selfplay.sweep.results import past_proof


class Row(NamedTuple):
    """A run in a comparison; settings and results have the same names for all runs."""

    run: str
    settings: Mapping[str, Any]
    """Those in which not all runs agree; None where its algorithm has no such setting."""
    summary: str
    """Its settings of these that are not the defaults, in words."""
    results: Mapping[str, Any]
    """None where one is not known."""


def compare(runs: Sequence[Run]) -> list[Row]:
    """Return a row for each run."""
    told_apart = [distinctive_settings(run.config) for run in runs]
    names = dict.fromkeys(name for settings in told_apart for name in settings)
    values = [
        {name: settings.get(name, getattr(run.config, name, None)) for name in names}
        for run, settings in zip(runs, told_apart, strict=True)
    ]
    differing = [name for name in names if len({written(of_run[name]) for of_run in values}) > 1]
    rows = []
    for run, own, of_run in zip(runs, told_apart, values, strict=True):
        summary = ", ".join(in_words(name, value) for name, value in own.items() if name in differing)
        rows.append(Row(run.folder.name, {name: of_run[name] for name in differing}, summary, results(run)))
    return rows


def distinctive_settings(config: RunSettings) -> dict[str, Any]:
    """Return the algorithm, board and seed of a run, and its settings that are not the defaults."""
    board = str(config.rules).replace(",", "x")
    return {"algorithm": config.algorithm, "board": board, "seed": config.seed} | differences(config)


def results(run: Run) -> dict[str, Any]:
    """Return the results of a run: those of its last evaluation, named as in a verdict, and how it came there."""
    last = run.records[-1] if run.records else None
    since_proof = past_proof(run.records)
    return {
        "finished": not run.interrupted,
        "unbeatable": last and last.verdict.unbeatable,
        "ways_to_beat": last.verdict.ways_to_beat if last and last.verdict.complete else None,
        "first.loss": last and last.verdict.first.loss,
        "second.loss": last and last.verdict.second.loss,
        "optimal_fraction": last and last.verdict.optimal_fraction,
        "first_proof": since_proof[0].steps if since_proof else None,
        "lapses": last and last.lapses,
        "steps": last and last.steps,
        "updates": last and last.metrics.get("time/updates"),
        "seconds": last and last.metrics["time/training_s"],
    }
