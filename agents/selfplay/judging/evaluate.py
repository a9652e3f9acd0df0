"""Exact evaluation: what an agent does against every possible opponent, without sampling.

In each seat a forward search follows the agent's moves and every legal reply to the end of every game. So the worst
result found is the result against a best response, and the game need not be solved. On small boards the agent's moves
in all decision states are also compared with the solution.
"""

import sys
from typing import NamedTuple

import numpy as np

from selfplay.judging.agents import BOARDS, AgentPolicy, TabulatedPolicy
from selfplay.judging.backward_induction import EXACT_DIGITS, worst_mean
from selfplay.judging.exact import ALL_STATES_CELLS
from selfplay.judging.forward_search import CONFIRMED, Ply, PlyReport, SeatPlay, follow, sample
from selfplay.judging.verdict import SeatVerdict, Verdict
from tictactoe import solve
from tictactoe.tree import SOLVABLE_CELLS, IntArray, game_tree

POSITIONS = 500_000
"""Default limit of distinct positions at each ply: more than players of 4,4,4 lead to."""
SETTLED_ABOVE = SOLVABLE_CELLS
"""Largest board on which games are followed to their end even if the player can no longer lose."""
CONFIRMED_STATES = 5_000
"""Most decision states in which an optimal agent is asked again: more than 3,3,3 has."""
TWO_EMPTY_BOARDS: IntArray = np.zeros((2, 2), np.int64)
"""The marks of both seats on two boards; an answer of the wrong shape may be right for one."""


class SeatSearch(NamedTuple):
    """The verdict on an agent in one seat, and the plies of its play."""

    verdict: SeatVerdict
    plies: list[Ply]
    """Empty unless they were to be kept, or the agent samples its moves."""


def evaluate_policy(
    policy: AgentPolicy, every_state: bool = False, positions: int = POSITIONS, report: PlyReport | None = None
) -> Verdict:
    """Evaluate a policy in all states of a small board, or in the positions of its own play on a larger one.

    Boards of up to 12 cells are small, which takes less than a second, and with `every_state` boards of up to 16. On a
    larger one at most `positions` distinct positions are followed at each ply of a seat, and each ply is reported.
    """
    if policy.rules.cells > (SOLVABLE_CELLS if every_state else ALL_STATES_CELLS):
        return evaluate_own_play(policy, positions, report)
    policy.moves(*TWO_EMPTY_BOARDS)  # an agent that cannot be asked is to say so before a board is solved
    if not policy.stochastic:
        policy = TabulatedPolicy(policy)
    own = evaluate_own_play(policy, sys.maxsize, report)
    return with_all_states(policy, own.first, own.second)


def evaluate_own_play(policy: AgentPolicy, positions: int = POSITIONS, report: PlyReport | None = None) -> Verdict:
    """Evaluate a policy in the positions of its own play alone, on a board of any size."""
    policy.moves(*TWO_EMPTY_BOARDS)
    first, second = (search_seat(policy, seat, positions, report=report).verdict for seat in (0, 1))
    return Verdict(first, second, perspective=policy.shown, rules=policy.rules)


def search_seat(
    policy: AgentPolicy,
    seat: int,
    limit: int,
    salt: int | None = None,
    report: PlyReport | None = None,
    keep_plies: bool = False,
) -> SeatSearch:
    """Evaluate a policy in one seat by a forward search.

    If a ply has more than `limit` distinct positions, a random part is followed, which `salt` chooses; without a salt
    the search ends there. A player that never marks a taken cell is followed on large boards only until it can no
    longer lose.
    """
    settle = policy.legal and not policy.stochastic and policy.rules.cells > SETTLED_ABOVE
    keep_plies = keep_plies or policy.stochastic  # the mean result of an agent that samples needs them
    play = follow(policy, seat, limit, salt=salt, settle=settle, keep_plies=keep_plies, report=report)
    plies = play.plies
    if play.complete and play.settled.games and not (play.lost.games or play.drawn.games):
        # It wins every game, which is the best result, unless one of those that were settled is a draw.
        play = follow(policy, seat, limit, salt=salt)
    return SeatSearch(_seat_verdict(policy, play, plies), plies)


def _seat_verdict(policy: AgentPolicy, play: SeatPlay, plies: list[Ply]) -> SeatVerdict:
    """Return the verdict on what was found of an agent's play in one seat."""
    lost, illegal, settled = play.lost.games, play.illegal.games, play.settled.games
    worst: float
    # An agent that samples nothing leaves its opponent the choice among all games, so the worst one counts.
    if lost or illegal:
        worst = -1
    elif play.drawn.games:
        worst = 0
    else:
        worst = 1
    if not play.complete:
        known = worst == -1 and not policy.stochastic
        return SeatVerdict(
            lost,
            illegal,
            best_response=worst if known else None,
            plies=play.plies_followed,
            positions=play.positions,
        )
    if policy.stochastic and plies:
        worst = worst_mean(policy, plies)
    return SeatVerdict(
        lost,
        illegal,
        win=None if settled else _rounded(play.won.probability),
        draw=None if settled else _rounded(play.drawn.probability),
        loss=_rounded(play.lost.probability + play.illegal.probability),
        best_response=worst,
    )


def _rounded(probability: float) -> float:
    """Return a sum of probabilities without its last digits, which depend on the order of the sum."""
    return float(f"{probability:.{EXACT_DIGITS}g}")


def with_all_states(policy: AgentPolicy, first: SeatVerdict, second: SeatVerdict) -> Verdict:
    """Return the verdict of both seats together with how the policy moves in all decision states of a small board.

    Raises:
        UserError: every move is optimal, or the agent was asked once, and some are others when it is asked again.
    """
    tree = game_tree(policy.rules)
    states, moves = suboptimal_moves(policy)
    if not len(states) or policy.asked_once:
        some = tree.decisions[sample(len(tree.decisions), CONFIRMED if len(states) else CONFIRMED_STATES)]
        mover, opponent = tree.mover[some], tree.opponent[some]
        policy.confirm(mover, opponent, policy.moves(mover, opponent))
    illegal = moves & (tree.mover[states] | tree.opponent[states]) != 0
    decisions = len(tree.decisions)
    return Verdict(first, second, decisions, decisions - len(states), int(illegal.sum()), policy.shown, policy.rules)


def suboptimal_moves(policy: AgentPolicy) -> tuple[IntArray, IntArray]:
    """Return the decision states [n] of a small board in which some move does not keep the value, and the moves [n]."""
    solution = solve(policy.rules)
    tree, decisions = solution.tree, solution.tree.decisions
    parts = np.array_split(decisions, len(decisions) // BOARDS + 1)
    moves = np.concatenate([policy.moves(tree.mover[part], tree.opponent[part]) for part in parts])
    suboptimal = moves & ~solution.optimal_moves[decisions] != 0
    return decisions[suboptimal], moves[suboptimal]
