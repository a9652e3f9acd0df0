"""Exact evaluation: what an agent does against every possible opponent, without sampling.

In each seat a forward search follows the agent's moves and every legal reply to the end of every game. So the worst
result found is the result against a best response, and the game need not be solved. On small boards the agent's moves
in all decision states are also compared with the solution.
"""

import sys

import numpy as np

from selfplay.judging.agents import BOARDS, AgentPolicy, TabulatedPolicy
from selfplay.judging.backward_induction import EXACT_DIGITS, worst_mean
from selfplay.judging.forward_search import ForwardSearch, Ply, Report
from selfplay.judging.verdict import SeatVerdict, Verdict
from tictactoe import solve
from tictactoe.tree import SOLVABLE_CELLS, IntArray, game_tree

POSITIONS = 500_000
"""Default limit of distinct positions at each ply: more than players of 4,4,4 lead to."""
ALL_STATES_CELLS = 12
"""Largest board on which all states are looked at in less than a second."""
SETTLED_ABOVE = SOLVABLE_CELLS
"""Largest board on which games are followed to their end even if the player can no longer lose."""
TWO_EMPTY_BOARDS: IntArray = np.zeros((2, 2), np.int64)
"""The marks of both seats on two boards; an answer of the wrong shape may be right for one."""


def evaluate_policy(
    policy: AgentPolicy, every_state: bool = False, positions: int = POSITIONS, report: Report | None = None
) -> Verdict:
    """Evaluate a policy in all states of a small board, or in the positions of its own play on a larger one.

    Boards of up to 12 cells are small, which takes less than a second, and with `every_state` boards of up to 16. On a
    larger one at most `positions` distinct positions are followed at each ply of a seat, and each ply is reported.
    """
    policy.moves(*TWO_EMPTY_BOARDS)  # an agent that cannot be asked is to say so before a board is solved
    small = policy.rules.cells <= (SOLVABLE_CELLS if every_state else ALL_STATES_CELLS)
    if small and not policy.stochastic:
        policy = TabulatedPolicy(policy)
    first, second = (
        search_seat(policy, seat, sys.maxsize if small else positions, report=report)[0] for seat in (0, 1)
    )
    return with_all_states(policy, first, second) if small else Verdict(first, second, perspective=policy.shown)


def search_seat(
    policy: AgentPolicy,
    seat: int,
    limit: int,
    salt: int | None = None,
    report: Report | None = None,
    keep_plies: bool = False,
    settle: bool = True,
) -> tuple[SeatVerdict, list[Ply]]:
    """Evaluate a policy in one seat by a forward search, and return the plies as well, if they are to be kept.

    With `settle` games that the policy can no longer lose are not followed further, where `settles` allows it.
    If a ply has more than `limit` distinct positions, a random part is followed, which `salt` chooses; without a salt
    the search ends there.
    """
    search = ForwardSearch(policy, seat, limit, salt, settle and settles(policy), report)
    plies = [ply for ply in search.plies() if keep_plies or policy.stochastic]
    settled = search.settled.games > 0
    if settled and search.complete and not (search.lost.games or search.drawn.games):
        # It wins every game, which is the best result, unless one of those that were settled is a draw.
        return search_seat(policy, seat, limit, salt, settle=False)[0], plies
    lost, illegal = search.lost.games, search.illegal.games
    if not search.complete:
        beaten = -1 if lost + illegal and not policy.stochastic else None
        return SeatVerdict(
            lost, illegal, best_response=beaten, plies=search.plies_followed, positions=search.positions
        ), plies
    # An agent that samples nothing leaves its opponent the choice among all games, so the worst one counts.
    worst = -1 if lost + illegal else 0 if search.drawn.games + search.settled.games else 1
    return SeatVerdict(
        lost,
        illegal,
        win=None if settled else _rounded(search.won.probability),
        draw=None if settled else _rounded(search.drawn.probability),
        loss=_rounded(search.lost.probability + search.illegal.probability),
        best_response=worst_mean(policy, plies) if policy.stochastic and plies else worst,
    ), plies


def _rounded(probability: float) -> float:
    """Return a sum of probabilities without its last digits, which depend on the order of the sum."""
    return float(f"{probability:.{EXACT_DIGITS}g}")


def settles(policy: AgentPolicy) -> bool:
    """Tell whether games are followed no further than to where the agent cannot lose any more."""
    return policy.legal and not policy.stochastic and policy.rules.cells > SETTLED_ABOVE


def with_all_states(policy: AgentPolicy, first: SeatVerdict, second: SeatVerdict) -> Verdict:
    """Return the verdict of both seats together with how the policy moves in all decision states of a small board."""
    tree, (states, moves) = game_tree(policy.rules), suboptimal_moves(policy)
    illegal = moves & (tree.mover[states] | tree.opponent[states]) != 0
    decisions = len(tree.decisions)
    return Verdict(first, second, decisions, decisions - len(states), int(illegal.sum()), policy.shown)


def suboptimal_moves(policy: AgentPolicy) -> tuple[IntArray, IntArray]:
    """Return the decision states [n] of a small board in which some move does not keep the value, and the moves [n]."""
    solution = solve(policy.rules)
    tree, decisions = solution.tree, solution.tree.decisions
    moves = np.concatenate(
        [
            policy.moves(tree.mover[part], tree.opponent[part])
            for part in np.array_split(decisions, len(decisions) // BOARDS + 1)
        ]
    )
    suboptimal = moves & ~solution.optimal_moves[decisions] != 0
    return decisions[suboptimal], moves[suboptimal]
