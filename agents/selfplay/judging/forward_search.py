"""The forward search of an evaluation: ply by ply, every position that an agent's moves and any legal replies lead to.

Each distinct position is visited once, with the number of games and the probability that lead to it, so 4,4,4 takes
thousands of positions where its whole tree has millions. If an agent plays the same in all symmetric images of a
position, one image of each is enough.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from selfplay.agent import Array
from selfplay.judging.agents import BOARDS, AgentPolicy, bitboards
from tictactoe import Rules, planes
from tictactoe.rules import WORD_BITS
from tictactoe.symmetry import representatives
from tictactoe.tree import BoolArray, FloatArray, IntArray

WEIGHT_POWER, LEAST_WEIGHT = 8, 1e-6
"""Power of the Erdős-Selfridge weight by which positions are sampled, where not all are followed, and its least."""
NO_MARKS: IntArray = np.zeros(1, np.int64)
"""The marks of a seat on the empty board."""


class Ply(NamedTuple):
    """Hold the distinct positions [n] of one ply in which the agent is to move, sorted, and its moves there."""

    mine: IntArray
    """int64"""
    theirs: IntArray
    """int64"""
    moves: IntArray
    """int64: bitboards of the cells that it may mark; one cell, if it samples none."""
    probabilities: FloatArray | None = None
    """[n, A], of an agent that samples its moves."""


class Moved(NamedTuple):
    """Hold the result of each of the agent's moves of one ply; an agent that samples has several in a position."""

    position: IntArray
    """Number of the position in its ply."""
    cell: IntArray
    mine: IntArray
    """Marks of the agent after the move."""
    theirs: IntArray
    taken: BoolArray
    won: BoolArray


def moved(rules: Rules, ply: Ply) -> Moved:
    """Return the result of the moves of a ply."""
    position, cell = np.nonzero(planes.bits(rules.cells, ply.moves))
    mine, theirs, bit = ply.mine[position], ply.theirs[position], np.int64(1) << cell
    taken = (mine | theirs) & bit != 0
    mine = mine | bit
    return Moved(position, cell, mine, theirs, taken, rules.has_line(mine) & ~taken)


class Frontier(NamedTuple):
    """Hold positions [n] of one ply, from the agent's view, and what leads to each."""

    mine: IntArray
    """int64"""
    theirs: IntArray
    """int64"""
    games: Array
    """Number of games: int64, or Python integers where those would overflow."""
    probability: FloatArray
    """Probability against uniformly random replies."""


Positions = TypeVar("Positions", Ply, Frontier)
Report = Callable[[int, int, int], None]
"""A function that is called at each ply of the agent with the seat, the ply and its number of distinct positions."""


def some_of(positions: Positions, which: BoolArray | IntArray | slice) -> Positions:
    """Return some of the positions of a ply."""
    return type(positions)._make(None if field is None else field[which] for field in positions)


class Total:
    """Add up the games of one result, and their probability."""

    def __init__(self) -> None:
        self.games = 0
        self.probability = 0.0

    def add(self, ended: Frontier) -> None:
        """Add all these positions."""
        self.games += int(ended.games.sum())
        self.probability += float(ended.probability.sum())


