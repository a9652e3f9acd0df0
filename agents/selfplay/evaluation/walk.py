"""The walk of a proof: ply by ply, every position that one agent's moves and any legal replies lead to.

Each distinct position is visited once, with the number of game lines and the probability that lead to it, so 4,4,4
takes thousands of positions where its whole tree has millions. Of an agent that plays the same in all symmetric images
of a position, one image of each is enough.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.evaluation.judge import Asked
from selfplay.evaluation.stochastic import Moves, sort_keys
from tictactoe import Rules
from tictactoe.rules import WORD_BITS
from tictactoe.symmetry import representatives
from tictactoe.tree import FloatArray, IntArray

DANGER_POWER, LEAST_WEIGHT = 8, 1e-6
"""How much more often the dangerous positions are followed where not all are."""
BOARDS = 16_384
"""Positions whose replies are enumerated at once."""


class Ply(NamedTuple):
    """Hold the distinct positions [n] of one ply in which the agent is to move, sorted, and what it may play there."""

    mine: IntArray
    """int64"""
    theirs: IntArray
    """int64"""
    moves: IntArray
    """int64: the cells that it may mark, a bitboard; one, if it does not draw its moves."""


class Reached(NamedTuple):
    """Hold positions [n] of one ply, from the agent's view, and what leads to each."""

    mine: IntArray
    """int64"""
    theirs: IntArray
    """int64"""
    lines: NDArray[Any]
    """Game lines: int64, or Python integers where those would overflow."""
    chance: FloatArray
    """Probability if the opponent picks among the empty cells uniformly."""

    def where(self, chosen: NDArray[np.bool_] | IntArray | slice) -> "Reached":
        """Return some of the positions."""
        return Reached(self.mine[chosen], self.theirs[chosen], self.lines[chosen], self.chance[chosen])


def begun(mine: IntArray, theirs: IntArray) -> Reached:
    """Return positions [n] at which one game each begins."""
    return Reached(mine, theirs, np.ones(len(mine), np.int64), np.ones(len(mine)))


class Ends:
    """Add up the game lines and the probability of one kind of end."""

    def __init__(self) -> None:
        self.lines = 0
        self.chance = 0.0

    def add(self, ended: Reached) -> None:
        """Add all these positions."""
        self.lines += int(ended.lines.sum())
        self.chance += float(ended.chance.sum())


class TooManyError(Exception):
    """There are more distinct positions than were to be followed."""


class Walk:
    """Follow every game that an agent in one seat can come to, and count how they end.

    Of more distinct positions of one ply than `limit` a random part is followed, which `salt` chooses; without one
    the walk ends there. With `settle` a game ends where the opponent has no line left that it could complete: of an
    agent that never marks a taken cell nothing can be lost there.
    """

    def __init__(self, judge: Asked, seat: int, limit: int, salt: int | None = None, settle: bool = False) -> None:
        self._judge, self._rules, self._seat = judge, judge.rules, seat
        self._limit, self._salt, self._settle = limit, salt, settle
        self.won, self.drawn, self.lost, self.illegal, self.settled = Ends(), Ends(), Ends(), Ends(), Ends()
        self.positions = 0
        """Distinct positions met in which the agent is to move."""
        self.followed = self._rules.cells
        """Plies up to which every game line is followed."""
        self.drawn_moves: list[Moves] = []
        """Those of an agent that draws, which its mean result asks for."""

    @property
    def whole(self) -> bool:
        """Tell whether no position was left out."""
        return self.followed == self._rules.cells

    def run(self, visit: Callable[[int, Ply], None], start: Reached | None = None, first: int = 0) -> None:
        """Go through the plies at which the agent is to move, and let each with its number be visited.

        The games begin on the empty board, or at the positions `start` of the ply `first`.
        """
        rules = self._rules
        level = begun(np.zeros(1, np.int64), np.zeros(1, np.int64)) if start is None else start
        for ply in range(first, rules.cells):
            if not len(level.mine):
                return
            if ply % 2 == self._seat:
                level = self._own_ply(ply, level, visit)
                continue
            after = replies(rules, level, rules.cells - ply, self.lost)
            if self._judge.symmetric:
                # Of equal worth, with as many lines behind it, is every image of a position, so one stands for all.
                after = (represented(rules, merged(rules, [part])) for part in after)
            try:
                level, whole = distinct(rules, after, self._limit, self._salt)
            except TooManyError:
                self.followed = min(self.followed, ply)
                return
            if not whole:
                self.followed = min(self.followed, ply)
        self.drawn.add(level)

    def _own_ply(self, ply: int, level: Reached, visit: Callable[[int, Ply], None]) -> Reached:
        """Let the agent move, and return the positions in which the opponent is to."""
        judge, rules = self._judge, self._rules
        self.positions += len(level.mine)
        if judge.draws:
            chances = judge.chances(level.mine, level.theirs)
            self.drawn_moves.append(Moves(level.mine, level.theirs, chances))
            visit(ply, Ply(level.mine, level.theirs, _bitboards(chances > 0)))
            return merged(rules, [self._move(*one) for one in _drawn(level, chances)])
        cells = judge.cells(level.mine, level.theirs)
        visit(ply, Ply(level.mine, level.theirs, np.int64(1) << cells))
        return self._move(level, cells)

    def _move(self, level: Reached, cells: NDArray[np.int64]) -> Reached:
        rules = self._rules
        bit = np.int64(1) << cells
        taken = (level.mine | level.theirs) & bit != 0
        self.illegal.add(level.where(taken))
        moved = level._replace(mine=level.mine | bit)
        wins = rules.has_line(moved.mine) & ~taken
        self.won.add(moved.where(wins))
        goes_on = ~(wins | taken)
        if self._settle:
            harmless = goes_on & ~rules.has_line(rules.full_word & ~moved.mine)
            self.settled.add(moved.where(harmless))
            goes_on &= ~harmless
        return merged(rules, [moved.where(goes_on)])


