"""The mistakes of a player, grouped by the losing move up to symmetry, and the games that it loses."""

import contextlib
import copy
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selfplay.errors import UserError
from selfplay.judging.agents import TabulatedPolicy
from selfplay.judging.counterexamples import Game, find_counterexamples
from selfplay.judging.evaluate import search_seat, suboptimal_moves, with_all_states
from selfplay.judging.exact import ALL_STATES_CELLS, NAMES
from selfplay.judging.verdict import verdict_text
from selfplay.position import Position
from tictactoe import planes, solve
from tictactoe.rules import Rules
from tictactoe.symmetry import representatives
from tictactoe.tree import SOLVABLE_CELLS, IntArray

if TYPE_CHECKING:
    from selfplay.judging.agents import AgentPolicy

FEW, POSITIONS, POSITIONS_OF_MANY_CELLS = 1_000, 200_000, 5_000
"""Upper bounds for the positions followed at each ply: first, then, and then on boards of over 16 cells."""
MOST_MISTAKES, MOST_GAMES, MOST_GAMES_OF_MANY_CELLS = 300, 1_000, 100
"""Upper bounds for the groups of mistakes, and for the games of each seat: a player that samples no moves has 945."""


ILLEGAL = -2
"""Value of a taken cell, below -1, a loss."""


class Move(NamedTuple):
    """Hold a move of a player."""

    mover: int
    """Its marks before the move, as bitboards."""
    opponent: int
    cell: int
    game: Game | None = None
    """The lost game in which it was made, if any."""
    ply: int | None = None


class OutOfTimeError(UserError):
    """Raised when an evaluation takes too long."""


def evaluate(policy: "AgentPolicy", seconds: float = inf) -> dict[str, Any]:
    """Return the verdict on a player, its mistakes, and the games that it loses in its own play, ready for JSON.

    Mistakes are the decision states in which its move does not keep the value; on larger boards, the positions of its
    own play in which it is beaten. If time runs out, fewer positions are followed.

    Raises:
        OutOfTimeError: not even the first positions can be followed in that time.
    """
    rules, start = policy.rules, monotonic()
    small = rules.cells <= ALL_STATES_CELLS
    most = MOST_GAMES if small else MOST_GAMES_OF_MANY_CELLS
    asked = policy = _timed(policy, start + seconds)
    if small and not policy.stochastic:
        policy = TabulatedPolicy(policy)
        policy.symmetric = False  # every position that it reaches is wanted, not one image of each
    play = find_counterexamples(policy, FEW, np.random.default_rng(0), most)
    if not play.verdict.complete:
        limit = POSITIONS if rules.cells <= SOLVABLE_CELLS else POSITIONS_OF_MANY_CELLS
        with contextlib.suppress(OutOfTimeError):
            half = _timed(asked, start + seconds / 2)
            play = find_counterexamples(half, limit, np.random.default_rng(0), most)
    seats, verdict, kind, reached = (play.verdict.first, play.verdict.second), play.verdict, "beaten", None
    if small:
        kind, verdict = "optimal", with_all_states(policy, *seats)
        wrong = _not_optimal(policy)
        plies = [ply for seat in (0, 1) for ply in search_seat(policy, seat, sys.maxsize, keep_plies=True)[1]]
        met = {each for ply in plies for each in zip(ply.mine.tolist(), ply.theirs.tolist(), strict=True)}
        reached = sum(each[:2] in met for each in wrong)
    else:
        wrong = _moves(play.mover, play.opponent, policy.moves(play.mover, play.opponent))
    groups = _groups(rules, wrong, play.games)
    return {
        "verdict": verdict_text(verdict),
        "proved": next((each for each in ("unbeatable", "unexploitable") if getattr(verdict, each)), None),
        "complete": verdict.complete,
        "lost": [seat.losses + seat.illegal for seat in seats],
        "kind": kind,
        "number": len(wrong),
        "reached": reached,
        "different": len(groups),
        "groups": groups[:MOST_MISTAKES],
        "games": [cells for games in play.games for cells in games],
    }


