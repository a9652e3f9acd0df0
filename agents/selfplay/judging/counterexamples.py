"""Counterexamples: the positions of an agent's own play from which some replies beat it, and the shortest such games.

They come from the forward search of the evaluation. Going back from the last ply, a position is lost if the agent marks
a taken cell there, or if some reply completes a line or leads to a lost position. Training starts games there.
"""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from selfplay.judging.agents import AgentPolicy, TabulatedPolicy, near_best_policy
from selfplay.judging.backward_induction import NEVER, Values, move_values, play_distances, position_values
from selfplay.judging.evaluate import POSITIONS, evaluate_policy, search_seat, suboptimal_moves, with_all_states
from selfplay.judging.exact import ALL_STATES_CELLS
from selfplay.judging.forward_search import MoveResults, Ply, move_results
from selfplay.judging.verdict import Verdict
from tictactoe.tree import SOLVABLE_CELLS, FloatArray, IntArray, game_tree

MOST_FOR_TRAINING = 4_096
"""Largest number of positions that are handed to training."""
FOLLOWED_FIRST, FOLLOWED_THEN = 50_000, 1_000_000
"""Positions followed at each ply of a larger board: first these, and then more if too few of them beat the player."""
TOO_FEW = 16

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
    """Return the counterexamples of a policy in both seats, with at most `most_games` games in each.

    If the agent plays the same in all symmetric images of a position, these are one image of each.
    """
    salt = int(generator.integers(1 << 63))
    nothing: IntArray = np.zeros(0, np.int64)
    mover, opponent, seats = [nothing], [nothing], []
    games: list[Sequence[Game]] = []
    for seat in (0, 1):
        verdict, plies = search_seat(policy, seat, positions, salt, keep_plies=True)
        seats.append(verdict)
        if not verdict.ways_to_beat:
            games.append(())
            continue
        distances = play_distances(policy, plies)
        for ply, distance in zip(plies, distances, strict=True):
            lost = distance.value < NEVER
            mover.append(ply.mine[lost])
            opponent.append(ply.theirs[lost])
        games.append(tuple(itertools.islice(lost_games(policy, distances, seat), most_games)))
    whole = Verdict(seats[0], seats[1], rules=policy.rules)
    return Counterexamples(np.concatenate(mover), np.concatenate(opponent), (games[0], games[1]), whole)


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


class TrainingPositions(NamedTuple):
    """A verdict, and positions where training is to start games."""

    verdict: Verdict
    mover: IntArray
    """[n] int64: bitboards."""
    opponent: IntArray
    """[n] int64"""
    found: int
    """Number of positions found; if there are too many, a random part of them is kept."""


def evaluate_for_training(policy: AgentPolicy, every_state: bool, generator: np.random.Generator) -> TrainingPositions:
    """Evaluate a player as `evaluate_policy` does, and return positions where training is to start games.

    These are the counterexamples. If the player has a `margin`, they are those to all play with moves that it values
    nearly as its best, since it may soon prefer them. With `every_state`, for training to an optimal player, they are
    all decision states in which its move does not keep the game-theoretic value.
    """
    rules = policy.rules
    small = rules.cells <= (SOLVABLE_CELLS if every_state else ALL_STATES_CELLS)
    if small and not policy.stochastic:
        policy = TabulatedPolicy(policy)
    if small and every_state:
        verdict = evaluate_policy(policy, every_state)
        tree, (states, _) = game_tree(rules), suboptimal_moves(policy)
        mover, opponent = tree.mover[states], tree.opponent[states]
    elif small:
        mover, opponent, _, verdict = find_counterexamples(policy, POSITIONS, generator, most_games=0)
        verdict = with_all_states(policy, verdict.first, verdict.second)
    else:
        mover, opponent, _, verdict = find_counterexamples(policy, FOLLOWED_FIRST, generator, most_games=0)
        if not verdict.complete and len(mover) < TOO_FEW:
            mover, opponent, _, verdict = find_counterexamples(policy, FOLLOWED_THEN, generator, most_games=0)
    if getattr(policy.agent, "margin", 0) and not every_state:
        nearly = near_best_policy(policy.agent)
        mover, opponent, _, _ = find_counterexamples(nearly, FOLLOWED_FIRST, generator, most_games=0)
    found = len(mover)
    if found > MOST_FOR_TRAINING:
        part = generator.choice(found, MOST_FOR_TRAINING, replace=False)
        mover, opponent = mover[part], opponent[part]
    return TrainingPositions(verdict, mover.astype(np.int64), opponent.astype(np.int64), found)
