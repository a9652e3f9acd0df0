"""Measure the page of `selfplay web` as a browser meets it: a move's answer, and the whole page, over loopback HTTP.

    python -m benchmarks.environment.page --markdown table.md

The server is a process of its own. A move is asked for on a connection that stays open, as a browser keeps it.
The page is every file of it and the list of players, one after the other on a new connection. How long a browser takes
to draw it is not counted.
"""

import http.client
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from selfplay.command_line import run_command
from selfplay.errors import UserError
from selfplay.web.command import PAGE
from tictactoe import Rules

PROG = "python -m benchmarks.environment.page"
HEADER = ("what is asked for", "answers", "milliseconds")
KINDS = (".css", ".html", ".js", ".svg")
MOST_MILLISECONDS = {"a move": 50, "the page": 1_000}
"""What a person takes for at once."""


@dataclass(frozen=True)
class PageConfig:
    """Measure how long the page and a move of a player take."""

    player: str = "shipped"
    """A run folder, or shipped."""
    moves: int = 200
    """Positions that are asked for, drawn at random."""
    loads: int = 20
    """Times that the page is asked for."""
    seed: int = 0
    """Seed of the positions."""
    markdown: Path | None = None
    """Write the table in Markdown to this file."""


class Row(NamedTuple):
    """Hold the times of one kind of answer."""

    name: str
    milliseconds: list[float]

    def cells(self) -> tuple[str, str, str]:
        """Return it as a row of the table."""
        return self.name, f"{len(self.milliseconds):,}", spread(self.milliseconds).text(1)


def main(args: Sequence[str], prog: str = PROG) -> None:
    """Measure, print and write the table."""
    config = read_flags(PageConfig, args, prog)
    console = machine.start("The page", ("starlette", "uvicorn"), (config.seed,))
    with serving(config.player) as port:
        rows = [moves(port, config), page(port, config.loads)]
    note = "Median (least to most). " + " ".join(map(within, rows))
    tables.present(console, HEADER, [row.cells() for row in rows], note, config.markdown)


def within(row: Row) -> str:
    """Return whether so much time was enough for every answer."""
    most, wanted = max(row.milliseconds), MOST_MILLISECONDS[row.name]
    return f"{row.name}: {'under' if most < wanted else 'NOT under'} {wanted:,} ms."


@contextmanager
def serving(player: str) -> Iterator[int]:
    """Serve the page of a player in a process of its own, and give the port.

    Raises:
        UserError: there is no such player.
    """
    with tempfile.TemporaryDirectory() as nothing:
        command = [sys.executable, "-m", "selfplay", "web", player, "--port", "0", "--no-open", "--runs", nothing]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
            try:
                assert process.stdout is not None
                assert process.stderr is not None
                said = re.search(r":(\d+)/", process.stdout.readline())
                if said is None:
                    raise UserError(process.stderr.read().strip())
                yield int(said[1])
            finally:
                process.kill()


def moves(port: int, config: PageConfig) -> Row:
    """Ask for a player's move in random positions, each once, after one that is not counted."""
    draw = random.Random(config.seed)
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        entry = json.loads(fetch(connection, "/api/players"))["players"][0]
        rules = Rules(entry["rows"], entry["cols"], entry["k"])
        boards = [position(rules, draw) for _ in range(1 + config.moves)]
        times = [timed(connection, f"/api/look?player={entry['index']}&board={board}") for board in boards]
    return Row("a move", times[1:])


def position(rules: Rules, draw: random.Random) -> str:
    """Return a position that a random game goes through before its end."""
    cells, marks = draw.sample(range(rules.cells), rules.cells), [0, 0]
    board = ["."] * rules.cells
    for ply, cell in enumerate(cells[: draw.randrange(rules.cells)]):
        moved = marks[ply % 2] | 1 << cell
        if rules.has_line(moved):
            break
        marks[ply % 2] = moved
        board[cell] = "XO"[ply % 2]
    return "".join(board)


def page(port: int, loads: int) -> Row:
    """Ask for the whole page so often, after once that is not counted."""
    files = [f"/{path.name}" for path in sorted(PAGE.iterdir()) if path.suffix in KINDS and path.name != "index.html"]
    times = []
    for _ in range(1 + loads):
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
            times.append(sum(timed(connection, path) for path in ["/", *files, "/api/players"]))
    return Row("the page", times[1:])


def timed(connection: http.client.HTTPConnection, path: str) -> float:
    """Return the milliseconds until an answer is there.

    Raises:
        RuntimeError: it is none.
    """
    started = time.perf_counter()
    fetch(connection, path)
    return 1_000 * (time.perf_counter() - started)


def fetch(connection: http.client.HTTPConnection, path: str) -> bytes:
    """Return what is answered.

    Raises:
        RuntimeError: it is a refusal.
    """
    connection.request("GET", path)
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {content.decode()}")
    return content


if __name__ == "__main__":
    run_command(main, PROG)
