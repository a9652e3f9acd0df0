"""Check that the player of a certificate is unbeatable: `python check_certificate.py FILE`.

A certificate is text under gzip. Its first line is a JSON object: the board, the checksum of the player's model, and
more. Each other line is a position in which the player is to move, row by row: X and O are marks, "." is an empty cell,
and "*" an empty cell that the player marks (any of them, if there are several). If "symmetric", a line stands for all
turned and reflected images. If "masked", the player marks any empty cell where nothing is listed, which is allowed only
where the opponent can complete no line any more.

Nothing in it is believed: as X and as O, every listed move and every legal reply are followed to the end of each game.
"""

import gzip
import json
import sys
import textwrap
from itertools import product
from operator import or_


class Board:
    """Hold what is fixed on a board; in an integer that stands for a set of cells, bit `n` is cell `n`."""

    def __init__(self, version: int, rows: int, cols: int, k: int, symmetric: bool) -> None:
        if version != 1 or rows * cols not in range(1, 65) or k not in range(1, max(rows, cols) + 1):
            raise ValueError("its first line names no board of up to 64 cells, or another version of the format than 1")
        self.cols, self.cells, self.full = cols, range(rows * cols), (1 << rows * cols) - 1
        places, steps = list(product(range(rows), range(cols))), ((0, 1), (1, 0), (1, 1), (1, -1))
        runs = [[(r + i * down, c + i * right) for i in range(k)] for (r, c), (down, right) in product(places, steps)]
        self.lines = [sum(1 << r * cols + c for r, c in run) for run in runs if run[-1] in places]
        grids = [[tuple(range(row * cols, row * cols + cols)) for row in range(rows)]]
        if symmetric:
            grids += [grid[::-1] for grid in grids]
            grids += [[row[::-1] for row in grid] for grid in grids]
            grids += [list(zip(*grid, strict=True)) for grid in grids if rows == cols]
        self.turns = [sum(grid, ()) for grid in grids]  # where each cell goes; the first leaves all in place
        # A position is an integer, O's marks above X's. All its images are kept, and a mark is added to each of them.
        self.marks = [[[1 << turn[n] + len(turn) * seat for turn in self.turns] for n in self.cells] for seat in (0, 1)]


def read(path: str) -> tuple[dict[str, object], Board, dict[int, bytes]]:
    """Return the first line, its board, and the player's cells by the position; of its images the least one counts."""
    table: dict[int, bytes] = {}
    with gzip.open(path, "rt", encoding="ascii") as file:
        header = json.loads(file.readline(1000))
        board = Board(*(header[name] for name in ("version", "rows", "cols", "k", "symmetric")))
        for number, line in enumerate(iter(lambda: file.readline(1000), ""), 2):
            if len(line) != len(board.cells) + 1 or line[-1] != "\n" or "*" not in line or set(line[:-1]) - set("XO.*"):
                raise ValueError(f"line {number} is no position with a move")
            marks = [board.marks["XO".index(mark)][cell] for cell, mark in enumerate(line) if mark in "XO"]
            images = list(map(sum, zip([0] * len(board.turns), *marks, strict=True)))
            turn = board.turns[images.index(min(images))]
            table[min(images)] = table.get(min(images), b"") + bytes(turn[n] for n in board.cells if line[n] == "*")
    return header, board, table


def follow(board: Board, table: dict[int, bytes], masked: bool) -> tuple[int, str, tuple[int, ...]]:
    """Return how many positions were followed and, if something is wrong, what it is and the game that leads there."""
    openings = {min(images): ((cell,), images) for cell, images in enumerate(board.marks[0])}  # X's against O
    followed, seen, waiting = 0, set(openings), [((), [0] * len(board.turns)), *openings.values()]
    while waiting:
        game, images = waiting.pop()
        least, seat = min(images), len(game) % 2
        mine, theirs = (images[0] >> len(board.cells) * side & board.full for side in (seat, 1 - seat))
        if any(theirs & line == line for line in board.lines):
            return followed, f"NOT UNBEATABLE: as {'XO'[seat]} the player loses by the cells", game
        if least not in table:
            if mine | theirs == board.full or (masked and all(mine & line for line in board.lines)):
                continue  # a draw, or nothing can be lost any more
            return followed, f"NOT PROVED: as {'XO'[seat]} the player has no move listed after the cells", game
        followed += 1
        for move in map(board.turns[images.index(least)].index, table[least]):
            moved, after = mine | 1 << move, list(map(or_, images, board.marks[seat][move]))
            won = any(moved & line == line for line in board.lines)
            for cell in [n for n in board.cells if not won and not (moved | theirs) >> n & 1]:
                reply = list(map(or_, after, board.marks[1 - seat][cell]))
                if (key := min(reply)) not in seen:
                    seen.add(key)
                    waiting.append(((*game, move, cell), reply))
    return followed, "", ()


def main(*paths: str) -> int:
    """Print the verdict and return the exit status: 0 unbeatable, 1 not, 2 no certificate."""
    try:
        header, board, table = read(*paths)
    except Exception as error:
        print(f"no certificate in {paths} (python check_certificate.py FILE): {error!r}", file=sys.stderr)
        return 2
    followed, wrong, game = follow(board, table, header.get("masked") is True)
    print(*(f"{name} {header.get(name)!a}" for name in ("rows", "cols", "k", "model_sha256")), sep=", ")
    print(f"{wrong} {game}" if wrong else f"UNBEATABLE as X and as O: every reply followed, {followed:,} positions")
    cells = ["."] * len(board.cells)
    for ply, cell in enumerate(game):
        cells[cell] = "XO"[ply % 2]
        print(f"\n{cells[cell]} marks cell {cell}:", *textwrap.wrap("".join(cells), board.cols), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
