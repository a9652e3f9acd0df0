"""Let players meet: `selfplay arena PLAYER PLAYER ...`. Everybody meets everybody, and itself, in both seats."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from selfplay.checks import check_counts, check_seed
from selfplay.command_line import parse
from selfplay.errors import UserError
from selfplay.players import Perspective


@dataclass(frozen=True)
class ArenaConfig:
    """Let every player meet every other, and itself, in both seats."""

    players: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Run folders of one board, shipped, any of random, heuristic, rule and optimal, and agents of your own as
    module:name; where none of them has a board of its own they play 3,3,3."""
    out: Path | None = None
    """New folder for what comes of it; by default runs/arena-BOARD-TIME."""
    games: int = 10_000
    """Games to sample in each pairing that cannot be followed exactly: of a run with a built-in opponent, or of two
    such opponents, on a board of more than 16 cells."""
    perspective: Perspective = "absolute"
    """Planes that agents of your own are shown: X and O, as the environment has them, or mine and theirs."""
    seed: int = 0
    """Seed of the sampled games and of the ratings' intervals."""

    def __post_init__(self) -> None:
        check_counts(self, "games")
        check_seed(self)
        if len(self.players) < 2:
            raise UserError(
                f"an arena needs at least two players, got {len(self.players)}: selfplay arena runs/NAME random"
            )


def main(args: Sequence[str], prog: str = "selfplay arena") -> None:
    """Play, rate, print the tables and leave a folder with everything behind."""
    config = parse(ArenaConfig, args, prog)
    from selfplay.arena.tournament import hold

    hold(config.players, config.perspective, config.out, config.games, config.seed)
