"""Search the empty boards that are too large to be solved as a whole: who wins, and how long it takes to know.

The table of docs/results.md:

    python -m benchmarks.environment.search --docs docs

A value that differs from the published one ends the benchmark. What is timed is the search alone, once it is compiled.
"""

import time
from pathlib import Path

import tyro

from benchmarks import harness
from benchmarks.data import Result
from tictactoe import Rules, search_value
from tictactoe.search import Search

DRAW, FIRST = "draw", "first seat wins"
NAMES = {1: FIRST, 0: DRAW, None: "not known"}
PUBLISHED = {
    # Uiterwijk and van den Herik, "The advantage of the initiative" (2000): k = 4, and 5,5,5 by a pairing.
    "5x5x4": DRAW,
    "6x5x4": FIRST,
    "5x5x5": DRAW,
    "7x4x4": DRAW,
    "8x4x4": DRAW,
    # Hsu, Ko, Chen, Hsueh and Wu, on 7,7,5 and 8,8,5 (2020): a draw, as is every smaller board.
    "6x6x5": DRAW,
    "7x7x5": DRAW,
    # Charatsidis, "Solving Four-in-a-Row on 9x4 and 10x4 boards" (2017).
    "9x4x4": FIRST,
}
"""Who wins with best play."""


def rules_of(board: str) -> Rules:
    """Return the rules of a board by its name, such as 5x5x4."""
    rows, cols, k = map(int, board.split("x"))
    return Rules(rows, cols, k)


def measure(board: str, max_positions: int) -> Result:
    """Search an empty board once.

    Raises:
        RuntimeError: Another value is published.
    """
    search = Search(rules_of(board), max_positions)
    started = time.process_time()
    bounds = search.bounds(0, 0, max_positions)
    seconds = time.process_time() - started
    found = NAMES[bounds.least if bounds.least == bounds.most else None]
    if found != NAMES[None] and PUBLISHED.get(board, found) != found:
        raise RuntimeError(f"{board}: {found} is what the search says, and {PUBLISHED[board]} what is published")
    cells, positions = rules_of(board).cells, max_positions - search.left
    return {"cells": cells, "with best play": found, "positions": positions, "seconds": seconds}


def main(
    boards: tuple[str, ...] = tuple(PUBLISHED),
    times: int = 5,
    max_positions: int = 1_000_000_000,
    docs: Path | None = None,
) -> None:
    """Search empty boards, and say who wins and how long that takes.

    Args:
        boards: Boards as rows, columns and k, such as 5x5x4.
        times: How often each is searched.
        max_positions: Positions after which a search ends without an answer.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    search_value(Rules(), 0, 0)  # compiles
    harness.run(
        "Searching large boards",
        boards,
        range(times),
        lambda board, _: measure(board, max_positions),
        f"{times} searches",
        libraries=["numba"],
        docs=docs,
    )


if __name__ == "__main__":
    tyro.cli(main)
