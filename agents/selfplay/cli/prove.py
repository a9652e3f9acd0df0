"""Prove what a player is: `selfplay prove PLAYER`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from selfplay import players
from selfplay.command_line import parse, say
from selfplay.players import REPAIRED, Perspective
from selfplay.settings import Count, board
from selfplay.training.folder import read_config


@dataclass(frozen=True)
class ProveConfig:
    """Evaluate a player exactly: every legal reply is followed, and nothing is sampled."""

    player: str = field(metadata={"positional": "PLAYER"})
    """The folder of a run, shipped (the proved player of this package), a built-in opponent (random, heuristic, rule or
    optimal: each of its choices is followed), or module:name of an agent of your own: an object with act(observation)
    or probabilities(observation), or a function of one observation."""
    perspective: Perspective = "absolute"
    """Planes that an agent of your own is shown: X and O, as the environment has them, or mine and theirs."""
    rows: int = 3
    """Board height for a built-in opponent, or an agent of your own that has no `rules`, cells."""
    cols: int = 3
    """Board width for these, cells."""
    k: int = 3
    """Marks in a row that win, for these."""
    positions: Count = 10_000_000
    """Above 16 cells: distinct positions that the player is followed to at each ply, at most; these take 2 GB."""


def main(args: Sequence[str], prog: str = "selfplay prove") -> None:
    """Print the exact evaluation of a player, and the shortest games that beat it or else one against itself."""
    config = parse(ProveConfig, args, prog)
    from rich.console import Console

    from selfplay.evaluation.evaluate import evaluate_policy
    from selfplay.evaluation.games import example_games
    from selfplay.evaluation.report import verdict_table, verdict_text

    otherwise = board(config.rows, config.cols, config.k)
    named = players.resolve(config.player, config.perspective, otherwise)
    players.check_not_searched(named.name, named.rules, "a proof")
    players.check_room(config.positions, named.rules)
    console = Console()
    with players.following(console, named.rules) as report:
        evaluation = evaluate_policy(named.policy, every_state=True, positions=config.positions, report=report)
    if games := example_games(named.policy, named.player, evaluation, console.width):
        print(games)
    console.print(verdict_table(evaluation))
    say(verdict_text(evaluation))
    said = read_config(named.folder).get(REPAIRED) if named.folder else None
    if isinstance(said, str):
        say(f"It was repaired after its training: {said}.")
