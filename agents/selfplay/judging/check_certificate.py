"""Check that the player of a certificate is unbeatable: `python check_certificate.py FILE`.

This program needs Python alone, and shares nothing with the program that wrote the certificate. Read it from the top to
the bottom, and you know what it proves.

A certificate is text under gzip. Its first line is a JSON object: the board, how many positions follow, the checksum of
the player's model, and more. Each other line is a position in which the player is to move, row by row: X and O are
marks, "." is an empty cell, and "*" an empty cell that the player marks (any of them, if there are several). No
position is listed twice. If "symmetric", a line represents all turned and reflected images. If "masked", the player
marks any empty cell where nothing is listed, which is allowed only where the opponent can complete no line any more.

Nothing in the file is believed: as X and as O, every listed move and every legal reply are followed to the end of each
game. The exit status is 0 if nothing beats the player, 1 if something does or may, and 2 if the file is no certificate.
"""

import gzip
import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

LARGEST_BOARD = 64
LONGEST_LINE = 1000
FIELDS = "format", "version", "rows", "cols", "k", "symmetric", "masked", "positions", "model_sha256"
"""The fields of the first line. A file with another one is refused, since it may be about another game."""

Images = list[int]
"""A position together with all its turned and reflected images: one integer for each symmetry of the board.

The first one is the position itself. Bit `n` of an integer is set if X has marked cell `n`, and bit `cells + n` if O
has. Two positions are images of each other if and only if the least integers of their lists are equal.
"""


class Board:
    """The lines and the symmetries of a board; cells count from 0, row by row."""

    def __init__(self, rows: int, cols: int, k: int, symmetric: bool) -> None:
        self.cols = cols
        self.cells = range(rows * cols)
        self.full = (1 << rows * cols) - 1
        self.lines = [sum(1 << cell for cell in line) for line in lines(rows, cols, k)]
        self.symmetries = list(symmetries(rows, cols)) if symmetric else [tuple(self.cells)]
        self.empty: Images = [0 for _ in self.symmetries]
        # The bit that a mark sets in each image, by the seat that marks and the cell.
        self.bits = [
            [[1 << turned[cell] + seat * rows * cols for turned in self.symmetries] for cell in self.cells]
            for seat in (0, 1)
        ]

    def after(self, images: Images, seat: int, cell: int) -> Images:
        """Return the position after a seat has marked a cell."""
        return [image | bit for image, bit in zip(images, self.bits[seat][cell], strict=True)]

    def marks(self, images: Images, seat: int) -> int:
        """Return the cells that a seat has marked, as bits; seat 0 is X, seat 1 is O."""
        return images[0] >> seat * len(self.cells) & self.full

    def has_line(self, marks: int) -> bool:
        """Return whether all cells of some line are marked."""
        return any(marks & line == line for line in self.lines)


def lines(rows: int, cols: int, k: int) -> Iterator[list[int]]:
    """Yield the cells of each line: k in a row to the right, downwards, or along one of the two diagonals."""
    for row in range(rows):
        for col in range(cols):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                last_row, last_col = row + (k - 1) * down, col + (k - 1) * right
                if last_row in range(rows) and last_col in range(cols):
                    yield [(row + i * down) * cols + (col + i * right) for i in range(k)]


def symmetries(rows: int, cols: int) -> Iterator[tuple[int, ...]]:
    """Yield each symmetry as the cell to which it moves each cell; the first one moves none.

    A board can be reflected up and down, left and right, or both; a square one also along its diagonal before that.
    These are all its turns and reflections, 4 or 8.
    """
    for swap in (False, True) if rows == cols else (False,):
        for flip_rows in (False, True):
            for flip_cols in (False, True):
                moved = []
                for row in range(rows):
                    for col in range(cols):
                        new_row, new_col = (col, row) if swap else (row, col)
                        new_row = rows - 1 - new_row if flip_rows else new_row
                        new_col = cols - 1 - new_col if flip_cols else new_col
                        moved.append(new_row * cols + new_col)
                yield tuple(moved)