def _timed(policy: "AgentPolicy", end: float) -> "AgentPolicy":
    """Return a policy that raises OutOfTimeError if it is queried after a moment."""

    def timed(query: Callable[..., IntArray]) -> Callable[..., IntArray]:
        def answer(*words: IntArray) -> IntArray:
            if monotonic() > end:
                raise OutOfTimeError("following its games takes too long here; selfplay prove has no time limit")
            return query(*words)

        return answer

    timed_policy = copy.copy(policy)
    for name in ("cells", "moves", "probabilities"):
        setattr(timed_policy, name, timed(getattr(policy, name)))
    return timed_policy


def _moves(mover: IntArray, opponent: IntArray, moves: IntArray) -> list[Move]:
    """Return the first of some moves, bitboards [n], in each position."""
    words = zip(*(side.astype(np.int64).view(np.uint64).tolist() for side in (mover, opponent, moves)), strict=True)
    return [Move(mine, theirs, (chosen & -chosen).bit_length() - 1) for mine, theirs, chosen in words]


def _not_optimal(policy: "AgentPolicy") -> list[Move]:
    """Return the moves of a player on a small board that do not keep the value, one of each state, worst first."""
    solution, (states, moves) = solve(policy.rules), suboptimal_moves(policy)
    following = solution.tree.successors(states)
    after = np.where(following < 0, ILLEGAL, -solution.value[np.maximum(following, 0)])  # [n, A]
    played = planes.bits(policy.rules.cells, moves)
    after = np.where(played, after, max(NAMES))
    worst_first = np.argsort(after.min(axis=1) - solution.value[states], kind="stable")
    worst = np.int64(1) << after.argmin(axis=1)
    tree, chosen = solution.tree, states[worst_first]
    return _moves(tree.mover[chosen], tree.opponent[chosen], worst[worst_first])


def _groups(rules: Rules, wrong: Sequence[Move], games: Sequence[Sequence[Game]]) -> list[dict[str, Any]]:
    """Return the mistakes up to symmetry, ready for JSON: those that lose most games first, then the worst.

    The last mistake in a lost game is the move that loses it.
    """
    known = {move[:2] for move in wrong}
    losing = [last for seat in (0, 1) for cells in games[seat] if (last := _last(rules, seat, cells, known))]
    moves = [*losing, *wrong]
    words = np.array([(move.mover, move.opponent, move.mover | 1 << move.cell) for move in moves], np.uint64)
    mover, opponent, after = words.view(np.int64).reshape(-1, 3).T
    images = *representatives(rules, mover, opponent), *representatives(rules, after, opponent)
    keys = [*zip(*(image.tolist() for image in images), strict=True)]
    lost, states = Counter(keys[: len(losing)]), Counter(keys[len(losing) :])
    example = dict(zip(reversed(keys), reversed(moves), strict=True))  # the first of each
    return [
        {
            "board": _text(rules, move),
            "move": move.cell,
            "states": states[key],
            "games": lost[key],
            "game": move.game,
            "ply": move.ply,
        }
        for key in sorted(dict.fromkeys(keys), key=lambda key: -lost[key])
        for move in [example[key]]
    ]


def _last(rules: Rules, seat: int, cells: Game, wrong: set[tuple[int, int]]) -> Move | None:
    """Return the last move of a seat in a game that it made in one of some positions."""
    position, last = Position(rules), None
    for ply, cell in enumerate(cells):
        if position.seat == seat and (position.mover, position.opponent) in wrong:
            last = Move(position.mover, position.opponent, cell, cells, ply)
        position = position.after(cell)
    return last


def _text(rules: Rules, move: Move) -> str:
    """Return the position before a move as `read_board` reads it; the first seat has as many marks, or one more."""
    first, second = sorted(move[:2], key=int.bit_count, reverse=True)
    return "".join("X" if first >> cell & 1 else "O" if second >> cell & 1 else "." for cell in range(rules.cells))
