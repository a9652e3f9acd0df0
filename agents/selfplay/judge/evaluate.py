"""Exact evaluation: what an agent does against every possible opponent, without sampling.

In each seat a forward search follows the agent's moves and every legal reply to the end of every game. So the worst
result found is the result against a best response, and the game need not be solved. On small boards the agent's moves
in all decision states are also compared with the solution. Before a proof the agent is asked again about every position
of its own play.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from selfplay.judge.ask import BOARDS, AgentPolicy, Table, in_parts, tabulated
from selfplay.judge.confirm import begin, confirm, confirm_in_games, spot_check
from selfplay.judge.follow import Ply, SeatPlay, follow
from selfplay.judge.forms import AnswerError
from selfplay.judge.induct import EXACT_DIGITS, worst_mean
from selfplay.judge.verdict import NOT_JUDGED, SeatVerdict, Verdict, is_blind_as_o, perspective_hint
from tictactoe import solve
from tictactoe.tree import SOLVABLE_CELLS, IntArray, game_tree

POSITIONS = 500_000
"""Default limit of distinct positions at each ply: more than players of 4,4,4 lead to."""
SETTLED_ABOVE = SOLVABLE_CELLS
"""Largest board on which games are followed to their end even if the player can no longer lose."""
CONFIRMED_STATES = 5_000
"""Most decision states in which an optimal agent is asked again: more than 3,3,3 has."""
BOTH_SEATS = (0, 1)


class SeatSearch(NamedTuple):
    """The verdict on an agent in one seat, and the plies of its play."""

    verdict: SeatVerdict
    plies: list[Ply]


class Evaluation(NamedTuple):
    """The verdict on an agent, and what it rests on."""

    verdict: Verdict
    followed: AgentPolicy
    """The policy, or what looks up its answers."""
    searches: Sequence[SeatSearch]
    """Of both seats; one that was not judged has no plies."""


def evaluate_policy(
    policy: AgentPolicy,
    every_state: bool = True,
    positions: int = POSITIONS,
    seats: Sequence[int] = BOTH_SEATS,
    ask_again: bool = True,
) -> Evaluation:
    """Evaluate a policy in its own play and, with `every_state`, in all states of a board of up to 16 cells.

    On a larger one, and without `every_state`, at most `positions` distinct positions are followed at each ply of a
    seat. If only some `seats` are judged, the verdict knows nothing of the other one and of all states. With
    `ask_again` off, an agent that could not be beaten is not asked again, so nothing is proved.

    Raises:
        AnswerError: the agent fails, or answers something else when it is asked again.
    """
    begin(policy, seats)
    every_state = every_state and policy.rules.cells <= SOLVABLE_CELLS and tuple(seats) == BOTH_SEATS
    followed, table = policy, None
    if every_state:
        positions = sys.maxsize
        if not policy.samples:
            followed, table = tabulated(policy)
    searches = [SeatSearch(NOT_JUDGED, []), SeatSearch(NOT_JUDGED, [])]
    for number in seats:
        searches[number] = search_seat(followed, number, positions)
        if ask_again:
            confirm_play(policy, number, searches[number])
    first, second = (search.verdict for search in searches)
    seat = None if len(seats) > 1 else seats[0]
    verdict = Verdict(first, second, seat=seat, confirmed=ask_again, perspective=policy.perspective, rules=policy.rules)
    if every_state:
        if table is not None:
            fill(table)
        verdict = with_all_states(policy, followed, verdict)
    if policy.other_view is not None and is_blind_as_o(verdict):
        other = search_seat(policy.other_view, 1, positions).verdict
        verdict = replace(verdict, hint=perspective_hint(verdict, other, policy.other_view.perspective))
    return Evaluation(verdict, followed, searches)


def fill(table: Table) -> None:
    """Ask an agent in the decision states that its own play does not reach.

    Raises:
        AnswerError: it fails.
    """
    try:
        table.fill()
    except AnswerError as error:
        raise AnswerError(
            f"{error}. Its own play was followed without a mistake of this kind: if it only knows what it meets, leave "
            "out the other positions with every_state=False (--no-every-state)"
        ) from error


def search_seat(policy: AgentPolicy, seat: int, limit: int, sample_seed: int | None = None) -> SeatSearch:
    """Evaluate a policy in one seat by a forward search, without asking it again.

    If a ply has more than `limit` distinct positions, a random part is followed, which `sample_seed` chooses; without
    one the search ends there. A player that never marks a taken cell is followed on large boards only until it can no
    longer lose.
    """
    settle = policy.legal and not policy.samples and policy.rules.cells > SETTLED_ABOVE
    play = follow(policy, seat, limit, sample_seed=sample_seed, settle=settle)
    plies = play.plies
    if play.complete and play.settled.games and not play.beaten and not play.drawn.games:
        # It wins every game, which is the best result, unless one of those that were settled is a draw.
        play = follow(policy, seat, limit, sample_seed=sample_seed)
    return SeatSearch(_seat_verdict(policy, play, plies), plies)


def _seat_verdict(policy: AgentPolicy, play: SeatPlay, plies: list[Ply]) -> SeatVerdict:
    """Return the verdict on what was found of an agent's play in one seat."""
    losses, illegal, settled = play.lost.games, play.illegal.games, play.settled.games
    worst: float
    # An agent that samples nothing leaves its opponent the choice among all games, so the worst one counts.
    if play.beaten:
        worst = -1
    elif play.drawn.games:
        worst = 0
    else:
        worst = 1
    if not play.complete:
        known = play.beaten and not policy.samples
        return SeatVerdict(
            losses,
            illegal,
            best_response=worst if known else None,
            plies=play.plies_followed,
            positions=sum(len(ply.mine) for ply in plies),
        )
    if policy.samples and plies:
        worst = worst_mean(policy, plies)
    return SeatVerdict(
        losses,
        illegal,
        win=None if settled else _rounded(play.won.probability),
        draw=None if settled else _rounded(play.drawn.probability),
        loss=_rounded(play.lost.probability + play.illegal.probability),
        illegal_loss=_rounded(play.illegal.probability),
        best_response=worst,
    )


