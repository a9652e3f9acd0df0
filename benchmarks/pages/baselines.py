"""Figures of the learners of other libraries: docs/peers.csv and docs/peers-tuning.csv hold every evaluation."""

import ast
import csv
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from benchmarks.harness import cell, markdown
from benchmarks.peers import evaluations, report
from benchmarks.peers.evaluations import SEARCHED, Evaluation
from benchmarks.peers.tuning import RANGES, score
from selfplay.sweep.search_space import Range

Trials: TypeAlias = Mapping[str, Mapping[str, Sequence[Evaluation]]]
"""The evaluations of each trial, by player and settings."""


def figures(docs: Path) -> dict[str, str]:
    """Return the tables."""
    histories = report.runs(evaluations.read(docs / "peers.csv"))
    trials = read_trials(docs / "peers-tuning.csv")
    proofs = {
        player + SEARCHED: cell([score(history) <= 0 for history in of_player.values()])
        for player, of_player in trials.items()
    }
    return {
        "baselines.learners": report.table_of_players(histories, proofs),
        "baselines.runs": report.table_of_runs(histories),
        "baselines.settings": markdown(settings(trials)),
    }


def read_trials(path: Path) -> Trials:
    """Return the trials that `benchmarks.peers.tuning` has written; one that failed has no evaluations."""
    trials: dict[str, dict[str, list[Evaluation]]] = {}
    for _, sampled, failure, player, *fields in csv.reader(path.read_text().splitlines()[1:]):
        history = trials.setdefault(player, {}).setdefault(sampled, [])
        if not failure:
            history.append(Evaluation(player, *map(ast.literal_eval, fields)))
    return trials


def settings(trials: Trials) -> list[list[str]]:
    """Return a line per setting, with what it is sampled from and its values in the best trials."""
    best = [min(of_player, key=lambda sampled: score(of_player[sampled])) for of_player in trials.values()]
    values = [dict(word.split("=") for word in sampled.split()) for sampled in best]
    found = [["setting", "sampled from", *trials]]
    for name in dict.fromkeys(chain(*RANGES.values())):
        spaces = [ranges[name] for ranges in RANGES.values() if name in ranges]
        texts = (str(space) if isinstance(space, Range) else ", ".join(space) for space in spaces)
        found.append([f"`{name}`", "; ".join(dict.fromkeys(texts)), *(of_best.get(name, "-") for of_best in values)])
    return found
