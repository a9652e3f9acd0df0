"""Search the empty boards that are too large to be solved as a whole: who wins, and how long it takes to know.

The table of docs/bigger-boards.md:

    python -m benchmarks.environment.search --markdown table.md

A value that differs from the published one ends the benchmark. What is timed is the search alone, once it is compiled.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import in_turns
from selfplay.command_line import run_command
from selfplay.errors import UserError
from tictactoe import Rules, search_value
from tictactoe.search import Search

PROG = "python -m benchmarks.environment.search"
DRAW, FIRST = "draw", "first seat wins"
NAMES = MappingProxyType({1: FIRST, 0: DRAW, None: "not known"})
PUBLISHED = MappingProxyType(
    {
        # Uiterwijk and van den Herik, "The advantage of the initiative" (2000): k = 4, and 5,5,5 by a pairing.
        "5x5x4": DRAW,
        "6x5x4": FIRST,
        "5x5x5": DRAW,
        "7x4x4": DRAW,
        "8x4x4": DRAW,
        # Hsu, Ko, Chen, Hsueh and Wu, on 7,7,5 and 8,8,5 (2020): drawn, and so is what is smaller.
        "6x6x5": DRAW,
        # Charatsidis, "Solving Four-in-a-Row on 9x4 and 10x4 boards" (2017).
        "9x4x4": FIRST,
    }
)
"""Who wins with best play."""
HEADER = ("board", "cells", "with best play", "positions", "seconds")


@dataclass(frozen=True)
class Flags:
    """Search empty boards, and say who wins and how long that takes."""

    boards: tuple[str, ...] = tuple(PUBLISHED)
    """Which, as rows, columns and k, as in 5x5x4."""
    times: int = 5
    """How often each is searched."""
    max_positions: int = 1_000_000_000
    """Positions after which a search ends without an answer."""
    markdown: Path | None = None
    """File to write the table to, as Markdown."""


class Run(NamedTuple):
    """Hold what one search has come to."""

    board: str
    value: int | None
    positions: int
    seconds: float

    def text(self) -> str:
        """Return it as a line."""
        return f"{self.board}: {NAMES[self.value]}, {self.positions:,} positions, {self.seconds:.3f} s"


def rules_of(board: str) -> Rules:
    """Return the rules of a board by its name.

    Raises:
        UserError: there is no such board.
    """
    try:
        rows, cols, k = map(int, board.split("x"))
        return Rules(rows, cols, k)
    except ValueError as error:
        raise UserError(f"--boards must be named as in 5x5x4, got {board!r}: {error}") from None


def measure(board: str, max_positions: int) -> Run:
    """Search an empty board once.

    Raises:
        RuntimeError: something else is published.
    """
    search = Search(rules_of(board), max_positions)
    started = time.perf_counter()
    bounds = search.bounds(0, 0, max_positions)
    seconds = time.perf_counter() - started
    value = bounds.least if bounds.least == bounds.most else None
    if value is not None and PUBLISHED.get(board, NAMES[value]) != NAMES[value]:
        raise RuntimeError(f"{board}: {NAMES[value]} is what the search says, and {PUBLISHED[board]} what is published")
    return Run(board, value, max_positions - search.left, seconds)


def table_rows(done: Sequence[Run]) -> Iterator[list[str]]:
    """Return a row for each board."""
    for board in dict.fromkeys(run.board for run in done):
        of_board = [run for run in done if run.board == board]
        first = of_board[0]
        seconds = spread(run.seconds for run in of_board).text(3)
        cells = rules_of(board).cells
        yield [board.replace("x", ","), str(cells), NAMES[first.value], f"{first.positions:,}", seconds]


def main(args: Sequence[str]) -> None:
    """Measure, and print each search as it ends and the table at the end."""
    flags = read_flags(Flags, args, PROG)
    for board in flags.boards:
        rules_of(board)
    console = machine.start("Searching large boards", ["numba"])
    search_value(Rules(), 0, 0)  # compiles
    done = in_turns(console, range(flags.times), flags.boards, lambda board, _: measure(board, flags.max_positions))
    note = f"median (least to most) over {flags.times} searches; load {machine.load()} at the end"
    tables.present(console, HEADER, table_rows(done), note, flags.markdown)


if __name__ == "__main__":
    run_command(main, PROG)
