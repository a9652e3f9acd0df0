"""The forward search of an evaluation: ply by ply, every position that an agent's moves and any legal replies lead to.

Each distinct position is visited once, with the number of games and the probability that lead to it, so 4,4,4 takes
thousands of positions where its whole tree has millions. If an agent plays the same in all symmetric images of a
position, one image of each is enough.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from selfplay.judge.ask import BOARDS, AgentPolicy, move_sets
from selfplay.protocols import Array
from tictactoe import Rules, planes
from tictactoe.rules import WORD_BITS
from tictactoe.symmetry import representatives
from tictactoe.tree import BoolArray, FloatArray, IntArray

WEIGHT_POWER, LEAST_WEIGHT = 8, 1e-6
"""Power of the Erdős-Selfridge weight by which positions are sampled, where not all are followed, and its least."""


class Ply(NamedTuple):
    """The distinct positions [n] of one ply in which the agent is to move, sorted, and its moves there."""

    mine: IntArray
    """int64"""
    theirs: IntArray
    """int64"""
    answers: Array
    """Its cells [n] or, if it samples, the probability of each move [n, A]."""

    @property
    def moves(self) -> IntArray:
        """Return the cells that it may mark, bitboards [n] int64."""
        return move_sets(self.answers)


class MoveResults(NamedTuple):
    """The result of each of the agent's moves of one ply; an agent that samples has several in a position."""

    position: IntArray
    """Number of the position in its ply."""
    cell: IntArray
    mine: IntArray
    """Marks of the agent after the move."""
    theirs: IntArray
    taken: BoolArray
    won: BoolArray
    lost: BoolArray
    """By a line of its own, with rules under which that loses."""


class Frontier(NamedTuple):
    """Positions [n] of one ply, from the agent's view, and what leads to each."""

    mine: IntArray
    """int64"""
    theirs: IntArray
    """int64"""
    games: Array
    """Number of games: int64, or Python integers where those would overflow."""
    probability: FloatArray
    """Probability against uniformly random replies."""


Positions = TypeVar("Positions", Ply, Frontier)


@dataclass
class Total:
    """The games of one result, and their probability against uniformly random replies."""

    games: int = 0
    probability: float = 0.0

    def add(self, ended: Frontier) -> None:
        """Add all these positions."""
        self.games += int(ended.games.sum())
        self.probability += float(ended.probability.sum())


@dataclass
class SeatPlay:
    """All that an agent's games in one seat lead to."""

    plies_followed: int
    """Plies to which every game was followed."""
    complete: bool = True
    """Whether no position was left out."""
    plies: list[Ply] = field(default_factory=list)
    """The plies at which it is to move."""
    won: Total = field(default_factory=Total)
    drawn: Total = field(default_factory=Total)
    lost: Total = field(default_factory=Total)
    """By a line."""
    illegal: Total = field(default_factory=Total)
    """By marking a taken cell."""
    settled: Total = field(default_factory=Total)
    """Not followed further, as the agent could no longer lose."""

    @property
    def beaten(self) -> bool:
        """Return whether there is a way to beat it."""
        return self.lost.games > 0 or self.illegal.games > 0


def follow(
    policy: AgentPolicy, seat: int, limit: int, *, sample_seed: int | None = None, settle: bool = False
) -> SeatPlay:
    """Follow every game that an agent can play in one seat, and count the results.

    If a ply has more than `limit` distinct positions, a random part is followed, which `sample_seed` chooses; without
    one the search ends there. With `settle` a game ends where no line that could still be completed loses: an agent
    that never marks a taken cell cannot lose from there.
    """
    rules = policy.rules
    play = SeatPlay(plies_followed=rules.cells)
    frontier = Frontier(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64), np.ones(1))
    for number in range(rules.cells):
        if not len(frontier.mine):
            break
        if number % 2 == seat:
            if policy.progress is not None:
                policy.progress.follow(seat, number, len(frontier.mine))
            ply = Ply(frontier.mine, frontier.theirs, policy.answers(frontier.mine, frontier.theirs, BOARDS))
            play.plies.append(ply)
            frontier = _move(rules, frontier, ply, settle, play)
        else:
            ended = play.lost if rules.line_result > 0 else play.won
            parts = replies(rules, frontier, rules.cells - number, ended)
            if policy.symmetric:
                # Every image of a position has equally many games behind it, so one image represents all.
                parts = (_one_image(rules, part) for part in parts)
            frontier, whole = distinct(rules, parts, limit, sample_seed)
            if not whole:
                play.complete = False
                play.plies_followed = min(play.plies_followed, number)
                if sample_seed is None:
                    break
    else:  # the board is full
        play.drawn.add(frontier)
    return play