class ForwardSearch:
    """Follow every game that an agent can play in one seat, and count the results.

    If a ply has more than `limit` distinct positions, a random part is followed, which `salt` chooses; without a salt
    the search ends there. With `settle` a game ends where the opponent has no line left that it could complete: an
    agent that never marks a taken cell cannot lose from there.
    """

    def __init__(
        self,
        policy: AgentPolicy,
        seat: int,
        limit: int,
        salt: int | None = None,
        settle: bool = False,
        report: Report | None = None,
    ) -> None:
        self._policy, self._rules, self._seat = policy, policy.rules, seat
        self._limit, self._salt, self._settle, self._report = limit, salt, settle, report
        self.won, self.drawn, self.lost, self.illegal, self.settled = (Total() for _ in range(5))
        self.positions = 0
        """Distinct positions met in which the agent is to move."""
        self.plies_followed = self._rules.cells
        """Plies to which every game is followed."""

    @property
    def complete(self) -> bool:
        """Tell whether no position was left out."""
        return self.plies_followed == self._rules.cells

    def plies(self, mine: IntArray = NO_MARKS, theirs: IntArray = NO_MARKS, first: int = 0) -> Iterator[Ply]:
        """Search to the end of all games, and yield each ply at which the agent is to move; the totals are then known.

        The games start on the empty board, or at the positions [n] of the ply `first`, bitboards.
        """
        frontier = merged(self._rules, [Frontier(mine, theirs, np.ones(len(mine), np.int64), np.ones(len(mine)))])
        for number in range(first, self._rules.cells):
            if not len(frontier.mine):
                return
            if number % 2 == self._seat:
                if self._report is not None:
                    self._report(self._seat, number, len(frontier.mine))
                ply = self._moves(frontier)
                yield ply
                frontier = self._after_moves(frontier, ply)
                continue
            parts = replies(self._rules, frontier, self._rules.cells - number, self.lost)
            if self._policy.symmetric:
                # Every image of a position has equally many games behind it, so one image represents all.
                parts = map(self._one_image, parts)
            frontier, complete = distinct(self._rules, parts, self._limit, self._salt)
            if not complete:
                self.plies_followed = min(self.plies_followed, number)
                if self._salt is None:
                    return
        self.drawn.add(frontier)

    def _one_image(self, part: Frontier) -> Frontier:
        part = merged(self._rules, [part])
        mine, theirs = representatives(self._rules, part.mine, part.theirs)
        return part._replace(mine=mine, theirs=theirs)

    def _moves(self, frontier: Frontier) -> Ply:
        self.positions += len(frontier.mine)
        mine, theirs = frontier.mine, frontier.theirs
        if not self._policy.stochastic:
            return Ply(mine, theirs, self._policy.moves(mine, theirs))
        probabilities = self._policy.probabilities(mine, theirs)
        return Ply(mine, theirs, bitboards(probabilities > 0), probabilities)

    def _after_moves(self, frontier: Frontier, ply: Ply) -> Frontier:
        """Return the positions in which the opponent is to move."""
        position, cell, mine, theirs, taken, won = moved(self._rules, ply)
        probability = frontier.probability[position]
        if ply.probabilities is not None:
            probability *= ply.probabilities[position, cell]
        after = Frontier(mine, theirs, frontier.games[position], probability)
        self.illegal.add(some_of(after, taken))
        self.won.add(some_of(after, won))
        going_on = ~(taken | won)
        if self._settle:
            settled = going_on & ~self._rules.has_line(self._rules.full_word & ~mine)
            self.settled.add(some_of(after, settled))
            going_on &= ~settled
        return merged(self._rules, [some_of(after, going_on)])


def replies(rules: Rules, frontier: Frontier, empty_cells: int, lost: Total) -> Iterator[Frontier]:
    """Let the opponent mark every empty cell, add the games it wins to `lost`, and yield the other positions after it.

    The positions are taken in order, some at a time.
    """
    games = frontier.games
    if int(games.sum()) * empty_cells >= 2**63:
        games = games.astype(object)
    frontier = frontier._replace(games=games, probability=frontier.probability / empty_cells)
    for start in range(0, len(games), BOARDS):
        some = some_of(frontier, slice(start, start + BOARDS))
        position, cell = np.nonzero(planes.bits(rules.cells, rules.empty_cells(some.mine, some.theirs)))
        wins = rules.winning_cells(some.theirs)[position] >> cell & 1 != 0
        after = some_of(some, position)
        lost.add(some_of(after, wins))
        yield some_of(after._replace(theirs=after.theirs | np.int64(1) << cell), ~wins)


