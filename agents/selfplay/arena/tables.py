"""What an arena shows: tables for the terminal and for TensorBoard, and lines for CSV files."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from selfplay.arena.matches import Result
from selfplay.arena.ratings import DRAWN_GAMES, RESAMPLES, Rating

RESULT_FIELDS = (
    "first",
    "second",
    "win",
    "draw",
    "loss",
    "illegal_by_first",
    "illegal_by_second",
    "score",
    "games",
    "win_low",
    "win_high",
    "draw_low",
    "draw_high",
    "loss_low",
    "loss_high",
)
RATING_FIELDS = ("rank", "player", "elo", "elo_low", "elo_high")


def rating_table(names: Sequence[str], ratings: Sequence[Rating]) -> Table:
    """Return the ratings, in the order in which they are given, each with its interval."""
    table = Table(title="Elo ratings", box=box.SIMPLE_HEAD)
    table.add_column("")
    table.add_column("player")
    table.add_column("Elo", justify="right")
    table.add_column("95 % interval", justify="right")
    for number, (name, rating) in enumerate(zip(names, ratings, strict=True), 1):
        table.add_row(str(number), Text(name), f"{rating.elo:.0f}", f"{rating.low:.0f} to {rating.high:.0f}")
    return table


def rating_note(anchor: str | None) -> str:
    """Return what the ratings and their intervals mean."""
    zero = f"{anchor} has 0" if anchor else "the mean of all players is 0"
    return (
        f"Elo: {zero}; 400 points more mean 10 to 1. A draw is half a win, both seats count the same, and 1 drawn game "
        f"is added to every {1 / DRAWN_GAMES:.0f} of two players, which keeps ratings finite. The interval holds 95 % "
        f"of {RESAMPLES:,} ratings with random weights on the pairings (Bayesian bootstrap): it says how far a rating "
        "hangs on who else plays, for no single number per player fits every result."
    )


def result_table(results: Sequence[Sequence[Result]]) -> Table:
    """Return the first seat's win / draw / loss in percent, a row for each first and a column for each second seat.

    Players have the numbers of the rating table, so that eight of them fit 80 characters. Where a game can end
    by a taken cell, a second line gives the percentage for each seat.
    """
    table = Table(title="First seat's win/draw/loss, %", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("")
    for number in range(1, len(results) + 1):
        table.add_column(str(number), justify="right", overflow="fold")
    for number, row in enumerate(results, 1):
        table.add_row(str(number), *map(_cell, row))
    return table


def _cell(result: Result) -> str:
    shares = "/".join(percent(share) for share in (result.win, result.draw, result.loss))
    text = shares if result.games is None else f"~{shares}"
    if any(result.illegal):
        text += "\n!" + "+".join(percent(share) for share in result.illegal)
    return text


def percent(share: float) -> str:
    """Return a probability in whole percent, of which 0 and 100 mean never and always."""
    if share in {0, 1}:
        return f"{share:.0%}"[:-1]
    return "<1" if share <= 0.005 else ">99" if share >= 0.995 else f"{share:.0%}"[:-1]


def result_note(results: Sequence[Sequence[Result]]) -> str:
    """Return which of the results are exact, and how far off the others may be."""
    sampled = [result for row in results for result in row if result.games is not None]
    illegal = any(any(result.illegal) for row in results for result in row)
    legend = " !: games ended by a taken cell, by first + second seat; whoever plays it loses." if illegal else ""
    if not sampled:
        return f"Rows: first seat. All results are exact, every choice followed; 0 is never and 100 always.{legend}"
    widest = max(
        (high - low) / 2
        for result in sampled
        for low, high in map(result.interval, (result.win, result.draw, result.loss))
    )
    games = max(result.games or 0 for result in sampled)
    return (
        f"Rows: first seat. ~: sampled in {games:,} games each, the widest 95 % interval (Wilson) is +-{widest:.1%}; "
        f"results.csv has them all. The others are exact.{legend}"
    )


def result_lines(names: Sequence[str], results: Sequence[Sequence[Result]]) -> Iterator[Sequence[Any]]:
    """Yield the head and then a line for each pairing; `games` is empty where the result is exact."""
    yield RESULT_FIELDS
    for first, row in zip(names, results, strict=True):
        for second, result in zip(names, row, strict=True):
            shares = result.win, result.draw, result.loss
            bounds = [bound for share in shares for bound in result.interval(share)]
            games = "" if result.games is None else result.games
            yield first, second, *shares, *result.illegal, result.score, games, *bounds


def rating_lines(names: Sequence[str], ratings: Sequence[Rating]) -> Iterator[Sequence[Any]]:
    """Yield the head and then a line for each player."""
    yield RATING_FIELDS
    for rank, (name, rating) in enumerate(zip(names, ratings, strict=True), 1):
        yield rank, name, rating.elo, rating.low, rating.high


def markdown(table: Table) -> str:
    """Return a table as Markdown, which TensorBoard shows."""
    columns = [list(column.cells) for column in table.columns]
    head = [str(column.header) for column in table.columns]
    lines = [head, ["---"] * len(head), *(list(map(str, row)) for row in zip(*columns, strict=True))]
    escaped = ([cell.replace("|", "\\|").replace("\n", "<br>") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped)
