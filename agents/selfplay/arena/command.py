"""Let players meet: `selfplay arena PLAYER PLAYER ...`. Everybody meets everybody, and itself, in both seats."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selfplay.algorithms import SHIPPED
from selfplay.command_line import parse, say
from selfplay.errors import UserError, one_line
from selfplay.players import NamedPolicy, Perspective, check_not_searched, resolve, run_folder
from selfplay.program import open_console
from selfplay.settings import Count, Seed
from selfplay.training import folder as run_folders
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS

ANCHOR = "random"


@dataclass(frozen=True)
class ArenaConfig:
    """Let every player meet every other, and itself, in both seats."""

    players: tuple[str, ...] = field(default=(), metadata={"positional": "PLAYER ..."})
    """Run folders of one board, shipped, any of random, heuristic, rule and optimal, and agents of your own as
    module:name; where none of them has a board of its own they play 3,3,3."""
    out: Path | None = None
    """New folder for the results; by default runs/arena-BOARD-TIME."""
    games: Count = 10_000
    """Games to sample in each pairing that cannot be followed exactly: of a run with a built-in opponent, or of two
    such opponents, on a board of more than 16 cells."""
    perspective: Perspective = "absolute"
    """Planes that agents of your own are shown: X and O, as the environment has them, or mine and theirs."""
    seed: Seed = 0
    """Seed of the sampled games and of the ratings' intervals."""

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise UserError(
                f"an arena needs at least two players, got {len(self.players)}: selfplay arena runs/NAME random"
            )


def main(args: Sequence[str], prog: str = "selfplay arena") -> None:
    """Play, rate, print the tables and leave a folder with everything behind."""
    config = parse(ArenaConfig, args, prog)
    import torch
    from rich.progress import Progress

    from selfplay.arena.matches import round_robin
    from selfplay.arena.ratings import rate
    from selfplay.arena.tables import RATINGS, RESULTS, SCORES, print_tables, write

    torch.set_num_threads(1)  # on networks this small more threads only wait for each other
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
        # Saved before anything more is shown, which may fail: the reader of it can be gone by now.
        write(folder, rules, anchor, results, ratings)
    print_tables(console, results, ratings, anchor)
    say(f"\n{folder} holds {RESULTS}, {RATINGS}, {SCORES} and TensorBoard's events.")


def enter(names: Sequence[str], perspective: Perspective) -> list[NamedPolicy]:
    """Return the players, under short names.

    Raises:
        UserError: one is unknown, given twice, of another board than the rest, or not able to play this board.
    """
    places: dict[object, str] = {}
    folders = {name: run_folder(name) for name in names}
    for name in names:
        folder = folders[name]
        place = folder.resolve() if folder else name
        if place in places:
            raise UserError(f"{name}: {places[place]} is there already and also meets itself, so give it once")
        places[place] = name
    players: dict[str, NamedPolicy] = {}
    rules = Rules()
    # Those without a board play that of the others: first come runs, then agents of the user, then built-in opponents.
    for name in sorted(names, key=lambda name: (folders[name] is None, name in OPPONENTS)):
        folder = folders[name]  # whose whole path is no name of a module, should it vanish now
        players[name] = resolve(str(folder.absolute()) if folder else name, perspective, rules)
        board = players[name].rules
        if len(players) > 1 and board != rules:
            raise UserError(f"{name} plays {board}, but {next(iter(players))} plays {rules}: give players of one board")
        rules = board
        check_not_searched(players[name], "an arena; leave it out")
    return [players[name]._replace(name=short) for name, short in zip(names, short_names(names), strict=True)]


def short_names(names: Sequence[str]) -> list[str]:
    """Return the last part of each path, or all of it where another player or a built-in opponent has the same."""
    folders = {name: run_folder(name) for name in names if name != SHIPPED}
    short = [folder.resolve().name if (folder := folders.get(name)) else name for name in names]
    return [
        one_line(brief if short.count(brief) == 1 and brief not in OPPONENTS else name)
        for brief, name in zip(short, names, strict=True)
    ]
