"""A tournament: who takes part, what is played and rated, and what is left of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from selfplay import players
from selfplay.algorithms import SHIPPED
from selfplay.arena.heat_map import score_figure
from selfplay.arena.matches import Entrant, Judged, Result, Uniform, round_robin
from selfplay.arena.ratings import Rating, rate
from selfplay.arena.tables import (
    markdown,
    rating_lines,
    rating_note,
    rating_table,
    result_lines,
    result_note,
    result_table,
)
from selfplay.errors import UserError
from selfplay.evaluation.judge import Judge
from selfplay.files import write_csv, write_whole
from selfplay.training import folder as run_folder
from selfplay.training.events import Events
from selfplay.training.pictures import png
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.tree import SOLVABLE_CELLS

RESULTS, RATINGS, SCORES = "results.csv", "ratings.csv", "scores.png"
ANCHOR = "random"


@dataclass(frozen=True)
class Field:
    """Hold who plays, by name, and on which board."""

    rules: Rules
    names: list[str]
    players: Sequence[Entrant]


def hold(given: Sequence[str], perspective: str, out: Path | None, games: int, seed: int) -> None:
    """Play, rate, print the tables and leave a folder with everything behind.

    Raises:
        UserError: a player cannot take part, or the folder cannot be used.
    """
    torch.set_num_threads(1)  # on networks this small more threads only wait for each other
    field = enter(given, perspective)
    folder = out or run_folder.unused(default_folder(field.rules))
    run_folder.create(folder, "--out")
    console = Console()
    columns = TextColumn("{task.description}"), BarColumn(10), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        count = len(field.players)
        task = progress.add_task(f"{count} players on {field.rules}, {count**2} pairings", total=count**2)
        results = round_robin(field.rules, field.players, games, seed, lambda done: progress.advance(task, done))
        anchor = ANCHOR if ANCHOR in field.names else None
        ratings = rate(results, None if anchor is None else field.names.index(anchor), seed)
        names, results, ratings = best_first(field.names, results, ratings)
        # Saved before anything more is shown, which may fail: the reader of it can be gone by now.
        write(folder, field.rules, anchor, names, results, ratings)
    console.print(rating_table(names, ratings))
    console.print(rating_note(anchor), markup=False)
    console.print(result_table(results))
    console.print(result_note(results), markup=False)
    print(f"\n{folder} holds {RESULTS}, {RATINGS}, {SCORES} and TensorBoard's events.")


def enter(given: Sequence[str], perspective: str) -> Field:
    """Load the players and find the built-in opponents.

    Raises:
        UserError: one is unknown, given twice, of another board than the rest, or not able to play this board.
    """
    seen: dict[object, str] = {}
    for name in given:
        place = name if name in OPPONENTS or name == SHIPPED or players.is_own(name) else Path(name).resolve()
        if place in seen:
            same = "" if seen[place] == name else f" is {seen[place]}, which"
            raise UserError(f"{name}{same} is there already; every player also meets itself, so give it once")
        seen[place] = name
    others = [name for name in given if name not in OPPONENTS]
    # Agents of one's own come last: where they have no rules they play the board of the others.
    rules = Rules()
    judges: dict[str, Judge] = {}
    for name in sorted(others, key=players.is_own):
        judges[name], _ = players.find(name, perspective, rules, also=OPPONENTS)
        board = judges[name].rules
        if len(judges) == 1:
            rules, first = board, name
        if board != rules:
            raise UserError(f"{name} plays {board}, but {first} plays {rules}: give players of one board")
    if "optimal" in given and rules.cells > SOLVABLE_CELLS:
        raise UserError(
            f"optimal: has to search each position on a board of over {SOLVABLE_CELLS} cells, which takes too long for "
            f"an arena, and {first} plays {rules}; leave it out"
        )
    entrants = [Judged(judges[name]) if name in judges else Uniform(OPPONENTS[name]) for name in given]
    return Field(rules, short_names(given), entrants)


def short_names(given: Sequence[str]) -> list[str]:
    """Return the last part of each path, or all of it where another player or a built-in opponent has the same."""
    plain = {name for name in given if name in OPPONENTS or name == SHIPPED or players.is_own(name)}
    short = [name if name in plain else Path(name).resolve().name for name in given]
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
