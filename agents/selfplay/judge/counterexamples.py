"""Counterexamples: the positions of an agent's own play from which some replies beat it, and the shortest such games.

They come from the forward search of the evaluation. Going back from the last ply, a position is lost if the agent marks
a taken cell there, or if some reply completes a line or leads to a lost position.
"""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from selfplay.judge.ask import AgentPolicy
from selfplay.judge.confirm import begin
from selfplay.judge.evaluate import BOTH_SEATS, Evaluation, SeatSearch, confirm_play, search_seat
from selfplay.judge.follow import MoveResults, move_results
from selfplay.judge.induct import NEVER, Values, play_distances, position_values, values_of_moves
from selfplay.judge.verdict import Verdict
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


def find_counterexamples(
    policy: AgentPolicy, positions: int, generator: np.random.Generator, most_games: int = 1
) -> Counterexamples:
    """Return the counterexamples of a policy in both seats; of a ply a random part of `positions` is followed at most.

    Raises:
        AnswerError: the agent fails, or answers something else when it is asked again.
    """
    begin(policy, BOTH_SEATS)
    searches = search_seats(policy, positions, generator)
    for search in searches:
        confirm_play(policy, search)
    first, second = (search.verdict for search in searches)
    return counterexamples_of(Evaluation(Verdict(first, second, rules=policy.rules), policy, searches), most_games)


def counterexamples_of(evaluation: Evaluation, most_games: int = 1) -> Counterexamples:
    """Return the counterexamples that an evaluation found in both seats, with at most `most_games` games in each.

    If the agent plays the same in all symmetric images of a position, these are one image of each.
    """
    nothing: IntArray = np.zeros(0, np.int64)
    mover, opponent = [nothing], [nothing]
    games: list[Sequence[Game]] = []
    policy = evaluation.policy
    for seat, search in enumerate(evaluation.searches):
        if not search.verdict.ways_to_beat:
            games.append(())
            continue
        distances = play_distances(policy, search.plies)
        games.append(tuple(itertools.islice(lost_games(policy, distances, seat), most_games)))
        for ply, distance in zip(search.plies, distances, strict=True):
            lost = distance.value < NEVER
            mover.append(ply.mine[lost])
            opponent.append(ply.theirs[lost])
    found = np.concatenate(mover), np.concatenate(opponent)
    return Counterexamples(*found, (games[0], games[1]), evaluation.verdict)


def search_seats(policy: AgentPolicy, positions: int, generator: np.random.Generator) -> list[SeatSearch]:
    """Return the searches of both seats; if a ply has more than `positions` distinct positions, of a random part."""
    sample_seed = int(generator.integers(1 << 63))
    return [search_seat(policy, seat, positions, sample_seed) for seat in BOTH_SEATS]


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
        results = move_results(rules, mine, theirs, policy.moves(mine, theirs))
        later = distances[number + 1] if number + 1 < len(distances) else None
        return results, values_of_moves(policy, results, later)
    results = move_results(rules, theirs, mine, rules.legal_cells(theirs, mine))
    later = distances[number] if number < len(distances) else None
    plies = position_values(policy, results.theirs, results.mine, later) + 1
    plies[results.won] = 1
    return results, plies


def _bitboard(cells: Sequence[int]) -> IntArray:
    """Return marked cells as a bitboard [1]."""
    return np.array([sum(1 << cell for cell in cells)], np.uint64).view(np.int64)
