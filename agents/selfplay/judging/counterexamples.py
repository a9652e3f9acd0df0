"""Counterexamples: the positions of an agent's own play from which some replies beat it, and the shortest such games.

They come from the forward search of the evaluation. Going back from the last ply, a position is lost if the agent marks
a taken cell there, or if some reply completes a line or leads to a lost position.
"""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from selfplay.judging.agents import AgentPolicy
from selfplay.judging.backward_induction import NEVER, Values, move_values, play_distances, position_values
from selfplay.judging.evaluate import search_seat
from selfplay.judging.forward_search import MoveResults, Ply, move_results
from selfplay.judging.verdict import SeatVerdict, Verdict
from tictactoe.tree import FloatArray, IntArray

Game: TypeAlias = tuple[int, ...]
"""The cells of a game, ply by ply."""


class Counterexamples(NamedTuple):
    """The positions and games in which an agent is beaten."""

    mover: IntArray
    """[n] int64: bitboards of the agent's marks in each lost position."""
    opponent: IntArray
    """[n] int64: the marks of the other seat."""
    games: tuple[Sequence[Game], Sequence[Game]]
    """Cells of the shortest games that beat it in each seat, the shortest first; empty if none was found."""
    verdict: Verdict
    """Verdict of the same search. If it is not complete, a random part of each ply was followed."""

    @property
    def shortest(self) -> tuple[Game | None, Game | None]:
        """Return the cells of a shortest game that beats it in each seat; None where no such game was found."""
        first, second = (next(iter(games), None) for games in self.games)
        return first, second

    def __repr__(self) -> str:
        """Return a line without the arrays, which may be long."""
        return f"Counterexamples({len(self.mover)} positions, shortest={self.shortest})"


class BeatenPlay(NamedTuple):
    """The verdict on an agent in one seat, and its play there, which is empty if nobody beats it."""

    verdict: SeatVerdict
    plies: Sequence[Ply]
    distances: Sequence[Values]
    """The plies to the loss of the positions of each ply."""


def find_counterexamples(
    policy: AgentPolicy, positions: int, generator: np.random.Generator, most_games: int = 1
) -> Counterexamples:
    """Return the counterexamples of a policy in both seats, with at most `most_games` games in each.

    If the agent plays the same in all symmetric images of a position, these are one image of each.
    """
    nothing: IntArray = np.zeros(0, np.int64)
    mover, opponent, seats = [nothing], [nothing], []
    games: list[Sequence[Game]] = []
    for seat, play in enumerate(beaten_play(policy, positions, generator)):
        seats.append(play.verdict)
        of_seat: Sequence[Game] = ()
        if play.verdict.ways_to_beat:
            of_seat = tuple(itertools.islice(lost_games(policy, play.distances, seat), most_games))
        games.append(of_seat)
        for ply, distance in zip(play.plies, play.distances, strict=True):
            lost = distance.value < NEVER
            mover.append(ply.mine[lost])
            opponent.append(ply.theirs[lost])
    whole = Verdict(seats[0], seats[1], rules=policy.rules)
    return Counterexamples(np.concatenate(mover), np.concatenate(opponent), (games[0], games[1]), whole)


def beaten_play(policy: AgentPolicy, positions: int, generator: np.random.Generator) -> list[BeatenPlay]:
    """Search the play of a policy in both seats, and go back from the games that it loses.

    If a ply has more than `positions` distinct positions, a random part is followed.
    """
    salt = int(generator.integers(1 << 63))
    seats = []
    for seat in (0, 1):
        verdict, plies = search_seat(policy, seat, positions, salt, keep_plies=True)
        if verdict.ways_to_beat:
            seats.append(BeatenPlay(verdict, plies, play_distances(policy, plies)))
        else:
            seats.append(BeatenPlay(verdict, (), ()))
    return seats


def lost_games(policy: AgentPolicy, distances: Sequence[Values], seat: int) -> Iterator[Game]:
    """Yield the cells of each game from the empty board that beats the agent, the shortest first.

    Given are the distances of all plies of its play in this seat. Games of one length come in the order of their cells.
    A game that ends with a move of the agent's ends with a taken cell, any other with the opponent's line.
    """
    waiting: list[tuple[float, Game]] = [(0, ())]  # with the length of the shortest game that starts so
    while waiting:
        length, game = heapq.heappop(waiting)
        if game and len(game) == length:
            yield game
            continue
        results, plies = _next_plies(policy, distances, seat, game)
        for cell, distance in zip(results.cell.tolist(), plies.tolist(), strict=True):
            if distance < NEVER:
                heapq.heappush(waiting, (len(game) + distance, (*game, cell)))


def _next_plies(
    policy: AgentPolicy, distances: Sequence[Values], seat: int, game: Game
) -> tuple[MoveResults, FloatArray]:
    """Return the moves that may follow in a game of an agent, and the plies to its loss by each, [n]."""
    rules = policy.rules
    mine, theirs = _bitboard(game[seat::2]), _bitboard(game[1 - seat :: 2])
    number = (len(game) + 1 - seat) // 2  # of the agent's next ply
    if len(game) % 2 == seat:
        results = move_results(rules, Ply(mine, theirs, policy.moves(mine, theirs)))
        later = distances[number + 1] if number + 1 < len(distances) else None
        return results, move_values(policy, results, later)
    results = move_results(rules, Ply(theirs, mine, rules.empty_cells(mine, theirs)))
    later = distances[number] if number < len(distances) else None
    plies = position_values(policy, results.theirs, results.mine, later) + 1
    plies[results.won] = 1
    return results, plies


def _bitboard(cells: Sequence[int]) -> IntArray:
    """Return marked cells as a bitboard [1]."""
    return np.array([sum(1 << cell for cell in cells)], np.uint64).view(np.int64)