def moves_of(judge: Asked, mine: IntArray, theirs: IntArray) -> IntArray:
    """Return the cells that an agent may mark in each position, bitboards [n]."""
    if judge.draws:
        return _bitboards(judge.chances(mine, theirs) > 0)
    return np.int64(1) << judge.cells(mine, theirs)


def _bitboards(marked: NDArray[np.bool_]) -> IntArray:
    """Return cells [n, A] as bitboards [n]."""
    bitboards: IntArray = np.where(marked, np.int64(1) << np.arange(marked.shape[1]), 0).sum(axis=1)
    return bitboards


def _drawn(level: Reached, chances: FloatArray) -> Iterator[tuple[Reached, NDArray[np.int64]]]:
    """Yield for each cell the positions in which it has any probability, with what leads to that move."""
    for cell in range(chances.shape[1]):
        chance = chances[:, cell]
        some = level.where(chance > 0)
        yield some._replace(chance=some.chance * chance[chance > 0]), np.full(len(some.mine), cell, dtype=np.int64)


def replies(rules: Rules, level: Reached, empty_cells: int, lost: Ends) -> Iterator[Reached]:
    """Let the opponent play every empty cell, add what it wins by it, and yield the other positions after it.

    The positions are taken in order, some at a time.
    """
    lines = level.lines
    if int(lines.sum()) * empty_cells >= 2**63:
        lines = lines.astype(object)
    level = level._replace(lines=lines, chance=level.chance / empty_cells)
    for start in range(0, len(lines), BOARDS):
        some = level.where(slice(start, start + BOARDS))
        occupied, winning = some.mine | some.theirs, rules.winning_cells(some.theirs)
        after = []
        for cell in range(rules.cells):
            free = (occupied >> cell) & 1 == 0
            wins = (winning >> cell) & 1 != 0
            lost.add(some.where(free & wins))
            going_on = some.where(free & ~wins)
            after.append(going_on._replace(theirs=going_on.theirs | (np.int64(1) << cell)))
        yield Reached(*map(np.concatenate, zip(*after, strict=True)))


def represented(rules: Rules, level: Reached) -> Reached:
    """Return the positions as those of their images that all of them share."""
    mine, theirs = representatives(rules, level.mine, level.theirs)
    return level._replace(mine=mine, theirs=theirs)


def distinct(rules: Rules, parts: Iterable[Reached], limit: int, salt: int | None = None) -> tuple[Reached, bool]:
    """Return the distinct positions of all parts, sorted, with what leads to each added up, and whether these are all.

    Of more than `limit` a random part is kept, which `salt` chooses.

    Raises:
        TooManyError: there are more, and no salt is given.
    """
    waiting: list[Reached] = []
    whole = True

    def kept() -> Reached:
        nonlocal whole
        level = merged(rules, waiting)
        if len(level.mine) <= limit:
            return level
        if salt is None:
            raise TooManyError
        whole = False
        return level.where(np.sort(np.argpartition(_lots(rules, level, salt), limit)[:limit]))

    for part in parts:
        waiting.append(merged(rules, [part]))
        if sum(len(each.mine) for each in waiting) > 2 * limit:
            waiting = [kept()]
    return kept(), whole


def _lots(rules: Rules, level: Reached, salt: int) -> FloatArray:
    """Return a number for each position [n] by which the least are a random part, in which the more dangerous are more.

    Wherever a position turns up, its number is the same. The least of -log(u) / w, with u uniform, are a sample without
    replacement in proportion to the weights w (Efraimidis and Spirakis, "Weighted random sampling", 2006).
    """
    from selfplay.evaluation.danger import dangers  # noqa: PLC0415 (a compiler, of which most walks have no need)

    mixed = level.mine.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= (level.theirs.astype(np.uint64) + np.uint64(salt)) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    uniform = (mixed >> np.uint64(12)).astype(np.float64) / 2.0**52
    weights = dangers(rules, level.mine, level.theirs) ** DANGER_POWER + LEAST_WEIGHT
    lots: FloatArray = -np.log(np.maximum(uniform, 2.0**-53)) / weights
    return lots


def merged(rules: Rules, parts: Iterable[Reached]) -> Reached:
    """Return the same as `distinct`, however many they are."""
    mine, theirs, lines, chance = map(np.concatenate, zip(*parts, strict=True))
    # Sorted by the agent's marks first: replies leave them alone, so equal positions come from neighbours.
    one_word = 2 * rules.cells < WORD_BITS
    order = np.argsort(sort_keys(rules, mine, theirs)) if one_word else np.lexsort((theirs, mine))
    mine, theirs = mine[order], theirs[order]
    starts = np.ones(len(mine), dtype=np.bool_)
    starts[1:] = (mine[1:] != mine[:-1]) | (theirs[1:] != theirs[:-1])
    first = np.flatnonzero(starts)
    return Reached(
        mine[first], theirs[first], np.add.reduceat(lines[order], first), np.add.reduceat(chance[order], first)
    )
