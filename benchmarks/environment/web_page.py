"""Measure the page of `selfplay web` as a browser meets it: a move's answer, and the whole page, over loopback HTTP.

    python -m benchmarks.environment.web_page --markdown table.md

The server is a process of its own. Moves are requested on a connection that stays open, as a browser keeps it. The page
is every file of it and the list of players, one after the other on a new connection. How long a browser takes to render
it is not counted.
"""

import http.client
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import harness
from selfplay.command_line import run_command
from selfplay.web.command import PAGE
from tictactoe import Rules
from tictactoe.tree import game_tree

PROG = "python -m benchmarks.environment.web_page"


@dataclass(frozen=True)
class Flags:
    """Measure how long the page and a move of the package's player take."""

    moves: int = 200
    """Positions whose move is requested, sampled at random."""
    loads: int = 20
    """Times that the page is requested."""
    seed: int = 0
    """Seed of the positions."""
    markdown: Path | None = None
    """File to write the table to, as Markdown."""


@contextmanager
def server() -> Iterator[int]:
    """Serve the page of the package's player in a process of its own, and give the port."""
    with tempfile.TemporaryDirectory() as nothing:
        command = [sys.executable, "-m", "selfplay", "web", "shipped", "--port", "0", "--no-open", "--runs", nothing]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                yield int(process.stdout.readline().rpartition(":")[2].partition("/")[0])
            finally:
                process.kill()


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
    tree, generator = game_tree(Rules()), np.random.default_rng(flags.seed)
    moves, loads = [], []
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        for state in generator.choice(tree.decisions, 1 + flags.moves):
            marks = int(tree.mover[state]), int(tree.opponent[state])
            names = "XO" if tree.ply[state] % 2 == 0 else "OX"
            board = ["."] * 9
            for name, word in zip(names, marks, strict=True):
                for cell in Rules().cells_of(word):
                    board[cell] = name
            moves.append(milliseconds(connection, f"/api/analysis?player=0&board={''.join(board)}"))
    files = sorted(f"/{path.name}" for path in PAGE.iterdir() if path.suffix in {".css", ".html", ".js", ".svg"})
    for _ in range(1 + flags.loads):
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
            paths = ["/", *(name for name in files if name != "/index.html"), "/api/players"]
            loads.append(milliseconds(connection, *paths))
    return {"a move": moves[1:], "the page": loads[1:]}


def main(args: Sequence[str]) -> None:
    """Measure, print and write the table."""
    flags = harness.read_flags(Flags, args, PROG)
    console = harness.start("The page", ("starlette", "uvicorn"), (flags.seed,))
    with server() as port:
        times = measure(port, flags)
    lines = [[name, f"{len(of_name):,}", harness.spread(of_name).text()] for name, of_name in times.items()]
    header = ["what is requested", "requests", "milliseconds"]
    harness.present(console, [header, *lines], "over loopback HTTP", flags.markdown)


if __name__ == "__main__":
    run_command(main, PROG)
