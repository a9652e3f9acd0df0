"""Let players meet, and show every result: `selfplay arena PLAYER PLAYER ...`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.cli.flags import parse, say
from selfplay.errors import UserError
from selfplay.files import write_csv
from selfplay.learning import folder as run_folders
from selfplay.players import NamedPolicy, Perspective, check_not_searched, resolve, run_folder
from selfplay.program import open_console
from selfplay.settings import Count, Seed
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS

if TYPE_CHECKING:
    from rich.table import Table

    from selfplay.cli.arena_matches import Result

RESULTS = "results.csv"
FIELDS = ("first", "second", "win", "draw", "loss", "illegal_by_first", "illegal_by_second", "games")


@dataclass(frozen=True)
class ArenaConfig:
    """Let each player meet each other, and itself, in both seats."""

    players: tuple[str, ...]
    """Run folders, shipped, built-in opponents such as random and optimal, and your own agents as module:name. All play
    one board; if none of them has a board, they play 3,3,3."""
    out: Path | None = None
    """New folder for the results. Default: runs/arena-BOARD-TIME."""
    games: Count = 10_000
    """Games to sample in each pairing with a built-in opponent on a board of more than 16 cells. All other results are
    exact."""
    perspective: Perspective = "absolute"
    """Planes that your own agents see: X and O (absolute), or mine and theirs (mover)."""
    seed: Seed = 0
    """Seed of the sampled games."""

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            example = "selfplay arena runs/NAME random"
            raise UserError(f"an arena needs at least two players, got {len(self.players)}: {example}")
        for name in self.players:
            if self.players.count(name) > 1:
                raise UserError(f"{name}: is listed twice; give each player once, it also meets itself")


def main(args: Sequence[str], prog: str = "selfplay arena") -> None:
    """Play every pairing, write the results to a folder, and print them."""
    config = parse(ArenaConfig, args, prog)
    import torch
    from rich.progress import track

    from selfplay.cli.arena_matches import round_robin

    torch.set_num_threads(1)  # more threads only wait for each other on networks this small
    players = enter(config.players, config.perspective)
    rules = next(iter(players.values())).rules
    folder = config.out or default_folder(rules)
    run_folders.create(folder, "out")
    policies = {name: player.policy for name, player in players.items()}
    played = track(
        round_robin(rules, policies, config.games, config.seed),
        f"{len(players)} players on {rules}",
        total=len(players) ** 2,
        console=open_console(),
    )
    results = {(first, second): result for first, second, result in played}
    write_csv(folder / RESULTS, [FIELDS, *(csv_line(*names, result) for names, result in results.items())])
    open_console().print(table(results))
    say(f"{note(results)}\n\n{folder / RESULTS} holds all digits.")


def enter(names: Sequence[str], perspective: Perspective) -> dict[str, NamedPolicy]:
    """Return the players by name, in the order of the names.

    Raises:
        UserError: one is unknown, plays on another board than the rest, or cannot play on this board.
    """
    players: dict[str, NamedPolicy] = {}
    rules = Rules()
    for name in sorted(names, key=how_free):
        player = resolve(name, perspective, rules)
        if players and player.rules != rules:
            first = next(iter(players))
            raise UserError(f"{name} plays {player.rules}, but {first} plays {rules}: give players of one board")
        rules = player.rules
        check_not_searched(player, "an arena; leave it out")
        players[name] = player
    return {name: players[name] for name in names}


def how_free(name: str) -> int:
    """Return 0 for a run, which has a board, 1 for a user's own agent, which may have one, and 2 for an opponent."""
    if name in OPPONENTS:
        return 2
    return 1 if run_folder(name) is None else 0


def default_folder(rules: Rules) -> Path:
    """Return runs/arena-BOARD-TIME, with a number behind it if that exists."""
    board = str(rules).replace(",", "x")
    return run_folders.unused(Path("runs") / f"arena-{board}-{time.strftime('%Y%m%d-%H%M%S')}")


def csv_line(first: str, second: str, result: "Result") -> Sequence[object]:
    """Return a result as a line of results.csv, whose last field is empty if the result is exact."""
    return (first, second, result.win, result.draw, result.loss, *result.illegal, result.games)


def table(results: Mapping[tuple[str, str], "Result"]) -> "Table":
    """Return the results as a table: a row for each player in the first seat, a column for each in the second."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = list(dict.fromkeys(first for first, _ in results))
    shown = Table(title="First seat's win/draw/loss, %", box=box.SIMPLE_HEAD)
    shown.add_column("moves first", overflow="fold")
    for name in names:
        shown.add_column(Text(name), justify="right", overflow="fold")
    for first in names:
        shown.add_row(Text(first), *(cell(results[first, second]) for second in names))
    return shown


def cell(result: "Result") -> str:
    """Return a result in percent: win/draw/loss, and below them the taken cells of both seats if there are any."""
    sampled = "" if result.games is None else "~"
    text = sampled + "/".join(map(percent, (result.win, result.draw, result.loss)))
    if any(result.illegal):
        text += "\n!" + "+".join(map(percent, result.illegal))
    return text


def percent(share: float) -> str:
    """Return a probability in whole percent; 0 means never and 100 always."""
    if 0 < share <= 0.005:
        return "<1"
    if 0.995 <= share < 1:
        return ">99"
    return f"{100 * share:.0f}"


def note(results: Mapping[tuple[str, str], "Result"]) -> str:
    """Return how the table is read, and which of its results are exact."""
    games = max(result.games or 0 for result in results.values())
    sentences = ["The row moves first, the column second; a cell is the row's result."]
    if games:
        sentences.append(f"~: sampled in {games:,} games. The others are exact.")
    else:
        sentences.append("All results are exact: every choice was followed. 0 is never, 100 always.")
    if any(any(result.illegal) for result in results.values()):
        sentences.append("!: games that end with a taken cell, by first + second seat, which then loses.")
    return " ".join(sentences)
