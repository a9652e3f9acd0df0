"""Counterexamples: the positions of an agent's own play from which some replies beat it, and the shortest such line.

The walk is that of the proof. Going back from the last ply, a position is beaten if the agent marks a taken cell there,
or if some reply completes a line or leads to a beaten position. Whoever begins games there learns what the proof has
found wrong.
"""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.agent import AnyAgent
from selfplay.proof.evaluation import Proof
from selfplay.proof.judge import Asked, Judge
from selfplay.proof.reach import POSITIONS, Unproved, follow, of_seats
from selfplay.proof.stochastic import sort_keys
from selfplay.proof.walk import Ply, moves_of
from tictactoe import Rules, batch, planes
from tictactoe.symmetry import representatives
from tictactoe.tree import IntArray

NEVER = np.iinfo(np.int16).max
"""Plies to the end of what cannot be beaten."""


class Counterexamples(NamedTuple):
    """Hold what beats an agent."""

    mover: IntArray
    """[n] int64: the agent's marks in each beaten position, a bitboard."""
    opponent: IntArray
    """[n] int64: the other seat's."""
    whole: bool
    """Whether these are all; False if there were too many positions, and a random part of each ply was followed."""
    lines: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
    """The cells of the shortest lines that beat it in each seat, the shortest first; none where none was found."""
    evaluation: Proof | Unproved
    """What the same walk proves."""

    @property
    def shortest(self) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
        """Return the cells of a shortest line that beats it in each seat; None where no line was found."""
        first, second = (next(iter(lines), None) for lines in self.lines)
        return first, second


def counterexamples(
    agent: AnyAgent, rules: Rules, positions: int = POSITIONS, perspective: str = "absolute", seed: int = 0
) -> Counterexamples:
    """Find the positions of an agent's own play from which some replies beat it, in both seats.

    At most so many `positions` are followed at each ply; of more a random part, drawn by `seed`. What an agent is
    stands at `evaluate`.

    Raises:
        ValueError: the board has more than 64 cells, or there is no such perspective.
        UserError: it is no agent, or answers the same positions differently when asked twice.
        gymnasium.error.InvalidAction: it answers something else than a cell, or probabilities, for each board.
    """
    batch.check_fits(rules)
    return of_play(Judge(agent, rules, perspective), positions, np.random.default_rng(seed))


def of_play(judge: Asked, positions: int, generator: np.random.Generator, most_lines: int = 1) -> Counterexamples:
    """Return the counterexamples of an agent's play in both seats, with at most so many lines of each.

    Of an agent that plays the same in all symmetric images of a position, one image of each.
    """
    rules = judge.rules
    salt = int(generator.integers(1 << 63))
    found, lines, seats = [], [], []
    for seat in (0, 1):
        plies: list[Ply] = []
        seats.append(follow(judge, seat, positions, salt, plies))
        plies_to_end = distances(rules, plies, judge.symmetric)
        for ply, distance in zip(plies, plies_to_end, strict=True):
            beaten = distance < NEVER
            found.append((ply.mine[beaten], ply.theirs[beaten]))
        lines.append(tuple(itertools.islice(lost_lines(judge, plies, plies_to_end, seat), most_lines)))
    mover, opponent = (np.concatenate(marks) for marks in zip(*found, strict=True))
    evaluation = of_seats(*seats)
    return Counterexamples(mover, opponent, isinstance(evaluation, Proof), (lines[0], lines[1]), evaluation)


class _Moved(NamedTuple):
    """Hold what each of the agent's moves of one ply does; an agent that draws has several in a position."""

    position: IntArray
    """The position's number in its ply."""
    cell: IntArray
    mine: IntArray
    """Its marks after the move."""
    theirs: IntArray
    taken: NDArray[np.bool_]
    won: NDArray[np.bool_]


def _moved(rules: Rules, ply: Ply) -> _Moved:
    position, cell = np.nonzero(planes.bits(rules.cells, ply.moves))
    mine, theirs, bit = ply.mine[position], ply.theirs[position], np.int64(1) << cell
    taken = (mine | theirs) & bit != 0
    mine = mine | bit
    return _Moved(position, cell, mine, theirs, taken, rules.has_line(mine) & ~taken)


def distances(rules: Rules, plies: Sequence[Ply], symmetric: bool = False) -> list[NDArray[np.int16]]:
    """Return for each ply in how many plies at least each position is lost, [n]; `NEVER` where none loses it.

    With `symmetric` the plies hold one image of each position.
    """
    found: list[NDArray[np.int16]] = []
    later: tuple[NDArray[Any], NDArray[np.int16]] | None = None
    for ply in reversed(plies):
        after = _moved(rules, ply)
        of_moves = _after(rules, after, later, symmetric)
        distance = np.full(len(ply.mine), NEVER, np.int16)
        np.minimum.at(distance, after.position, of_moves)
        later = sort_keys(rules, ply.mine, ply.theirs), distance
        found.append(distance)
    return found[::-1]


