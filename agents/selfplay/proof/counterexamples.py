"""Counterexamples: the positions of an agent's own play from which some replies beat it, and the shortest such line.

The walk is that of the proof: in each seat every move that the agent may play and every legal reply are followed,
each distinct position once. Going back from the last ply, a position is beaten if the agent marks a taken cell there,
or if some reply completes a line or leads to a beaten position. Whoever begins games there learns what the proof has
found wrong.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.agent import AnyAgent
from selfplay.proof.judge import Asked, Judge
from selfplay.proof.reach import POSITIONS
from selfplay.proof.stochastic import sort_keys
from tictactoe import Rules, batch, planes
from tictactoe.symmetry import representatives
from tictactoe.tree import IntArray

NEVER = np.iinfo(np.int16).max
"""Plies to the end of what cannot be beaten."""


class Ply(NamedTuple):
    """Hold the distinct positions [n] of one ply in which the agent is to move, sorted, and what it may play there."""

    mine: IntArray
    """int64"""
    theirs: IntArray
    """int64"""
    moves: IntArray
    """int64: the cells that it may mark, a bitboard; one, if it does not draw its moves."""


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

    Of an agent that plays the same in all symmetric images of a position, one image of each, and no lines: what follows
    on a position is then found on an image of it.
    """
    rules = judge.rules
    found, lines, whole = [], [], True
    for seat in (0, 1):
        plies, followed = walk(judge, seat, positions, generator)
        plies_to_end = distances(rules, plies, judge.symmetric)
        whole = whole and followed
        for ply, distance in zip(plies, plies_to_end, strict=True):
            beaten = distance < NEVER
            found.append((ply.mine[beaten], ply.theirs[beaten]))
        lines.append(None if judge.symmetric else shortest_line(rules, plies, plies_to_end, seat))
    mover, opponent = (np.concatenate(marks) for marks in zip(*found, strict=True))
    return Counterexamples(mover, opponent, whole, (lines[0], lines[1]))


def walk(judge: Asked, seat: int, positions: int, generator: np.random.Generator) -> tuple[list[Ply], bool]:
    """Return the positions of each ply of an agent's in one seat, and whether none were left out."""
    rules = judge.rules
    mine: IntArray = np.zeros(1, np.int64)
    theirs = mine
    if seat == 1:
        theirs = np.int64(1) << np.arange(rules.cells)
        theirs = theirs[~rules.has_line(theirs)]
        mine = np.zeros_like(theirs)
    if judge.symmetric:
        mine, theirs = _distinct(rules, *representatives(rules, mine, theirs))
    plies: list[Ply] = []
    whole = True
    while len(mine):
        if len(mine) > positions:
            whole, part = False, np.sort(generator.choice(len(mine), positions, replace=False))
            mine, theirs = mine[part], theirs[part]
        plies.append(Ply(mine, theirs, _moves(judge, mine, theirs)))
        after = _moved(rules, plies[-1])
        going_on = ~(after.taken | after.won)
        mine, theirs = _distinct(rules, after.mine[going_on], after.theirs[going_on])
        if not len(mine):
            break
        safe = rules.empty_cells(mine, theirs) & ~rules.winning_cells(theirs)
        board, cell = np.nonzero(planes.bits(rules.cells, safe))
        mine, theirs = _distinct(rules, mine[board], theirs[board] | np.int64(1) << cell)
        if judge.symmetric:
            mine, theirs = _distinct(rules, *representatives(rules, mine, theirs))
        if len(mine) and int(mine[0] | theirs[0]) == rules.full_word:
            break
    return plies, whole


def _moves(judge: Asked, mine: IntArray, theirs: IntArray) -> IntArray:
    if not judge.draws:
        return np.int64(1) << judge.cells(mine, theirs)
    bit = np.int64(1) << np.arange(judge.rules.cells)
    moves: IntArray = np.where(judge.chances(mine, theirs) > 0, bit, 0).sum(axis=1)
    return moves


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


def _distinct(rules: Rules, mine: IntArray, theirs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct positions, sorted."""
    _, first = np.unique(sort_keys(rules, mine, theirs), return_index=True)
    return mine[first], theirs[first]


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
    keys, of_positions = later
    board, cell = np.nonzero(planes.bits(rules.cells, rules.empty_cells(after.mine, after.theirs)[going_on]))
    move = going_on[board]
    positions = after.mine[move], after.theirs[move] | np.int64(1) << cell
    replied = sort_keys(rules, *(representatives(rules, *positions) if symmetric else positions))
    place = np.minimum(np.searchsorted(keys, replied), len(keys) - 1)
    known = keys[place] == replied  # others were left out, or their board is full
    reached = np.where(known, of_positions[place], NEVER)
    np.minimum.at(distance, move, np.where(reached < NEVER, reached + 2, NEVER).astype(np.int16))
    return distance


def shortest_line(
    rules: Rules, plies: Sequence[Ply], plies_to_end: Sequence[NDArray[np.int16]], seat: int
) -> tuple[int, ...] | None:
    """Return the cells of a shortest line from the empty board on that beats the agent; None if none does."""
    if seat == 1 and rules.k == 1:
        return (0,)
    if not plies or plies_to_end[0].min() == NEVER:
        return None
    at = int(plies_to_end[0].argmin())
    line: list[int] = [] if seat == 0 else [_cell(int(plies[0].theirs[at]))]
    for number, (ply, distance) in enumerate(zip(plies, plies_to_end, strict=True)):
        one = Ply(*(field[at : at + 1] for field in ply))
        after = _moved(rules, one)
        following = None
        if number + 1 < len(plies):
            following = sort_keys(rules, plies[number + 1].mine, plies[number + 1].theirs), plies_to_end[number + 1]
        move = int(_after(rules, after, following).argmin())
        line.append(int(after.cell[move]))
        if distance[at] == 1:
            break
        mine, theirs = after.mine[move], after.theirs[move]
        winning = int(rules.winning_cells(int(theirs)) & rules.empty_cells(int(mine), int(theirs)))
        if winning:
            line.append(_cell(winning & -winning))
            break
        assert following is not None
        keys, later = following
        cells = np.flatnonzero(planes.bits(rules.cells, np.array([rules.empty_cells(mine, theirs)]))[0])
        replied = sort_keys(rules, np.full(len(cells), mine), theirs | np.int64(1) << cells)
        place = np.minimum(np.searchsorted(keys, replied), len(keys) - 1)
        best = int(np.where(keys[place] == replied, later[place], NEVER).argmin())
        line.append(int(cells[best]))
        at = int(place[best])
    return tuple(line)


def _cell(bitboard: int) -> int:
    return bitboard.bit_length() - 1
