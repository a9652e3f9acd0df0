"""Prove what a player is: `selfplay prove PLAYER`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import tyro

from selfplay.checks import GIGABYTE, check_counts, machine_bytes, require
from selfplay.commands import players
from selfplay.commands.command_line import parse, say
from selfplay.commands.players import Perspective
from tictactoe.tree import SOLVABLE_CELLS

POSITION_BYTES = 200
"""Of each position that is followed, at the widest ply."""


@dataclass(frozen=True)
class ProveConfig:
    """Evaluate a player exactly: every legal reply is followed, and nothing is sampled."""

    player: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PLAYER")]
    """The folder of a run, shipped (the proved player of this package), or module:name of an agent of your own: an
    object with act(observation) or probabilities(observation), or a function of one observation."""
    perspective: Perspective = "absolute"
    """Planes that an agent of your own is shown: X and O, as the environment has them, or mine and theirs."""
    rows: int = 3
    """Board height for an agent of your own that has no `rules`, cells."""
    cols: int = 3
    """Board width for such an agent, cells."""
    k: int = 3
    """Marks in a row that win, for such an agent."""
    positions: int = 10_000_000
    """Above 16 cells: distinct positions that the player is followed to in each seat, at most; these take 2 GB."""


def check_room(positions: int, cells: int) -> None:
    """Refuse to follow more positions than memory holds, for which a system would end the program in the midst.

    Raises:
        UserError: there may be more.
    """
    there = machine_bytes()
    if cells > SOLVABLE_CELLS and there is not None:
        most = there // POSITION_BYTES
        require(
            positions <= most,
            "positions",
            f"at most {most:,}, for which {there / GIGABYTE:,.0f} GB of memory are enough",
            positions,
        )


def main(args: Sequence[str], prog: str = "selfplay prove") -> None:
    """Print the exact evaluation of a player, and the shortest games that beat it or else one against itself."""
    config = parse(ProveConfig, args, prog)
    check_counts(config, "positions")
    from rich.console import Console

    from selfplay.proof.games import telling_games
    from selfplay.proof.reach import assess
    from selfplay.proof.report import evaluation_table, verdict

    otherwise = players.board(config.rows, config.cols, config.k)
    judge, player = players.find(config.player, config.perspective, otherwise)
    check_room(config.positions, judge.rules.cells)
    console = Console()
    evaluation = assess(judge, every_state=True, positions=config.positions)
    if games := telling_games(judge, player, evaluation, console.width):
        print(games)
    console.print(evaluation_table(evaluation))
    say(verdict(evaluation))
