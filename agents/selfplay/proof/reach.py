"""Exact evaluation on boards of any size: only what an agent's own play leads to is followed.

In each seat, ply by ply from the empty board, the agent's one move and every legal reply are followed. Each distinct
position is visited once, with the number of game lines and the probability that lead to it, so 4,4,4 takes
thousands of positions where its whole tree has millions. Of an agent that plays the same in all symmetric images of a
position, one image of each is enough. Every legal reply being followed, the worst end
that is met is what a best response makes of the agent; no solution of the game is needed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.agent import AnyAgent
from selfplay.proof.evaluation import Proof, SeatEvaluation, evaluate_tree, worst_result
from selfplay.proof.judge import Asked, Judge
from selfplay.proof.stochastic import Moves, sort_keys, worst_mean_of
from tictactoe import Rules, batch
from tictactoe.rules import WORD_BITS
from tictactoe.symmetry import representatives
from tictactoe.tree import SOLVABLE_CELLS, FloatArray, IntArray

POSITIONS = 500_000
"""Distinct positions that are followed in each seat, unless told otherwise: more than players of 4,4,4 lead to."""
BOARDS = 16_384
"""Positions whose replies are enumerated at once."""
WHOLE_TREE_CELLS = 12
"""Up to this board size the whole tree is evaluated in less than a second."""


@dataclass(frozen=True)
class Unfinished:
    """Say how far the game lines of one seat were followed before there were too many positions."""

    plies: int
    """Every game line is followed so far."""
    positions: int
    """Distinct positions met, of those in which the agent is to move."""
    losses: int
    """Lost game lines among those that have ended; there may be more."""
    illegal: int
    """Game lines that a taken cell has ended; there may be more."""


@dataclass(frozen=True)
class Unproved:
    """Hold what is known of an agent that leads to more positions, in one seat or both, than were to be followed."""

    first: SeatEvaluation | Unfinished
    second: SeatEvaluation | Unfinished

    @property
    def beatable(self) -> bool:
        """Tell whether a lost or an illegal line was met, which settles that it is not unbeatable."""
        return any((self.first.losses, self.first.illegal, self.second.losses, self.second.illegal))

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers ready for JSON, with None for the verdicts that are open."""
        verdicts = {"unbeatable": False if self.beatable else None, "unexploitable": None, "optimal": None}
        return {**asdict(self), **verdicts}


def assess(judge: Asked, every_state: bool = False, positions: int = POSITIONS) -> Proof | Unproved:
    """Evaluate an agent over the whole tree where that is cheap enough, else over what its own play leads to.

    The whole tree counts up to 12 cells, which takes less than a second, and with `every_state` up to 16; beyond, at
    most so many distinct `positions` are followed in each seat.
    """
    whole = judge.rules.cells <= (SOLVABLE_CELLS if every_state else WHOLE_TREE_CELLS)
    return evaluate_tree(judge) if whole else _evaluate_reach(judge, positions)


def evaluate_reach(
    agent: AnyAgent, rules: Rules, positions: int = POSITIONS, perspective: str = "absolute"
) -> Proof | Unproved:
    """Evaluate an agent exactly, as it acts without being given a mask, by what its own play leads to.

    At most so many distinct positions are followed in each seat, which take about 200 bytes each at the widest ply;
    of an agent that draws its moves all of them are kept to the end. What an agent is stands at `evaluate`.

    Raises:
        ValueError: the board has more than 64 cells, or there is no such perspective.
        UserError: it is no agent, or answers the same positions differently when asked twice.
        gymnasium.error.InvalidAction: it answers something else than a cell, or probabilities, for each board.
    """
    return _evaluate_reach(Judge(agent, rules, perspective), positions)


def _evaluate_reach(judge: Asked, positions: int) -> Proof | Unproved:
    batch.check_fits(judge.rules)
    first, second = (follow(judge, seat, positions) for seat in (0, 1))
    if isinstance(first, Unfinished) or isinstance(second, Unfinished):
        return Unproved(first, second)
    return Proof(first, second)


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

    def where(self, chosen: NDArray[np.bool_] | slice) -> "Reached":
        """Return some of the positions."""
        return Reached(self.mine[chosen], self.theirs[chosen], self.lines[chosen], self.chance[chosen])


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


def follow(judge: Asked, seat: int, limit: int) -> SeatEvaluation | Unfinished:
    """Follow every game that an agent in one seat can come to, over at most so many distinct positions of its own."""
    rules = judge.rules
    won, drawn, lost, illegal = Ends(), Ends(), Ends(), Ends()
    level = Reached(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64), np.ones(1))
    met = 0
    moves: list[Moves] = []
    """Those of an agent that draws, which its mean result asks for."""
    for ply in range(rules.cells):
        if not len(level.mine):
            break
        if ply % 2 == seat:
            chances = judge.chances(level.mine, level.theirs) if judge.draws else None
            if chances is None:
                cells = judge.cells(level.mine, level.theirs)
                level = _move(rules, level, cells, won, illegal)
            else:
                moves.append(Moves(level.mine, level.theirs, chances))
                level = merged(rules, [_move(rules, *one, won, illegal) for one in _drawn(level, chances)])
            continue
        try:
            after = replies(rules, level, rules.cells - ply, lost)
            if judge.symmetric:
                # Of equal worth, with as many lines behind it, is every image of a position, so one stands for all.
                after = (represented(rules, merged(rules, [part])) for part in after)
            level = distinct(rules, after, limit - met)
        except TooManyError:
            return Unfinished(ply, met, lost.lines, illegal.lines)
        met += len(level.mine)
    drawn.add(level)
    worst = worst_result(lost.lines + illegal.lines, drawn.lines)
    return SeatEvaluation(
        losses=lost.lines,
        illegal=illegal.lines,
        win=won.chance,
        draw=drawn.chance,
        loss=lost.chance + illegal.chance,
        best_response=worst_mean_of(rules, moves, seat) if moves else worst,
    )


def _drawn(level: Reached, chances: FloatArray) -> Iterator[tuple[Reached, NDArray[np.int64]]]:
    """Yield for each cell the positions in which it has any probability, with what leads to that move."""
    for cell in range(chances.shape[1]):
        chance = chances[:, cell]
        some = level.where(chance > 0)
        yield some._replace(chance=some.chance * chance[chance > 0]), np.full(len(some.mine), cell, dtype=np.int64)


def _move(rules: Rules, level: Reached, cells: NDArray[np.int64], won: Ends, illegal: Ends) -> Reached:
    """Mark a cell in each of distinct positions, add what ends by it, and return the distinct positions after it."""
    cell = np.int64(1) << cells
    taken = (level.mine | level.theirs) & cell != 0
    illegal.add(level.where(taken))
    moved = level._replace(mine=level.mine | cell)
    wins = rules.has_line(moved.mine)
    won.add(moved.where(wins & ~taken))
    return merged(rules, [moved.where(~wins & ~taken)])


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


def distinct(rules: Rules, parts: Iterable[Reached], limit: int) -> Reached:
    """Return the distinct positions of all parts, sorted, with what leads to each added up.

    Raises:
        TooManyError: there are more than `limit`.
    """
    waiting: list[Reached] = []
    for part in parts:
        waiting.append(merged(rules, [part]))
        if sum(len(each.mine) for each in waiting) > 2 * limit:
            waiting = [merged(rules, waiting)]
            if len(waiting[0].mine) > limit:
                raise TooManyError
    whole = merged(rules, waiting)
    if len(whole.mine) > limit:
        raise TooManyError
    return whole


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
