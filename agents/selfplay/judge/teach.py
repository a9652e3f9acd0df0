"""Positions where training starts games: those in which the last evaluation found the player beaten.

At a counterexample the player is to move, and tries something else. After its move the opponent is to move, and the
reply that beats the player is played, so that this move is learned to be worth more than the player thought.
"""

import sys
from typing import NamedTuple

import numpy as np

from selfplay.judge.ask import AgentPolicy, near_best_policy
from selfplay.judge.counterexamples import search_seats
from selfplay.judge.evaluate import (
    BOTH_SEATS,
    POSITIONS,
    SeatSearch,
    confirm_play,
    decision_moves,
    is_suboptimal,
    search_seat,
    with_all_states,
)
from selfplay.judge.follow import Ply, move_results, some_of
from selfplay.judge.induct import NEVER, Values, play_distances, position_values, values_of_moves
from selfplay.judge.move_values import ALL_STATES_CELLS
from selfplay.judge.verdict import Verdict
from tictactoe import Rules, planes
from tictactoe.tree import SOLVABLE_CELLS, IntArray, game_tree

MOST_FOR_TRAINING = 4_096
"""Largest number of positions that are handed to training."""
FOLLOWED_UP_TO_16_CELLS, FOLLOWED = 50_000, 4_000
"""Positions followed at each ply, unless the sample is enlarged: on boards of 13 to 16 cells, more than a good player's
play has; and on larger ones, so few that following them does not take much longer than the training in between."""
ENLARGED_BY = 4
"""Factor by which a sample is enlarged each time."""
WHOLE = 5
"""Number of enlargements after which all positions are followed."""
TOO_FEW = 16
"""With fewer counterexamples than this in a sample, the next sample is larger."""
FOLLOWED_NEARLY = 500
"""Positions followed at each ply of a larger board where the player may also make nearly best moves."""
FOLLOWED_NEARLY_SMALL = 50_000
"""The same for a board of up to 12 cells: all that there are."""
ANY = -1
"""The move at a position where any move may follow."""


class TrainingPositions(NamedTuple):
    """A verdict, and positions where training is to start games."""

    verdict: Verdict
    mover: IntArray
    """[n] int64: bitboards."""
    opponent: IntArray
    """[n] int64"""
    move: IntArray
    """[n] int64: the cell that is to be marked next; `ANY` if that is left open."""
    found: int
    """Number of positions found; if there are too many, a random part of them is kept."""
    enlargements: int
    """How often the sample of the next evaluation should be enlarged."""
    wait_factor: float
    """How many times `eval_every` to wait for the next evaluation, at least 1: one that follows more positions than the
    first sample may have takes longer, and comes as much more seldom."""


def evaluate_for_training(
    policy: AgentPolicy, every_state: bool, generator: np.random.Generator, enlargements: int = 0
) -> TrainingPositions:
    """Evaluate a player and return positions where training is to start games.

    On a board of more than 12 cells this follows a sample of the play, another one each time. It is small while the
    player is beaten often. `enlargements` is what the evaluation before returned.

    If the player has a `margin`, they are those of all play with moves that it values nearly as its best, since it may
    soon prefer them; on a larger board, where these are many, half are those of its own play. With `every_state`, for
    training to an optimal player, they are all decision states in which its move does not keep the game-theoretic
    value.

    Raises:
        AnswerError: the player is somebody's, and answers something else when it is asked again.
    """
    rules = policy.rules
    small = rules.cells <= (SOLVABLE_CELLS if every_state else ALL_STATES_CELLS)
    moves = decision_moves(policy) if small else None
    if moves is not None and every_state:
        searches = [search_seat(policy, seat, sys.maxsize) for seat in BOTH_SEATS]
        tree = game_tree(rules)
        states = tree.decisions[is_suboptimal(rules, moves)]
        starts = np.stack([tree.mover[states], tree.opponent[states], np.full(len(states), ANY)])
        found = len(states)
    else:
        positions = POSITIONS if small else positions_followed(rules, enlargements)
        searches, starts = beaten_starts(policy, positions, generator)
        found = starts.shape[1]
        complete = all(search.verdict.complete for search in searches)
        enlargements = next_enlargements(enlargements, found, complete)
        if getattr(policy.player, "margin", 0):
            nearly = near_best_policy(policy.player)
            _, near = beaten_starts(nearly, FOLLOWED_NEARLY_SMALL if small else FOLLOWED_NEARLY, generator)
            found = max(found, near.shape[1])
            starts = near if small else half_of_each(starts, near, generator)
    for search in searches:
        confirm_play(policy, search)
    first, second = (search.verdict for search in searches)
    verdict = Verdict(first, second, rules=rules)
    if moves is not None:
        verdict = with_all_states(policy, verdict, moves)
    mover, opponent, move = random_part(starts, MOST_FOR_TRAINING, generator)
    followed = sum(len(ply.mine) for search in searches for ply in search.plies)
    wait_factor = max(1.0, followed / (rules.cells * positions_followed(rules, 0)))
    return TrainingPositions(verdict, mover, opponent, move, found, enlargements, wait_factor)


