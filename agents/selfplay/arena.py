"""Let saved players and built-in opponents meet: `python -m selfplay.arena RUN RUN ... [random] [heuristic] [optimal]`.

Every player meets every other, and itself, in both seats.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from selfplay import run_folder
from selfplay.arena_report import (
    markdown,
    rating_lines,
    rating_note,
    rating_table,
    result_lines,
    result_note,
    result_table,
)
from selfplay.checks import check_counts, check_seed
from selfplay.command_line import parse, run_command
from selfplay.errors import UserError
from selfplay.events import Events
from selfplay.files import write_csv, write_whole
from selfplay.matches import Entrant, Greedy, Result, Uniform, round_robin
from selfplay.plots import png, score_figure
from selfplay.ratings import Rating, rate
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.tree import SOLVABLE_CELLS

PROG = "python -m selfplay.arena"
RESULTS, RATINGS, SCORES = "results.csv", "ratings.csv", "scores.png"
ANCHOR = "random"


@dataclass(frozen=True)
class ArenaConfig:
    """Let every player meet every other, and itself, in both seats."""

    players: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Run folders of one board, and any of random, heuristic and optimal; without a run folder they play 3,3,3."""
    out: Path | None = None
    """New folder for what comes of it; by default runs/arena-BOARD-TIME."""
    games: int = 10_000
    """Games to sample in each pairing that cannot be followed exactly: of a run with a built-in opponent, or of two
    such opponents, on a board of more than 16 cells."""
    seed: int = 0
    """Seed of the sampled games and of the ratings' intervals."""

    def __post_init__(self) -> None:
        check_counts(self, "games")
        check_seed(self)
        if len(self.players) < 2:
            raise UserError(f"an arena needs at least two players, got {len(self.players)}: {PROG} runs/NAME random")


@dataclass(frozen=True)
class Field:
    """Hold who plays, by name, and on which board."""

    rules: Rules
    names: list[str]
    players: Sequence[Entrant]


def main(args: Sequence[str]) -> None:
    """Play, rate, print the tables and leave a folder with everything behind."""
    config = parse(ArenaConfig, args, PROG)
    torch.set_num_threads(1)  # on networks this small more threads only wait for each other
    field = enter(config.players)
    folder = config.out or run_folder.unused(default_folder(field.rules))
    run_folder.create(folder, "--out")
    console = Console()
    columns = TextColumn("{task.description}"), BarColumn(10), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        count = len(field.players)
        task = progress.add_task(f"{count} players on {field.rules}, {count**2} pairings", total=count**2)
        results = round_robin(
            field.rules, field.players, config.games, config.seed, lambda done: progress.advance(task, done)
        )
        anchor = ANCHOR if ANCHOR in field.names else None
        ratings = rate(results, None if anchor is None else field.names.index(anchor), config.seed)
        names, results, ratings = best_first(field.names, results, ratings)
        # Saved before anything more is shown, which may fail: the reader of it can be gone by now.
        write(folder, field.rules, anchor, names, results, ratings)
    console.print(rating_table(names, ratings))
    console.print(rating_note(anchor), markup=False)
    console.print(result_table(results))
    console.print(result_note(results), markup=False)
    print(f"\n{folder} holds {RESULTS}, {RATINGS}, {SCORES} and TensorBoard's events.")


def enter(given: Sequence[str]) -> Field:
    """Load the players of run folders and find the built-in opponents.

    Raises:
        UserError: one is unknown, given twice, of another board than the rest, or not able to play this board.
    """
    seen: dict[object, str] = {}
    for name in given:
        place = name if name in OPPONENTS else Path(name).resolve()
        if place in seen:
            same = "" if seen[place] == name else f" is {seen[place]}, which"
            raise UserError(f"{name}{same} is there already; every player also meets itself, so give it once")
        seen[place] = name
    runs = [name for name in given if name not in OPPONENTS]
    for name in runs:
        if not Path(name).is_dir():
            raise UserError(f"{name}: is neither a run folder nor one of {', '.join(OPPONENTS)}")
    loaded = {name: run_folder.load(name) for name in runs}
    boards = {name: player.rules for name, player in loaded.items()}
    rules = boards[runs[0]] if runs else Rules()
    for name, board in boards.items():
        if board != rules:
            raise UserError(f"{name} plays {board}, but {runs[0]} plays {rules}: give players of one board")
    if "optimal" in given and rules.cells > SOLVABLE_CELLS:
        raise UserError(
            f"optimal: knows boards of up to {SOLVABLE_CELLS} cells, but {runs[0]} plays {rules}; leave it out"
        )
    players = [Greedy(loaded[name]) if name in loaded else Uniform(OPPONENTS[name]) for name in given]
    return Field(rules, short_names(given), players)


def short_names(given: Sequence[str]) -> list[str]:
    """Return the last part of each path, or all of it where another player or a built-in opponent has the same."""
    short = [name if name in OPPONENTS else Path(name).resolve().name for name in given]
    return [
        brief if short.count(brief) == 1 and brief not in OPPONENTS else name
        for brief, name in zip(short, given, strict=True)
    ]


def default_folder(rules: Rules) -> Path:
    """Return runs/arena-BOARD-TIME."""
    return Path("runs") / f"arena-{rules.rows}x{rules.cols}x{rules.k}-{time.strftime('%Y%m%d-%H%M%S')}"


def best_first(
    names: Sequence[str], results: Sequence[Sequence[Result]], ratings: Sequence[Rating]
) -> tuple[list[str], list[list[Result]], list[Rating]]:
    """Return everything in the order of the ratings; of equals the one given first comes first."""
    order = sorted(range(len(names)), key=lambda number: -ratings[number].elo)
    return (
        [names[number] for number in order],
        [[results[first][second] for second in order] for first in order],
        [ratings[number] for number in order],
    )


def write(
    folder: Path,
    rules: Rules,
    anchor: str | None,
    names: Sequence[str],
    results: Sequence[Sequence[Result]],
    ratings: Sequence[Rating],
) -> None:
    """Write the CSV files, the heat map, and all of it for TensorBoard."""
    write_csv(folder / RESULTS, result_lines(names, results))
    write_csv(folder / RATINGS, rating_lines(names, ratings))
    scores = np.array([[result.score for result in row] for row in results])
    picture = png(score_figure(names, scores, f"Every player in both seats on {rules}"))
    write_whole(folder / SCORES, picture)
    tables = (
        markdown(rating_table(names, ratings)),
        rating_note(anchor),
        markdown(result_table(results)),
        result_note(results),
    )
    events = Events(folder)
    try:
        events.picture("arena/scores", picture)
        events.text("arena/tables", "\n\n".join(tables))
        for name, rating in zip(names, ratings, strict=True):
            events.scalar(f"elo/{name}", rating.elo)
            events.scalar(f"elo_low/{name}", rating.low)
            events.scalar(f"elo_high/{name}", rating.high)
    finally:
        events.close()


if __name__ == "__main__":
    run_command(main, PROG)
