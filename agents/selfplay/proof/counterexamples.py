"""Counterexamples: the positions of an agent's own play from which some replies beat it, and the shortest such line.

The walk is that of the proof. Going back from the last ply, a position is beaten if the agent marks a taken cell there,
or if some reply completes a line or leads to a beaten position. Whoever begins games there learns what the proof has
found wrong.
"""

from collections.abc import Sequence
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
    shortest: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    """The cells of a shortest line that beats it in each seat; None where no line was found."""
    evaluation: Proof | Unproved
    """What the same walk proves."""


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


def of_play(judge: Asked, positions: int, generator: np.random.Generator) -> Counterexamples:
    """Return the counterexamples of an agent's play in both seats.

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
        lines.append(shortest_line(judge, plies, plies_to_end, seat))
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


def shortest_line(
    judge: Asked, plies: Sequence[Ply], plies_to_end: Sequence[NDArray[np.int16]], seat: int
) -> tuple[int, ...] | None:
    """Return the cells of a shortest line from the empty board on that beats the agent; None if none does."""
    rules = judge.rules
    if seat == 1 and rules.k == 1:
        return (0,)
    if not plies or plies_to_end[0].min() == NEVER:
        return None
    known = [
        (sort_keys(rules, ply.mine, ply.theirs), distance) for ply, distance in zip(plies, plies_to_end, strict=True)
    ]
    line: list[int] = []
    mine: IntArray = np.zeros(1, np.int64)
    theirs = mine
    if seat == 1:
        line.append(_quickest(judge, mine, theirs, np.arange(rules.cells), known[0]))
        theirs = np.int64(1) << np.array(line)
    for later in [*known[1:], None]:
        ply = Ply(mine, theirs, moves_of(judge, mine, theirs))
        after = _moved(rules, ply)
        distance = _after(rules, after, later, judge.symmetric)
        move = int(distance.argmin())
        line.append(int(after.cell[move]))
        if distance[move] == 1:
            break
        mine, theirs = after.mine[move : move + 1], after.theirs[move : move + 1]
        empty = int(rules.empty_cells(mine, theirs)[0])
        winning = int(rules.winning_cells(theirs)[0]) & empty
        if winning:
            line.append((winning & -winning).bit_length() - 1)
            break
        assert later is not None
        cells = np.array(rules.cells_of(empty))
        line.append(_quickest(judge, mine, theirs, cells, later))
        theirs = theirs | np.int64(1) << np.array(line[-1:])
    return tuple(line)


def _quickest(
    judge: Asked, mine: IntArray, theirs: IntArray, cells: IntArray, later: tuple[NDArray[Any], NDArray[np.int16]]
) -> int:
    """Return which of these replies to a position [1] beats the agent in the fewest plies."""
    distance = _known(judge.rules, np.repeat(mine, len(cells)), theirs | np.int64(1) << cells, later, judge.symmetric)
    return int(cells[distance.argmin()])