def _rounded(probability: float) -> float:
    """Return a sum of probabilities without its last digits, which depend on the order of the sum."""
    return float(f"{probability:.{EXACT_DIGITS}g}")


def confirm_play(policy: AgentPolicy, seat: int, search: SeatSearch) -> None:
    """Ask an agent again about its play in a seat: about all of it, if nobody beats it there.

    Raises:
        AnswerError: it answers something else.
    """
    if not search.plies:
        return
    mover, opponent, answers = map(np.concatenate, zip(*search.plies, strict=True))
    if search.verdict.unbeaten:
        confirm(policy, mover, opponent, answers)
        confirm_in_games(policy, seat)
    else:
        spot_check(policy, mover, opponent, answers)


def with_all_states(policy: AgentPolicy, followed: AgentPolicy, verdict: Verdict) -> Verdict:
    """Return a verdict together with how the policy moves in all decision states of a small board.

    `followed` is the policy, or what looks up its answers.

    Raises:
        AnswerError: every move is optimal, and some are others when the agent is asked again.
    """
    tree = game_tree(policy.rules)
    states, moves = suboptimal_moves(followed)
    if not len(states) and verdict.confirmed:
        some = np.random.default_rng(0).permutation(tree.decisions)[:CONFIRMED_STATES]
        mover, opponent = tree.mover[some], tree.opponent[some]
        confirm(policy, mover, opponent, followed.answers(mover, opponent, BOARDS), sizes=(1,))
    illegal = moves & ~policy.rules.legal_cells(tree.mover[states], tree.opponent[states]) != 0
    decisions = len(tree.decisions)
    return replace(
        verdict,
        decision_states=decisions,
        optimal_states=decisions - len(states),
        illegal_states=int(illegal.sum()),
    )


def suboptimal_moves(policy: AgentPolicy) -> tuple[IntArray, IntArray]:
    """Return the decision states [n] of a small board in which some move does not keep the value, and the moves [n]."""
    solution = solve(policy.rules)
    tree, decisions = solution.tree, solution.tree.decisions
    moves = in_parts(policy.moves, tree.mover[decisions], tree.opponent[decisions])
    suboptimal = moves & ~solution.optimal_moves[decisions] != 0
    return decisions[suboptimal], moves[suboptimal]
