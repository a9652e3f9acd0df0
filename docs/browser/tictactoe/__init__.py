"""What units 1 and 2 import from tictactoe, where a browser's Python has no NumPy: the same answers in plain Python.

Rules, boards as SVG and `selfplay.lessons` are the package's own files, which need nothing.
"""

from functools import cache
from types import SimpleNamespace

from tictactoe.rendering.svg import board_svg as board_svg, game_svg as game_svg
from tictactoe.rules import Rules as Rules


class View:
    """An observation [3, 3, 3] of bitboards: the planes of the empty cells, and of two sets of marks."""

    def __init__(self, rules, *marks):
        self.rules, self.planes = rules, (rules.empty_cells(*marks), *marks)

    def __getitem__(self, index):
        *place, plane = index
        if place == [...]:
            return Plane(self.planes[plane] >> cell & 1 for cell in range(self.rules.cells))
        row, column = place
        return self.planes[plane] >> row * self.rules.cols + column & 1


class Plane(list):
    """The numbers of one plane."""

    def argmax(self):
        """Return the first of the highest numbers."""
        return self.index(max(self))


class Numbers(list):
    """Numbers that a unit asks for as a list."""

    def tolist(self):
        """Return them."""
        return list(self)


class TicTacToeEnv:
    """One board of which both seats are played in turn."""

    def __init__(self):
        self.rules = Rules()

    def reset(self):
        """Begin a game; return the observation, and what else is known."""
        self.node, self.seat = SimpleNamespace(marks=(0, 0)), 0
        return self.seen(-1)[::4]

    def step(self, cell):
        """Mark a cell; return the observation, the reward 0, whether the game is over, False, and more information."""
        marks, legal = list(self.node.marks), not sum(self.node.marks) >> cell & 1
        marks[self.seat] |= 1 << cell
        self.seat ^= 1
        winner = self.seat if not legal else self.seat ^ 1 if self.rules.has_line(marks[self.seat ^ 1]) else -1
        if legal:
            self.node.marks = tuple(marks)
        return self.seen(winner)

    def seen(self, winner):
        """Return what a step returns."""
        empty = self.rules.empty_cells(*self.node.marks)
        mask = [empty >> cell & 1 for cell in range(self.rules.cells)]
        info = {"action_mask": mask, "winner": winner}
        return View(self.rules, *self.node.marks), 0.0, winner >= 0 or not empty, False, info


@cache
def solve(rules):
    """Return all positions with their values and best moves, as `tictactoe.solve` does."""
    values, best = {}, {}

    def value(mover, opponent):
        position = mover, opponent
        if position not in values:
            moves = {}
            if not rules.has_line(opponent):
                for cell in rules.cells_of(rules.empty_cells(mover, opponent)):
                    moves[cell] = -value(opponent, mover | 1 << cell)
            values[position] = max(moves.values(), default=-1 if rules.has_line(opponent) else 0)
            best[position] = sum(1 << cell for cell, worth in moves.items() if worth == values[position])
        return values[position]

    value(0, 0)
    positions = sorted(values, key=lambda marks: (sum(marks).bit_count(), marks))
    tree = SimpleNamespace(
        mover=Numbers(mine for mine, _ in positions), opponent=Numbers(other for _, other in positions)
    )
    return SimpleNamespace(
        tree=tree,
        value=Numbers(values[position] for position in positions),
        optimal_moves=Numbers(best[position] for position in positions),
    )