def _move(rules: Rules, frontier: Frontier, ply: Ply, settle: bool, play: SeatPlay) -> Frontier:
    """Return the positions in which the opponent is to move, and add the games that end before to the totals."""
    position, cell, mine, theirs, taken, won, lost = move_results(rules, ply.mine, ply.theirs, ply.moves)
    probability = frontier.probability[position]
    if ply.answers.ndim == 2:
        probability *= ply.answers[position, cell]
    after = Frontier(mine, theirs, frontier.games[position], probability)
    play.illegal.add(some_of(after, taken))
    play.won.add(some_of(after, won))
    play.lost.add(some_of(after, lost))
    unfinished = ~(taken | won | lost)
    if settle:
        settled = unfinished & ~rules.can_lose(mine, theirs)
        play.settled.add(some_of(after, settled))
        unfinished &= ~settled
    return merged(rules, [some_of(after, unfinished)])


def _one_image(rules: Rules, part: Frontier) -> Frontier:
    part = merged(rules, [part])
    mine, theirs = representatives(rules, part.mine, part.theirs)
    return part._replace(mine=mine, theirs=theirs)


def move_results(rules: Rules, mine: IntArray, theirs: IntArray, moves: IntArray) -> MoveResults:
    """Return the result of each of the moves, bitboards [n], in positions [n]."""
    position, cell = np.nonzero(planes.bits(rules.cells, moves))
    mine, theirs, bit = mine[position], theirs[position], np.int64(1) << cell
    taken = rules.legal_cells(mine, theirs) & bit == 0
    mine = mine | bit
    line = rules.has_line(mine) & ~taken
    won, lost = line & (rules.line_result > 0), line & (rules.line_result < 0)
    return MoveResults(position, cell, mine, theirs, taken, won, lost)


def replies(rules: Rules, frontier: Frontier, legal_cells: int, ended: Total) -> Iterator[Frontier]:
    """Let the opponent mark every legal cell, and yield the positions after it; games that its line ends are `ended`.

    The positions are taken in order, some at a time.
    """
    games = frontier.games
    if int(games.sum()) * legal_cells >= 2**63:
        games = games.astype(object)
    frontier = frontier._replace(games=games, probability=frontier.probability / legal_cells)
    for start in range(0, len(games), BOARDS):
        some = some_of(frontier, slice(start, start + BOARDS))
        position, cell = np.nonzero(planes.bits(rules.cells, rules.legal_cells(some.mine, some.theirs)))
        lines = rules.completing_cells(some.theirs)[position] >> cell & 1 != 0
        after = some_of(some, position)
        ended.add(some_of(after, lines))
        yield some_of(after._replace(theirs=after.theirs | np.int64(1) << cell), ~lines)


def distinct(
    rules: Rules, parts: Iterable[Frontier], limit: int, sample_seed: int | None = None
) -> tuple[Frontier, bool]:
    """Return the distinct positions of all parts, sorted, with the sums of what leads to each, and whether it is all.

    Of more than `limit` a random part is returned, which `sample_seed` chooses. Without a seed they may be any of them.
    """
    waiting: list[Frontier] = []
    complete = True
    for part in parts:
        waiting.append(merged(rules, [part]))
        if sum(len(each.mine) for each in waiting) > 2 * limit:
            frontier, whole = _at_most(rules, waiting, limit, sample_seed)
            complete = complete and whole
            waiting = [frontier]
            if not whole and sample_seed is None:
                break
    frontier, whole = _at_most(rules, waiting, limit, sample_seed)
    return frontier, complete and whole


def _at_most(rules: Rules, parts: Iterable[Frontier], limit: int, sample_seed: int | None) -> tuple[Frontier, bool]:
    """Return the distinct positions of all parts, with a seed at most `limit`, and whether there are no more."""
    frontier = merged(rules, parts)
    if len(frontier.mine) <= limit:
        return frontier, True
    if sample_seed is not None:
        kept = np.argpartition(_sampling_keys(rules, frontier, sample_seed), limit)[:limit]
        frontier = some_of(frontier, np.sort(kept))
    return frontier, False


def _sampling_keys(rules: Rules, frontier: Frontier, sample_seed: int) -> FloatArray:
    """Return a number for each position [n]; the smallest are a sample in which dangerous positions are more likely.

    A position has the same number wherever it occurs. The smallest of -log(u) / w, with u uniform, are a sample without
    replacement in proportion to the weights w (Efraimidis and Spirakis, "Weighted random sampling", 2006).
    """
    mixed = frontier.mine.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= (frontier.theirs.astype(np.uint64) + np.uint64(sample_seed)) * np.uint64(0xC2B2AE3D27D4EB4F)
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


def some_of(positions: Positions, which: BoolArray | IntArray | slice) -> Positions:
    """Return some of the positions of a ply."""
    return type(positions)._make(field[which] for field in positions)


def sort_keys(rules: Rules, mine: IntArray, theirs: IntArray) -> Array:
    """Return one sortable key [n] for each position, in the order of `merged`."""
    if 2 * rules.cells < WORD_BITS:
        return mine << rules.cells | theirs
    keys = np.empty(len(mine), dtype=[("mine", np.int64), ("theirs", np.int64)])
    keys["mine"], keys["theirs"] = mine, theirs
    return keys
