"""Measure the page of `selfplay web` as a browser meets it: a move's answer, and the whole page, over loopback HTTP.

    python -m benchmarks.environment.web_page --markdown table.md

The server is a process of its own. Moves are requested on a connection that stays open, as a browser keeps it. The page
is every file of it and the list of players, one after the other on a new connection. How long a browser takes to render
it is not counted.
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

from benchmarks import harness
from selfplay.command_line import run_command
from selfplay.errors import UserError
from selfplay.web.command import PAGE
from tictactoe import Rules

PROG = "python -m benchmarks.environment.web_page"


@dataclass(frozen=True)
class Flags:
    """Measure how long the page and a move of a player take."""

    player: str = "shipped"
    """A run folder, or shipped."""
    moves: int = 200
    """Positions whose move is requested, sampled at random."""
    loads: int = 20
    """Times that the page is requested."""
    seed: int = 0
    """Seed of the positions."""
    markdown: Path | None = None
    """File to write the table to, as Markdown."""


@contextmanager
def server(player: str) -> Iterator[int]:
    """Serve the page of a player in a process of its own, and give the port.

    Raises:
        UserError: There is no such player.
    """
    with tempfile.TemporaryDirectory() as nothing:
        command = [sys.executable, "-m", "selfplay", "web", player, "--port", "0", "--no-open", "--runs", nothing]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
            try:
                assert process.stdout is not None
                assert process.stderr is not None
                port = re.search(r":(\d+)/", process.stdout.readline())
                if port is None:
                    raise UserError(process.stderr.read().strip())
                yield int(port[1])
            finally:
                process.kill()


def random_position(rules: Rules, generator: random.Random) -> str:
    """Return a position of a random game before its end."""
    cells, marks = generator.sample(range(rules.cells), rules.cells), [0, 0]
    board = ["."] * rules.cells
    for ply, cell in enumerate(cells[: generator.randrange(rules.cells)]):
        moved = marks[ply % 2] | 1 << cell
        if rules.has_line(moved):
            break
        marks[ply % 2] = moved
        board[cell] = "XO"[ply % 2]
    return "".join(board)


def request(connection: http.client.HTTPConnection, path: str) -> bytes:
    """Return the content of a path.

    Raises:
        RuntimeError: The server refuses.
    """
    connection.request("GET", path)
    response = connection.getresponse()
    content = response.read()
    if response.status != 200:
        raise RuntimeError(f"{path}: {response.status} {content.decode()}")
    return content


def milliseconds(connection: http.client.HTTPConnection, *paths: str) -> float:
    """Return the time to request these paths one after the other."""
    started = time.perf_counter()
    for path in paths:
        request(connection, path)
    return 1_000 * (time.perf_counter() - started)


def measure(port: int, flags: Flags) -> dict[str, list[float]]:
    """Request moves in random positions and the whole page; the first of each is not counted."""
    generator = random.Random(flags.seed)
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        entry = json.loads(request(connection, "/api/players"))["players"][0]
        rules = Rules(entry["rows"], entry["cols"], entry["k"])
        boards = [random_position(rules, generator) for _ in range(1 + flags.moves)]
        moves = [milliseconds(connection, f"/api/analysis?player={entry['index']}&board={board}") for board in boards]
    files = sorted(f"/{path.name}" for path in PAGE.iterdir() if path.suffix in {".css", ".html", ".js", ".svg"})
    loads = []
    for _ in range(1 + flags.loads):
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
            paths = ["/", *(name for name in files if name != "/index.html"), "/api/players"]
            loads.append(milliseconds(connection, *paths))
    return {"a move": moves[1:], "the page": loads[1:]}


def main(args: Sequence[str]) -> None:
    """Measure, print and write the table."""
    flags = harness.read_flags(Flags, args, PROG)
    console = harness.start("The page", ("starlette", "uvicorn"), (flags.seed,))
    with server(flags.player) as port:
        times = measure(port, flags)
    lines = [[name, f"{len(of_name):,}", harness.spread(of_name).text()] for name, of_name in times.items()]
    header = ["what is requested", "requests", "milliseconds"]
    harness.present(console, [header, *lines], "over loopback HTTP", flags.markdown)


if __name__ == "__main__":
    run_command(main, PROG)
