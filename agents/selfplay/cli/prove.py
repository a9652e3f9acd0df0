"""Evaluate a player exactly: `selfplay prove PLAYER`."""

from collections.abc import Sequence
from dataclasses import dataclass

from selfplay.cli.flags import parse, say, show_verdict
from selfplay.judging.evaluate import evaluate_policy
from selfplay.judging.games import example_games
from selfplay.learning.folder import read_config
from selfplay.players import REPAIRED, EvaluatedPlayer, following
from selfplay.program import open_console


@dataclass(frozen=True)
class ProveConfig(EvaluatedPlayer):
    """Evaluate a player exactly: every legal reply is followed, and nothing is sampled.

    The number of ways to beat it is its distance to a proof. What ranks players is how often they lose to uniformly
    random play.
    """


def main(args: Sequence[str], prog: str = "selfplay prove") -> None:
    """Print the exact evaluation of a player, and the shortest games that beat it, or else a game with itself."""
    config = parse(ProveConfig, args, prog)
    named = config.resolve()
    with following(named.rules) as report:
        verdict = evaluate_policy(named.policy, every_state=True, positions=config.positions, report=report)
    notes = []
    if named.folder is None and named.rules != config.rules:
        notes.append(f"It was judged on the board that it brings, {named.rules}.")
    if named.folder is not None:
        repair = read_config(named.folder).get(REPAIRED)
        if isinstance(repair, str):
            notes.append(f"It was repaired after its training: {repair}.")
    show_verdict(verdict, *notes)
    games = example_games(named.policy, named.player, verdict, open_console().width)
    if games:
        say(f"\n{games}")