class Certificate:
    """What a certificate says; a file that is none raises one exception or another."""

    def __init__(self, path: str) -> None:
        # The moves are stored by the least image of their position, as cells of that image.
        self._moves: dict[int, list[int]] = {}
        if not stat.S_ISREG(Path(path).stat().st_mode):  # a pipe or a device may never end
            raise ValueError("it is not a regular file")
        with gzip.open(path, "rt", encoding="ascii") as file:
            self.header = json.loads(file.readline(LONGEST_LINE))
            if set(self.header) != set(FIELDS):
                raise ValueError(f"its first line must have the fields {[*FIELDS]}, got {[*self.header]!a}")
            _, version, rows, cols, k, symmetric, masked, positions, _ = (self.header[name] for name in FIELDS)
            known = version == 2 and {type(rows), type(cols), type(k), type(positions)} == {int}
            if not known or min(rows, cols) < 1 or rows * cols > LARGEST_BOARD or not 1 <= k <= max(rows, cols):
                raise ValueError(f"its first line names no board of up to {LARGEST_BOARD} cells in version 2")
            if Path(path).stat().st_size > LONGEST_LINE + positions * (rows * cols + 1):  # and gzip makes it smaller
                raise ValueError(f"it is larger than {positions} positions, the number in its first line, can be")
            self.board = Board(rows, cols, k, symmetric is True)
            self.masked = masked is True
            for number in range(2, positions + 2):
                self._add_line(number, file.readline(LONGEST_LINE))
            if file.read(1):
                raise ValueError(f"it lists more than {positions} positions, the number in its first line")

    def _add_line(self, number: int, line: str) -> None:
        cells = line[:-1]
        known = len(cells) == len(self.board.cells) and set(cells) <= set("XO.*")
        if not known or "*" not in cells or not line.endswith("\n"):
            raise ValueError(f"line {number} is not a position with a move")
        images = self.board.empty
        for cell, character in enumerate(cells):
            if character in "XO":
                images = self.board.after(images, "XO".index(character), cell)
        least = min(images)
        turned = self.board.symmetries[images.index(least)]
        if least in self._moves:
            raise ValueError(f"line {number} lists a position, or an image of it, for the second time")
        self._moves[least] = [turned[cell] for cell, character in enumerate(cells) if character == "*"]

    def moves(self, images: Images) -> list[int]:
        """Return the cells that the player may mark in a position, none if it is not listed."""
        least = min(images)
        turned = self.board.symmetries[images.index(least)]
        return [turned.index(cell) for cell in self._moves.get(least, [])]


def check(certificate: Certificate) -> tuple[int, str, tuple[int, ...]]:
    """Follow every listed move and every legal reply, as X and as O.

    Return the number of positions in which the player moved and, if something is not in order, what it is and the cells
    of a game that leads there; otherwise no text and no cells.
    """
    board = certificate.board
    # As X the player moves on the empty board. As O it moves after each first mark of X.
    openings = [((cell,), board.after(board.empty, 0, cell)) for cell in board.cells]
    waiting: list[tuple[tuple[int, ...], Images]] = [((), board.empty), *openings]
    seen = set()
    positions = 0
    while waiting:
        game, images = waiting.pop()
        if min(images) in seen:  # this position, or an image of it, has been followed
            continue
        seen.add(min(images))

        # The player is to move, so the seat of the player is the one whose turn it is.
        seat = len(game) % 2
        mine, theirs = board.marks(images, seat), board.marks(images, 1 - seat)
        if board.has_line(theirs):
            return positions, f"NOT UNBEATABLE: as {'XO'[seat]} the player loses by the cells", game
        moves = certificate.moves(images)
        if not moves:
            drawn = mine | theirs == board.full
            harmless = certificate.masked and all(mine & line for line in board.lines)
            if drawn or harmless:
                continue
            return positions, f"NOT PROVED: as {'XO'[seat]} the player has no move listed after the cells", game

        # A listed position was compared as a whole, so its starred cells are empty here, and the moves are legal.
        positions += 1
        for move in moves:
            if board.has_line(mine | 1 << move):
                continue  # the player wins
            moved = board.after(images, seat, move)
            taken = mine | theirs | 1 << move
            replies = [cell for cell in board.cells if not taken >> cell & 1]
            waiting += [((*game, move, reply), board.after(moved, 1 - seat, reply)) for reply in replies]
    return positions, "", ()


def show(board: Board, game: tuple[int, ...]) -> None:
    """Print the board after each ply of a game."""
    cells = ["."] * len(board.cells)
    for ply, cell in enumerate(game):
        cells[cell] = "XO"[ply % 2]
        rows = ["".join(cells[start : start + board.cols]) for start in range(0, len(cells), board.cols)]
        print(f"\n{cells[cell]} marks cell {cell}:", *rows, sep="\n")


def main(*paths: str) -> int:
    """Print the verdict and return the exit status."""
    if len(paths) != 1:
        print("usage: python check_certificate.py FILE", file=sys.stderr)
        return 2
    try:
        certificate = Certificate(paths[0])
    except Exception as error:  # a file can be anything
        why = (
            error
            if type(error) is ValueError
            else getattr(error, "strerror", None) or "it is damaged or no certificate"
        )
        print(f"no certificate in {paths[0]!r}: {why}", file=sys.stderr)
        return 2
    positions, problem, game = check(certificate)
    print(*(f"{name} {value!a}" for name, value in certificate.header.items()), sep=", ")
    if not problem:
        print(f"UNBEATABLE as X and as O: every reply followed, {positions:,} positions")
        return 0
    print(problem, game)
    show(certificate.board, game)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
