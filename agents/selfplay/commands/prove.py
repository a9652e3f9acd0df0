"""Prove what a player is: `selfplay prove PLAYER`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from selfplay.checks import GIGABYTE, check_counts, machine_bytes, require
from selfplay.commands import players
from selfplay.commands.command_line import parse, say
from selfplay.commands.players import Perspective
from selfplay.errors import UserError
from tictactoe import Rules
from tictactoe.drawing.text import MARKS
from tictactoe.opponents import OPPONENTS
from tictactoe.rules import WORD_BITS
from tictactoe.tree import SOLVABLE_CELLS

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.proof.judge import Asked

POSITION_BYTES = 200
"""Of each position of a ply."""


@dataclass(frozen=True)
class ProveConfig:
    """Evaluate a player exactly: every legal reply is followed, and nothing is sampled."""

    player: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PLAYER")]
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
    positions: int = 10_000_000
    """Above 16 cells: distinct positions that the player is followed to at each ply, at most; these take 2 GB."""


def check_room(positions: int, rules: Rules) -> None:
    """Refuse to follow more positions than memory holds, for which a system would end the program in the midst.

    Raises:
        UserError: there may be more, or the board is too large to follow any.
    """
    cells = rules.cells
    if cells > WORD_BITS:
        raise UserError(f"{rules} has {cells} cells: a player can be followed on boards of up to {WORD_BITS}")
    there = machine_bytes()
    if cells > SOLVABLE_CELLS and there is not None:
        most = there // POSITION_BYTES
        require(
            positions <= most,
            "positions",
            f"at most {most:,}, for which {there / GIGABYTE:,.0f} GB of memory are enough",
            positions,
        )


def asked(name: str, perspective: str, rules: Rules) -> "tuple[Asked, Player | None]":
    """Return who is to be judged, a built-in opponent on the board of `rules`; as itself, if it is a player of ours.

    Raises:
        UserError: there is none of this name, or it cannot play this board.
    """
    if name not in OPPONENTS:
        return players.find(name, perspective, rules, also=OPPONENTS)
    if name == "optimal" and rules.cells > SOLVABLE_CELLS:
        raise UserError(
            f"optimal: has to search each position on a board of over {SOLVABLE_CELLS} cells, which takes too long for "
            f"a proof, and {rules} has {rules.cells}"
        )
    from selfplay.proof.built_in import BuiltIn

    return BuiltIn(OPPONENTS[name], rules), None


def main(args: Sequence[str], prog: str = "selfplay prove") -> None:
    """Print the exact evaluation of a player, and the shortest games that beat it or else one against itself."""
    config = parse(ProveConfig, args, prog)
    check_counts(config, "positions")
    from rich.console import Console

    from selfplay.proof.games import telling_games
    from selfplay.proof.reach import assess
    from selfplay.proof.report import evaluation_table, verdict

    otherwise = players.board(config.rows, config.cols, config.k)
    judge, player = asked(config.player, config.perspective, otherwise)
    check_room(config.positions, judge.rules)
    console = Console()
    with console.status("following every legal reply") as status:

        def report(seat: int, ply: int, positions: int) -> None:
            status.update(f"as {MARKS[seat]}: ply {ply + 1} of {judge.rules.cells}, {positions:,} positions")

        evaluation = assess(judge, every_state=True, positions=config.positions, report=report)
    if games := telling_games(judge, player, evaluation, console.width):
        print(games)
    console.print(evaluation_table(evaluation))
    say(verdict(evaluation))
