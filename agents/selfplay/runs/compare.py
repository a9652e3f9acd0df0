"""The comparison of ordinary runs: the settings in which they differ, and their results."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from selfplay.runs.folder import TIME, differences, in_words, stem, written
from selfplay.runs.result import Run, past_proof
from selfplay.settings import RunSettings


class Row(NamedTuple):
    """A run in a comparison; settings and results have the same names for all runs."""

    run: str
    """The name of its folder."""
    short: str
    """That name without the settings that it was made of, which `summary` has too."""
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
        settings, name = {name: of_run[name] for name in differing}, run.folder.name
        rows.append(Row(name, short_name(name, run.config), settings, summary, results(run)))
    return rows


def short_name(name: str, config: RunSettings) -> str:
    """Return the name of a run's folder or, where it was made of the settings and the time, only the time."""
    rest = name.removeprefix(f"{stem(config)}-")
    return rest if re.match(TIME, rest) else name


def distinctive_settings(config: RunSettings) -> dict[str, Any]:
    """Return the algorithm, board and seed of a run, and its settings that are not the defaults."""
    board = str(config.rules).replace(",", "x")
    return {"algorithm": config.algorithm, "board": board, "seed": config.seed} | differences(config)


def results(run: Run) -> dict[str, Any]:
    """Return the results of a run: the verdict of the player that it kept, and how it came there.

    `first_proof` is the plies or games to the first evaluation that proved it, and `lapses` the later ones in which it
    could be beaten; `steps`, `updates` and `seconds` are of the whole training.
    """
    last = run.records[-1] if run.records else None
    verdict = run.verdict if run.records else None
    since_proof = past_proof(run.records)
    return {
        "finished": not run.interrupted,
        "unbeatable": verdict and verdict.unbeatable,
        "ways_to_beat": verdict.ways_to_beat if verdict and verdict.complete else None,
        "first.loss": verdict and verdict.first.loss,
        "second.loss": verdict and verdict.second.loss,
        "optimal_fraction": verdict and verdict.optimal_fraction,
        "first_proof": since_proof[0].steps if since_proof else None,
        "lapses": last and last.lapses,
        "steps": last and last.steps,
        "updates": last and last.metrics.get("time/updates"),
        "seconds": last and last.metrics["time/training_s"],
    }