def positions_followed(rules: Rules, enlargements: int) -> int:
    """Return how many positions are followed at each ply of a board of more than 12 cells."""
    if enlargements == WHOLE:
        return sys.maxsize
    first = FOLLOWED_UP_TO_16_CELLS if rules.cells <= SOLVABLE_CELLS else FOLLOWED
    return int(first * ENLARGED_BY**enlargements)


def next_enlargements(enlargements: int, found: int, complete: bool) -> int:
    """Return how often the next sample is enlarged, after one in which so many counterexamples were found.

    A sample becomes larger if it found too few, but only one that found none is followed by the whole play.
    """
    if found >= TOO_FEW or (found and complete):
        return max(enlargements - 1, 0)
    if complete or (found and enlargements == WHOLE - 1):
        return enlargements
    return enlargements + 1


def half_of_each(starts: IntArray, near: IntArray, generator: np.random.Generator) -> IntArray:
    """Return positions [3, n] of which half are of either kind, the fewer repeated; without one kind all are others."""
    if not starts.size or not near.size:
        return starts if starts.size else near
    parts = [random_part(part, MOST_FOR_TRAINING // 2, generator) for part in (starts, near)]
    most = max(part.shape[1] for part in parts)
    return np.concatenate([part[:, np.arange(most) % part.shape[1]] for part in parts], axis=1)


def random_part(starts: IntArray, most: int, generator: np.random.Generator) -> IntArray:
    """Return a random part of positions [3, n], all if they are at most `most`."""
    if starts.shape[1] <= most:
        return starts
    return starts[:, generator.choice(starts.shape[1], most, replace=False)]


def beaten_starts(
    policy: AgentPolicy, positions: int, generator: np.random.Generator
) -> tuple[list[SeatSearch], IntArray]:
    """Return the searches of both seats, and where they found the agent beaten: mover, opponent and move, [3, n] int64.

    If a ply has more than `positions` distinct positions, a random part is followed.
    """
    searches = search_seats(policy, positions, generator)
    parts: list[IntArray] = [np.zeros((3, 0), np.int64)]
    for search in searches:
        if search.verdict.ways_to_beat:
            distances = play_distances(policy, search.plies)
            for ply, distance, later in zip(search.plies, distances, [*distances, None][1:], strict=True):
                lost = distance.value < NEVER
                parts.append(np.stack([ply.mine[lost], ply.theirs[lost], np.full(lost.sum(), ANY)]))
                parts.append(refutations(policy, some_of(ply, lost), later))  # no other position has a losing move
    return searches, np.unique(np.concatenate(parts, axis=1), axis=1)


def refutations(policy: AgentPolicy, ply: Ply, later: Values | None) -> IntArray:
    """Return the positions after the losing moves of a ply, with each reply that beats the agent soonest.

    They are the marks of the opponent, which is to move, and of the agent, and the reply, [3, n] int64. `later` are the
    plies to the loss of the agent's next ply.
    """
    rules = policy.rules
    results = move_results(rules, ply.mine, ply.theirs, ply.moves)
    plies = values_of_moves(policy, results, later)
    losing = np.flatnonzero((plies < NEVER) & ~results.taken & ~results.lost)
    mine, theirs = results.mine[losing], results.theirs[losing]
    board, cell = np.nonzero(planes.bits(rules.cells, rules.legal_cells(mine, theirs)))
    replied = theirs[board] | np.int64(1) << cell
    to_loss = position_values(policy, mine[board], replied, later) + 2
    to_loss[rules.has_line(replied)] = 2 if rules.line_result > 0 else NEVER
    soonest = to_loss == plies[losing][board]
    return np.stack([theirs[board], mine[board], cell])[:, soonest]
