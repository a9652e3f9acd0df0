"""The results of an arena as tables for the terminal, CSV files, and TensorBoard events."""

import io
from collections.abc import Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from selfplay.cli.arena_matches import Result, Results
from selfplay.cli.arena_ratings import DRAWN_GAMES, RESAMPLES, Rating
from selfplay.files import write_csv
from selfplay.learning.tensorboard import Events

RESULTS, RATINGS = "results.csv", "ratings.csv"
RESULT_FIELDS = (
    *("first", "second", "win", "draw", "loss", "illegal_by_first", "illegal_by_second", "score", "games"),
    *("win_low", "win_high", "draw_low", "draw_high", "loss_low", "loss_high"),
)
RATING_FIELDS = ("rank", "player", "elo", "elo_low", "elo_high")


def print_tables(console: Console, results: Results, ratings: Mapping[str, Rating], anchor: str | None) -> None:
    """Print the ratings and the results, each with its meaning."""
    console.print(rating_table(ratings))
    console.print(rating_note(anchor), markup=False)
    console.print(result_table(results, [*ratings]))
    console.print(result_note(results), markup=False)


def rating_table(ratings: Mapping[str, Rating]) -> Table:
    """Return the ratings, best first, each with its interval."""
    table = Table("", "player", title="Elo ratings", box=box.SIMPLE_HEAD)
    table.add_column("Elo", justify="right")
    table.add_column("95 % interval", justify="right")
    for number, (name, rating) in enumerate(ratings.items(), 1):
        table.add_row(str(number), Text(name), f"{rating.elo:.0f}", f"{rating.low:.0f} to {rating.high:.0f}")
    return table


def rating_note(anchor: str | None) -> str:
    """Return what the ratings and their intervals mean."""
    zero = f"{anchor} has 0" if anchor else "the mean of all players is 0"
    return (
        f"Elo: {zero}; 400 points more mean odds of 10 to 1. A draw is half a win, and both seats count the same. "
        f"1 drawn game is added to every {1 / DRAWN_GAMES:.0f} of two players, which keeps ratings finite. The "
        f"interval holds 95 % of {RESAMPLES:,} ratings with random weights on the pairings (Bayesian bootstrap): it "
        "shows how much a rating depends on who else plays, because no single number per player fits every result."
    )


def result_table(results: Results, names: Sequence[str]) -> Table:
    """Return the first seat's win / draw / loss in percent, a row for each first and a column for each second seat.

    Players have the numbers of the rating table, so that eight of them fit 80 characters. If a game can end with a
    taken cell, a second line gives the percentage for each seat.
    """
    table = Table("", title="First seat's win/draw/loss, %", box=box.SIMPLE_HEAD, padding=0)
    for number in range(1, len(names) + 1):
        table.add_column(str(number), justify="right", overflow="fold")
    for number, first in enumerate(names, 1):
        table.add_row(str(number), *(_cell(results[first, second]) for second in names))
    return table


def _cell(result: Result) -> str:
    text = "" if result.games is None else "~"
    text += "/".join(percent(share) for share in (result.win, result.draw, result.loss))
    if any(result.illegal):
        text += "\n!" + "+".join(percent(share) for share in result.illegal)
    return text


def percent(share: float) -> str:
    """Return a probability in whole percent; 0 means never and 100 always."""
    return "<1" if 0 < share <= 0.005 else ">99" if 0.995 <= share < 1 else f"{100 * share:.0f}"


def result_note(results: Results) -> str:
    """Return which results are exact, and where the intervals of the others are."""
    games = max(result.games or 0 for result in results.values())
    legend = " !: games that end with a taken cell, by first + second seat, which then loses."
    if not any(any(result.illegal) for result in results.values()):
        legend = ""
    seats = "Rows move first, columns second; a cell is the row's result."
    if not games:
        return f"{seats} All results are exact: every choice was followed. 0 is never, 100 always.{legend}"
    return (
        f"{seats} ~: sampled in {games:,} games each; results.csv has the 95 % intervals (Wilson). "
        f"The others are exact.{legend}"
    )


def write(folder: Path, anchor: str | None, results: Results, ratings: Mapping[str, Rating]) -> None:
    """Write the CSV files, and all of it for TensorBoard."""
    names = [*ratings]
    lines: list[Sequence[Any]] = [RESULT_FIELDS]
    for first, second in product(names, repeat=2):
        result = results[first, second]
        shares = result.win, result.draw, result.loss
        lines.append((first, second, *shares, *result.illegal, result.score, result.games, *chain(*result.intervals)))
    write_csv(folder / RESULTS, lines)
    ranks = [(rank, name, each.elo, each.low, each.high) for rank, (name, each) in enumerate(ratings.items(), 1)]
    write_csv(folder / RATINGS, [RATING_FIELDS, *ranks])
    text = io.StringIO()
    print_tables(Console(file=text, width=12 * len(names) + 60), results, ratings, anchor)
    events = Events(folder)
    events.text("arena/tables", f"```\n{text.getvalue()}```")
    for name, rating in ratings.items():
        events.scalars({f"elo/{name}": rating.elo, f"elo_low/{name}": rating.low, f"elo_high/{name}": rating.high})
