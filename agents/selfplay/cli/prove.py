"""Evaluate players exactly: `selfplay prove PLAYER`."""

import contextlib
import csv
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Literal

from tyro.conf import Positional

from selfplay.cli.flags import parse, show_evaluation
from selfplay.errors import UserError
from selfplay.files import checksum_of_file
from selfplay.judge.evaluate import BOTH_SEATS, Evaluation, evaluate_policy
from selfplay.judge.progress import EvaluationProgress
from selfplay.judge.verdict import Verdict
from selfplay.named_players import EvaluatedPlayer, NamedPolicy, print_to_stderr, progress_spinner
from selfplay.program import say
from selfplay.runs.folder import MODEL
from selfplay.runs.screen import verdict_style
from selfplay.settings import SettingsError, checked
from selfplay.verdict_text import verdict_text

PARTS = ("tictactoe-selfplay", "numpy", "torch")
"""Distributions on whose versions a verdict may depend."""


@checked
class ProveConfig(EvaluatedPlayer):
    """Evaluate a player exactly: every legal reply is followed, and nothing is sampled.

    A proof needs 0 ways to beat it. What ranks players is how often they lose to uniformly
    random play.
    """

    others: Positional[tuple[str, ...]] = ()
    """More players, with --csv."""
    every_state: bool = True
    """Look at all positions of a board of up to 16 cells. --no-every-state follows only the player's own play: it then
    asks a slow agent far less often, and does not find out whether it is optimal."""
    seat: Literal["first", "second"] | None = None
    """Judge only this seat, for a player that plays no other. Default: both."""
    ask_again: bool = True
    """Ask again about every position of its own play before it is called unbeatable. --no-ask-again leaves that out,
    which a slow agent may need, and proves nothing."""
    json: bool = False
    """Print the verdict as one JSON object, and nothing else."""
    csv: bool = False
    """Print a table with a row for each player as CSV, and nothing else."""

    def __post_init__(self) -> None:
        if self.json and self.csv:
            raise SettingsError("`json` and `csv` are two forms of the same: choose one")
        if self.others and not self.csv:
            raise UserError(f"{self.others[0]}: is a second player; add --csv to compare players")


def main(args: Sequence[str], prog: str = "selfplay prove") -> None:
    """Print the exact evaluation of a player, and the shortest games that beat it, or else a game with itself."""
    config = parse(ProveConfig, args, prog)
    if config.json or config.csv:
        print_for_programs(config)
        return
    with progress_spinner() as progress:
        named = config.resolve(progress)
        evaluation = evaluate(named, config)
    said = [verdict_text(evaluation.verdict)]
    if named.folder is None and named.rules != config.rules:
        said.append(f"It was judged on the board that it brings, {named.rules}.")
    say("\n".join(said), verdict_style(evaluation.verdict))
    show_evaluation(evaluation, named.player)


def print_for_programs(config: ProveConfig) -> None:
    """Print the evaluation of each player as JSON or CSV; all else goes to stderr."""
    with contextlib.redirect_stdout(sys.stderr):  # a custom agent may print
        progress = EvaluationProgress(print_to_stderr)
        players = [replace(config, player=name).resolve(progress) for name in (config.player, *config.others)]
        results = [describe(named, evaluate(named, config).verdict) for named in players]
    if config.json:
        print(json.dumps(results[0], indent=2, allow_nan=False))
    else:
        rows = [flat(result) for result in results]
        csv.writer(sys.stdout, lineterminator="\n").writerows([rows[0], *(row.values() for row in rows)])


def evaluate(named: NamedPolicy, config: ProveConfig) -> Evaluation:
    """Return the exact evaluation of a player."""
    seats = BOTH_SEATS if config.seat is None else (("first", "second").index(config.seat),)
    return evaluate_policy(named.policy, config.every_state, config.positions, seats, config.ask_again)


def describe(named: NamedPolicy, verdict: Verdict) -> dict[str, Any]:
    """Return a verdict, whose it is and what computed it, ready for JSON; `Verdict.to_dict` describes each part."""
    return {
        "player": named.name,
        **verdict.to_dict(),
        "model_sha256": None if named.folder is None else checksum_of_file(named.folder / MODEL),
        "versions": {"python": platform.python_version(), **{part: version(part) for part in PARTS}},
    }


def flat(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description as the fields of a row, with names such as `first.loss`."""
    row: dict[str, Any] = {}
    for name, value in description.items():
        if isinstance(value, dict):
            row |= {f"{name}.{part}": each for part, each in value.items()}
        elif isinstance(value, list):
            row[name] = " ".join(value)
        else:
            row[name] = value
    return row
