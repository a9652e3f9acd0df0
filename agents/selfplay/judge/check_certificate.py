"""Check a certificate that a player is unbeatable: `python check_certificate.py FILE`. The exit status is 0 if it is.

This program needs Python alone, and shares nothing with the one that wrote the file: text under gzip. Its header names
the board, on which X and O move in turn, X first, and k marks in a row win. Each entry below it is a position in which
the player is to move, row by row: "*" is an empty cell that it may mark, and "." any other empty cell. If "symmetric",
an entry represents all its turned and reflected images. If "masked", the player never marks a taken cell.

Nothing in the file is believed. `due` holds each position, or one image of it, that the player can be led into and that
has not been read: at first the empty board, where it plays X, and each board with one X, where it plays O. An entry
must be due, and is struck off. Then each of its stars and each reply are tried: what follows is due, unless the game is
over, or a masked player has a mark on each line of the board, so that it cannot lose. The file is refused if a reply
can complete a line, or if it ends while something is due. It is sorted by marks, so that nothing is due a second time.

This proves that the player cannot be beaten. By induction over the moves of a game, each position that it is led into
while it can lose was due, itself or as an image, and so was read: the first is due from the beginning, and each later
one became due when the one before was read. The stars there are on empty cells, so that the player marks no taken one,
and no reply completes a line, so that the opponent never does. An image has the images of the lines, so it is as good.
"""

import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from operator import itemgetter

HEADER = re.compile(
    r'{"rows": ([1-9]\d?), "cols": ([1-9]\d?), "k": ([1-9]\d?), "symmetric": (true|false), "masked": (true|false), '
    r'"model_sha256": (?:null|"[0-9a-f]{64}")}\n'
)
LONGEST_ENTRY = 1000


def lines_of(rows: int, cols: int, k: int) -> Iterator[list[int]]:
    """Yield the cells of each line: k in a row to the right, downwards, or along one of the two diagonals."""
    for row in range(rows):
        for col in range(cols):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                places = [(row + i * down, col + i * right) for i in range(k)]
                if all(r in range(rows) and c in range(cols) for r, c in places):
                    yield [r * cols + c for r, c in places]


def images_of(rows: int, cols: int) -> Iterator[list[int]]:
    """Yield the cells of the board in the order of each turned or reflected image: 4 images, 8 of a square board."""
    for down in (range(rows), range(rows)[::-1]):
        for right in (range(cols), range(cols)[::-1]):
            yield [row * cols + col for row in down for col in right]
            if rows == cols:
                yield [row * cols + col for col in right for row in down]


class Checker:
    """The entry that is due, and how each entry of the file changes it."""

    def __init__(self, header: str) -> None:
        found = HEADER.fullmatch(header)
        if found is None or int(found[3]) > max(int(found[1]), int(found[2])):
            raise ValueError(f"{header!r} is not the header of a certificate")
        rows, cols, self.k = map(int, found.group(1, 2, 3))
        self.masked = found[5] == "true"
        self.lines = [itemgetter(*cells) for cells in lines_of(rows, cols, self.k)]
        images = images_of(rows, cols) if found[4] == "true" else [range(rows * cols)]
        self.images = [itemgetter(*cells) for cells in images]
        self.entry = re.compile(rf"[XO.*]{{{rows * cols}}}\n")
        self.entries = self.marks = 0
        self.due = {"." * rows * cols}
        self.try_replies("." * rows * cols, "O", "X")

    def image(self, position: str) -> str:
        """Return the image of a position that is the same for all its images."""
        return "".join(min(image(position) for image in self.images))

    def try_replies(self, position: str, player: str, opponent: str) -> None:
        """Let the opponent mark each empty cell; the player is led into what follows."""
        lines = [line(position) for line in self.lines]
        if any(line.count(opponent) == self.k - 1 and "." in line for line in lines):
            raise ValueError(f"{opponent} can complete a line after {position}")
        if self.masked and all(player in line for line in lines):
            return
        for cell, character in enumerate(position):
            reply = position[:cell] + opponent + position[cell + 1 :]
            if character == "." and "." in reply:
                self.due.add(self.image(reply))

    def read(self, entry: str) -> None:
        """Strike off an entry, and try each of its stars and each reply."""
        if not self.entry.fullmatch(entry) or "*" not in entry:
            raise ValueError(f"{entry!r} is not a position with a move")
        position, marks = entry[:-1].replace("*", "."), entry.count("X") + entry.count("O")
        if self.image(position) not in self.due or marks < self.marks:
            raise ValueError(f"{entry[:-1]} is listed twice or out of order, or no move that is listed leads to it")
        self.due.remove(self.image(position))
        self.entries, self.marks = self.entries + 1, marks
        player, opponent = ("O", "X") if marks % 2 else ("X", "O")
        for cell in range(len(position)):
            moved = position[:cell] + player + position[cell + 1 :]
            if entry[cell] == "*" and not any(line(moved).count(player) == self.k for line in self.lines):
                self.try_replies(moved, player, opponent)


def main(path: str) -> int:
    """Print what a certificate proves, and return the exit status."""
    try:
        with gzip.open(path, "rt", encoding="ascii", newline="\n") as file:
            header = file.readline(LONGEST_ENTRY)
            checker = Checker(header)
            while entry := file.readline(LONGEST_ENTRY):
                checker.read(entry)
        if checker.due:
            raise ValueError(f"the player can be led into {min(checker.due)}, which is not listed")
    except (EOFError, OSError, ValueError, zlib.error) as problem:
        print(f"NOT PROVED by {path}: {problem}")
        return 1
    print(f"{header}UNBEATABLE as X and as O: every reply followed in {checker.entries:,} positions")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else "usage: python check_certificate.py FILE")
