"""Positions where training starts games: those in which the last evaluation found the player beaten.

At a counterexample the player is to move, and tries something else. After its move the opponent is to move, and the
reply that beats the player is played, so that this move is learned to be worth more than the player thought.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from selfplay.judging.agents import AgentPolicy, TabulatedPolicy, near_best_policy
from selfplay.judging.backward_induction import NEVER, Values, move_values, position_values
from selfplay.judging.counterexamples import BeatenPlay, beaten_play
from selfplay.judging.evaluate import POSITIONS, evaluate_policy, suboptimal_moves, with_all_states
from selfplay.judging.exact import ALL_STATES_CELLS
from selfplay.judging.forward_search import Ply, move_results, some_of
from selfplay.judging.verdict import Verdict
from tictactoe import planes
from tictactoe.tree import SOLVABLE_CELLS, IntArray, game_tree

MOST_FOR_TRAINING = 4_096
"""Largest number of positions that are handed to training."""
FOLLOWED_FIRST, FOLLOWED_THEN = 50_000, 1_000_000
"""Positions followed at each ply of a larger board: first these, and then more if too few of them beat the player."""
TOO_FEW = 16
FOLLOWED_NEARLY = 2_000
"""Positions followed at each ply of a larger board where the player may also make nearly best moves."""
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


def evaluate_for_training(policy: AgentPolicy, every_state: bool, generator: np.random.Generator) -> TrainingPositions:
    """Evaluate a player as `evaluate_policy` does, and return positions where training is to start games.

    If the player has a `margin`, they are those of all play with moves that it values nearly as its best, since it may
    soon prefer them; on a larger board, where these are many, half are those of its own play. With `every_state`, for
    training to an optimal player, they are all decision states in which its move does not keep the game-theoretic
    value.
    """
    rules = policy.rules
    small = rules.cells <= (SOLVABLE_CELLS if every_state else ALL_STATES_CELLS)
    if small and not policy.stochastic:
        policy = TabulatedPolicy(policy)
    if small and every_state:
        verdict = evaluate_policy(policy, every_state)
        tree, (states, _) = game_tree(rules), suboptimal_moves(policy)
        starts = np.stack([tree.mover[states], tree.opponent[states], np.full(len(states), ANY)])
        found = len(states)
    else:
        seats = beaten_play(policy, POSITIONS if small else FOLLOWED_FIRST, generator)
        starts = starts_of(policy, seats)
        if not all(play.verdict.complete for play in seats) and starts.shape[1] < TOO_FEW:
            seats = beaten_play(policy, FOLLOWED_THEN, generator)
            starts = starts_of(policy, seats)
        first, second = (play.verdict for play in seats)
        found = starts.shape[1]
        verdict = with_all_states(policy, first, second) if small else Verdict(first, second, rules=rules)
        if getattr(policy.agent, "margin", 0):
            nearly = near_best_policy(policy.agent)
            near = starts_of(nearly, beaten_play(nearly, FOLLOWED_FIRST if small else FOLLOWED_NEARLY, generator))
            found = max(found, near.shape[1])
            starts = near if small else half_of_each(starts, near, generator)
    mover, opponent, move = random_part(starts, MOST_FOR_TRAINING, generator)
    return TrainingPositions(verdict, mover, opponent, move, found)


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


def starts_of(policy: AgentPolicy, seats: Sequence[BeatenPlay]) -> IntArray:
    """Return the positions where an agent is beaten in both seats: mover, opponent and move, [3, n] int64."""
    parts: list[IntArray] = [np.zeros((3, 0), np.int64)]
    for play in seats:
        for number, (ply, distance) in enumerate(zip(play.plies, play.distances, strict=True)):
            lost = distance.value < NEVER
            parts.append(np.stack([ply.mine[lost], ply.theirs[lost], np.full(lost.sum(), ANY)]))
            later = play.distances[number + 1] if number + 1 < len(play.distances) else None
            parts.append(refutations(policy, some_of(ply, lost), later))  # no other position has a losing move
    return np.unique(np.concatenate(parts, axis=1), axis=1)


def refutations(policy: AgentPolicy, ply: Ply, later: Values | None) -> IntArray:
    """Return the positions after the losing moves of a ply, with each reply that beats the agent soonest.

    They are the marks of the opponent, which is to move, and of the agent, and the reply, [3, n] int64. `later` are the
    plies to the loss of the agent's next ply.
    """
    rules = policy.rules
    results = move_results(rules, ply)
    plies = move_values(policy, results, later)
    losing = np.flatnonzero((plies < NEVER) & ~results.taken & ~results.lost)
    mine, theirs = results.mine[losing], results.theirs[losing]
    board, cell = np.nonzero(planes.bits(rules.cells, rules.empty_cells(mine, theirs)))
    replied = theirs[board] | np.int64(1) << cell
    to_loss = position_values(policy, mine[board], replied, later) + 2
    to_loss[rules.has_line(replied)] = 2 if rules.line_result > 0 else NEVER
    soonest = to_loss == plies[losing][board]
    return np.stack([theirs[board], mine[board], cell])[:, soonest]