def distinct(rules: Rules, parts: Iterable[Frontier], limit: int, salt: int | None = None) -> tuple[Frontier, bool]:
    """Return the distinct positions of all parts, sorted, with the sums of what leads to each, and whether it is all.

    Of more than `limit` a random part is returned, which `salt` chooses, or without a salt an arbitrary one.
    """
    waiting: list[Frontier] = []
    complete = True

    def limited() -> Frontier:
        nonlocal complete
        frontier = merged(rules, waiting)
        if len(frontier.mine) <= limit:
            return frontier
        complete = False
        if salt is None:
            return frontier
        return some_of(frontier, np.sort(np.argpartition(_sampling_keys(rules, frontier, salt), limit)[:limit]))

    for part in parts:
        waiting.append(merged(rules, [part]))
        if sum(len(each.mine) for each in waiting) > 2 * limit:
            waiting = [limited()]
            if not complete and salt is None:
                break
    return limited(), complete


def _sampling_keys(rules: Rules, frontier: Frontier, salt: int) -> FloatArray:
    """Return a number for each position [n]; the least are a random part, in which dangerous positions are more likely.

    A position has the same number wherever it occurs. The least of -log(u) / w, with u uniform, are a sample without
    replacement in proportion to the weights w (Efraimidis and Spirakis, "Weighted random sampling", 2006).
    """
    mixed = frontier.mine.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= (frontier.theirs.astype(np.uint64) + np.uint64(salt)) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    uniform = (mixed >> np.uint64(12)).astype(np.float64) / 2.0**52
    parts = np.array_split(np.stack([frontier.mine, frontier.theirs]), len(uniform) // BOARDS + 1, axis=1)
    likely = np.concatenate([weights(rules, *part) for part in parts]) ** WEIGHT_POWER + LEAST_WEIGHT
    return -np.log(np.maximum(uniform, 2.0**-53)) / likely


def weights(rules: Rules, mine: IntArray, theirs: IntArray) -> FloatArray:
    """Return the sum of 2^-e over the lines without a mark of `mine`, with e empty cells each, for every position [n].

    Erdős and Selfridge (1973) bound by it what an opponent with the marks `theirs` can still win.
    """
    lines = planes.bits(rules.cells, np.array(rules.lines, np.uint64).view(np.int64)).astype(np.float32)
    own, others = (planes.bits(rules.cells, side) @ lines.T for side in (mine, theirs))  # [n, L] marks
    sums: FloatArray = np.where(own > 0, 0, np.exp2(others - rules.k)).sum(axis=1, dtype=np.float64)
    return sums


def merged(rules: Rules, parts: Iterable[Frontier]) -> Frontier:
    """Return the distinct positions of all parts, sorted, with the sums of what leads to each."""
    every = Frontier._make(map(np.concatenate, zip(*parts, strict=True)))
    # Sorted by the agent's marks first: replies leave them alone, so equal positions come from neighbours.
    keys = sort_keys(rules, every.mine, every.theirs)
    every = some_of(every, np.argsort(keys) if keys.dtype == np.int64 else np.lexsort((every.theirs, every.mine)))
    starts = np.ones(len(keys), dtype=np.bool_)
    starts[1:] = (every.mine[1:] != every.mine[:-1]) | (every.theirs[1:] != every.theirs[:-1])
    first = np.flatnonzero(starts)
    games, probability = (np.add.reduceat(numbers, first) for numbers in (every.games, every.probability))
    return Frontier(every.mine[first], every.theirs[first], games, probability)


def sort_keys(rules: Rules, mine: IntArray, theirs: IntArray) -> Array:
    """Return one sortable key [n] for each position, in the order of `merged`."""
    if 2 * rules.cells < WORD_BITS:
        return mine << rules.cells | theirs
    keys = np.empty(len(mine), dtype=[("mine", np.int64), ("theirs", np.int64)])
    keys["mine"], keys["theirs"] = mine, theirs
    return keys
