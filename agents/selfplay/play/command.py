"""Play against a player: `selfplay play [PLAYER]`."""

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from selfplay import players
from selfplay.algorithms import SHIPPED
from selfplay.command_line import parse
from selfplay.players import Perspective
from selfplay.settings import Seed, board, require
from tictactoe.opponents import OPPONENTS

if TYPE_CHECKING:
    from selfplay.play.opponent import Opponent

BOARD_FLAGS = ("rows", "cols", "k")


@dataclass(frozen=True)
class PlayConfig:
    """Play in the terminal. 0 or q quits, and so does the end of input; Ctrl-C quits with exit status 130."""

    opponent: str = field(default=SHIPPED, metadata={"positional": "PLAYER"})
    """The folder of a run, shipped (the proved player of this package), optimal, rule (wins, else blocks, else moves to
    where the most and fullest open lines cross), heuristic (wins, else blocks, else moves at random), random, or
    module:name of an agent of your own."""
    seat: Literal["alternate", "first", "second"] = "alternate"
    """Your seat: "alternate" is first in the first game and changes after each."""
    hints: bool = False
    """Show before each of your moves what every free square is worth to you."""
    seed: Seed | None = None
    """Seed of what an opponent draws; None makes each session another."""
    perspective: Perspective = "absolute"
    """Planes that an agent of your own is shown: X and O, as the environment has them, or mine and theirs."""
    rows: int | None = None
    """Board height of an opponent that has no board of its own, cells; None is 3."""
    cols: int | None = None
    """Board width of such an opponent, cells; None is 3."""
    k: int | None = None
    """Marks in a row that win against such an opponent; None is 3."""


def main(args: Sequence[str], prog: str = "selfplay play") -> None:
    """Play games until the person quits."""
    config = parse(PlayConfig, args, prog)
    from selfplay.play.dialogue import Quit, play_games

    opponent = choose_opponent(config)
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what is no text is no square either, and a reason to ask again
    try:
        play_games(opponent, config.seat, config.hints)
    except Quit:
        print("Goodbye.")


def choose_opponent(config: PlayConfig) -> "Opponent":
    """Return the opponent that the flags name.

    Raises:
        UserError: there is none, or the flags do not suit it.
    """
    from selfplay.play.opponent import built_in, own, trained

    sizes = {name: getattr(config, name) for name in BOARD_FLAGS if getattr(config, name) is not None}
    rules = board(*(sizes.get(name, 3) for name in BOARD_FLAGS))
    if config.opponent in OPPONENTS:
        return built_in(config.opponent, rules, config.seed)
    named = players.resolve(config.opponent, config.perspective, rules)
    opponent = own(named.name, named.policy, config.seed) if named.player is None else trained(named.name, named.player)
    for name, value in sizes.items():
        require(value == getattr(opponent.rules, name), name, f"that of {opponent.name}, {opponent.rules}", value)
    return opponent