def _after(
    rules: Rules, after: _Moved, later: tuple[NDArray[Any], NDArray[np.int16]] | None, symmetric: bool = False
) -> NDArray[np.int16]:
    """Return in how many plies at least each move loses."""
    distance = np.where(after.taken, 1, NEVER).astype(np.int16)
    open_ = ~(after.taken | after.won)
    winning = rules.winning_cells(after.theirs) & rules.empty_cells(after.mine, after.theirs)
    loses = open_ & (winning != 0)
    distance[loses] = 2
    going_on = np.flatnonzero(open_ & ~loses)
    if later is None or not len(going_on):
        return distance
    board, cell = np.nonzero(planes.bits(rules.cells, rules.empty_cells(after.mine, after.theirs)[going_on]))
    move = going_on[board]
    reached = _known(rules, after.mine[move], after.theirs[move] | np.int64(1) << cell, later, symmetric)
    np.minimum.at(distance, move, np.where(reached < NEVER, reached + 2, NEVER).astype(np.int16))
    return distance


def _known(
    rules: Rules,
    mine: IntArray,
    theirs: IntArray,
    later: tuple[NDArray[Any], NDArray[np.int16]],
    symmetric: bool,
) -> NDArray[np.int16]:
    """Return in how many plies positions [n] of the next ply are lost; `NEVER` also of those that were not followed."""
    keys, distance = later
    if symmetric:
        mine, theirs = representatives(rules, mine, theirs)
    asked = sort_keys(rules, mine, theirs)
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    reached: NDArray[np.int16] = np.where(keys[place] == asked, distance[place], NEVER)
    return reached


def lost_lines(
    judge: Asked, plies: Sequence[Ply], plies_to_end: Sequence[NDArray[np.int16]], seat: int
) -> Iterator[tuple[int, ...]]:
    """Yield the cells of each line from the empty board on that beats the agent, the shortest first.

    Those of one length come in the order of their cells. A line that ends with a move of the agent's ends with a taken
    cell, any other with the opponent's line.
    """
    rules = judge.rules
    known = [
        (sort_keys(rules, ply.mine, ply.theirs), distance) for ply, distance in zip(plies, plies_to_end, strict=True)
    ]

    def going_on(line: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """Return the cells that lead on to such lines, each with the length of the shortest of them."""
        own, moved = len(line) % 2 == seat, len(line) // 2
        mine, theirs = (_marked(line[side::2]) for side in (seat, 1 - seat))
        later = known[moved + 1 :] if own or seat == 0 else known[moved:]
        if own:
            after = _moved(rules, Ply(mine, theirs, moves_of(judge, mine, theirs)))
            cells, distance = after.cell, _after(rules, after, later[0] if later else None, judge.symmetric)
        else:
            cells = np.array(rules.cells_of(int(rules.empty_cells(mine, theirs)[0])))
            distance = _after_replies(rules, mine, theirs, cells, later[0] if later else None, judge.symmetric)
        leads_on = distance < NEVER
        return zip(cells[leads_on].tolist(), (len(line) + distance[leads_on]).tolist(), strict=True)

    waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    """With the length of the shortest line that begins so, by which the shortest is always at hand."""
    while waiting:
        length, line = heapq.heappop(waiting)
        if line and len(line) == length:
            yield line
            continue
        for cell, shortest in going_on(line):
            heapq.heappush(waiting, (shortest, (*line, cell)))


def _marked(cells: Sequence[int]) -> IntArray:
    """Return cells as a bitboard [1]."""
    return np.array([sum(1 << cell for cell in cells)], np.uint64).view(np.int64)


def _after_replies(
    rules: Rules,
    mine: IntArray,
    theirs: IntArray,
    cells: IntArray,
    later: tuple[NDArray[Any], NDArray[np.int16]] | None,
    symmetric: bool,
) -> NDArray[np.int16]:
    """Return in how many plies each of these replies to a position [1] beats the agent, itself counted."""
    replied = theirs | np.int64(1) << cells
    distance = np.full(len(cells), NEVER, np.int16)
    if later is not None:
        reached = _known(rules, np.repeat(mine, len(cells)), replied, later, symmetric)
        distance = np.where(reached < NEVER, reached + 1, NEVER).astype(np.int16)
    distance[rules.has_line(replied)] = 1
    return distance
