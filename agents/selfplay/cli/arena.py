"""Let players meet, and rate them: `selfplay arena PLAYER PLAYER ...`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selfplay.cli.flags import parse, say
from selfplay.errors import UserError, one_line
from selfplay.learning import folder as run_folders
from selfplay.learning.api import SHIPPED
from selfplay.players import NamedPolicy, Perspective, check_not_searched, resolve, run_folder
from selfplay.program import open_console
from selfplay.settings import Count, Seed
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS

ANCHOR = "random"


@dataclass(frozen=True)
class ArenaConfig:
    """Let each player meet each other, and itself, in both seats, and rate them."""

    players: tuple[str, ...] = field(default=(), metadata={"positional": "PLAYER ..."})
    """Run folders, shipped, built-in opponents (random, heuristic, rule, optimal), and your own agents as
    module:name. All play one board; if none of them has a board, they play 3,3,3."""
    out: Path | None = None
    """New folder for the results. Default: runs/arena-BOARD-TIME."""
    games: Count = 10_000
    """Games to sample in each pairing with a built-in opponent on a board of more than 16 cells. All other results are
    exact."""
    perspective: Perspective = "absolute"
    """Planes that your own agents see: X and O (absolute), or mine and theirs (mover)."""
    seed: Seed = 0
    """Seed of the sampled games and of the ratings' intervals."""

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise UserError(
                f"an arena needs at least two players, got {len(self.players)}: selfplay arena runs/NAME random"
            )


def main(args: Sequence[str], prog: str = "selfplay arena") -> None:
    """Play, rate, print the tables, and write everything to a folder."""
    config = parse(ArenaConfig, args, prog)
    import torch
    from rich.progress import Progress

    from selfplay.cli.arena_matches import round_robin
    from selfplay.cli.arena_ratings import rate
    from selfplay.cli.arena_tables import RATINGS, RESULTS, print_tables, write

    torch.set_num_threads(1)  # more threads only wait for each other on networks this small
    players = enter(config.players, config.perspective)
    rules = players[0].rules
    board = str(rules).replace(",", "x")
    folder = config.out or run_folders.unused(Path("runs") / f"arena-{board}-{time.strftime('%Y%m%d-%H%M%S')}")
    run_folders.create(folder, "out")
    console = open_console()
    pairings = len(players) ** 2
    about = f"{len(players)} players on {rules}, {pairings} pairings"
    anchor = ANCHOR if ANCHOR in config.players else None
    with Progress(console=console) as progress:
        played = round_robin(players, config.games, config.seed)
        results = dict(progress.track(played, pairings, description=about))
        ratings = rate(results, anchor, config.seed)
        # Saved before anything is printed: printing fails if the reader has gone.
        write(folder, anchor, results, ratings)
    print_tables(console, results, ratings, anchor)
    say(f"\n{folder} holds {RESULTS}, {RATINGS} and TensorBoard's events.")


def enter(names: Sequence[str], perspective: Perspective) -> list[NamedPolicy]:
    """Return the players, under short names.

    Raises:
        UserError: one is unknown, given twice, plays another board than the rest, or cannot play this board.
    """
    places: dict[object, str] = {}
    folders = {name: run_folder(name) for name in names}
    for name in names:
        folder = folders[name]
        place = folder.resolve() if folder else name
        if place in places:
            raise UserError(f"{name}: {places[place]} is listed already; give each player once, it also meets itself")
        places[place] = name
    players = {}
    rules = Rules()
    # Players without a board play that of the others, so runs come first, then agents of the user, then opponents.
    for name in sorted(names, key=lambda name: (folders[name] is None, name in OPPONENTS)):
        folder = folders[name]  # the whole path, which is not a module's name if the folder vanishes now
        players[name] = resolve(str(folder.absolute()) if folder else name, perspective, rules)
        board = players[name].rules
        if len(players) > 1 and board != rules:
            raise UserError(f"{name} plays {board}, but {next(iter(players))} plays {rules}: give players of one board")
        rules = board
        check_not_searched(players[name], "an arena; leave it out")
    return [players[name]._replace(name=short) for name, short in zip(names, short_names(names), strict=True)]


def short_names(names: Sequence[str]) -> list[str]:
    """Return the last part of each path, or all of it if another player or a built-in opponent has that name."""
    folders = {name: run_folder(name) for name in names if name != SHIPPED}
    short = [folder.resolve().name if (folder := folders.get(name)) else name for name in names]
    return [
        one_line(brief if short.count(brief) == 1 and brief not in OPPONENTS else name)
        for brief, name in zip(short, names, strict=True)
    ]
