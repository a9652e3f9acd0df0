"""Counterexamples: the positions of an agent's own play from which some replies beat it, and the shortest such line.

The walk is that of the proof. Going back from the last ply, a position is beaten if the agent marks a taken cell there,
or if some reply completes a line or leads to a beaten position. Whoever begins games there learns what the proof has
found wrong.
"""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.agent import AnyAgent
from selfplay.evaluation.evaluation import Proof
from selfplay.evaluation.judge import Asked, Judge
from selfplay.evaluation.reach import POSITIONS, Unproved, follow, of_seats
from selfplay.evaluation.retrograde import NEVER, Known, distances, moved, of_moves, of_positions
from selfplay.evaluation.walk import Ply, moves_of
from tictactoe import Rules, batch
from tictactoe.tree import IntArray


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
        known = distances(rules, plies, judge.symmetric)
        for ply, of_ply in zip(plies, known, strict=True):
            beaten = of_ply.distance < NEVER
            found.append((ply.mine[beaten], ply.theirs[beaten]))
        lines.append(tuple(itertools.islice(lost_lines(judge, known, seat), most_lines)))
    mover, opponent = (np.concatenate(marks) for marks in zip(*found, strict=True))
    evaluation = of_seats(*seats)
    return Counterexamples(mover, opponent, isinstance(evaluation, Proof), (lines[0], lines[1]), evaluation)


def lost_lines(judge: Asked, known: Sequence[Known], seat: int) -> Iterator[tuple[int, ...]]:
    """Yield the cells of each line from the empty board on that beats the agent, the shortest first.

    All plies of its play in this seat are `known`. Lines of one length come in the order of their cells. A line that
    ends with a move of the agent's ends with a taken cell, any other with the opponent's line.
    """
    rules = judge.rules

    def going_on(line: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """Return the cells that lead on to such lines, each with the length of the shortest of them."""
        own, number = len(line) % 2 == seat, len(line) // 2
        mine, theirs = (_marked(line[side::2]) for side in (seat, 1 - seat))
        later = known[number + 1 :] if own or seat == 0 else known[number:]
        if own:
            after = moved(rules, Ply(mine, theirs, moves_of(judge, mine, theirs)))
            cells, distance = after.cell, of_moves(rules, after, later[0] if later else None, judge.symmetric)
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
    later: Known | None,
    symmetric: bool,
) -> NDArray[np.int16]:
    """Return in how many plies each of these replies to a position [1] beats the agent, itself counted."""
    replied = theirs | np.int64(1) << cells
    distance = np.full(len(cells), NEVER, np.int16)
    if later is not None:
        reached = of_positions(rules, np.repeat(mine, len(cells)), replied, later, symmetric)
        distance = np.where(reached < NEVER, reached + 1, NEVER).astype(np.int16)
    distance[rules.has_line(replied)] = 1
    return distance
