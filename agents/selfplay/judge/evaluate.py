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

from selfplay.judge.ask import AgentPolicy, in_parts
from selfplay.judge.confirm import begin, confirm, confirm_moves, spot_check
from selfplay.judge.follow import Ply, SeatPlay, follow
from selfplay.judge.forms import AnswerError
from selfplay.judge.induct import EXACT_DIGITS, worst_mean
from selfplay.judge.verdict import NOT_JUDGED, SeatVerdict, Verdict
from selfplay.verdict_text import perspective_hint
from tictactoe import Rules, solve
from tictactoe.tree import SOLVABLE_CELLS, BoolArray, IntArray, game_tree

POSITIONS = 500_000
"""Default limit of distinct positions at each ply: more than players of 4,4,4 lead to."""
SETTLED_ABOVE = SOLVABLE_CELLS
"""Largest board on which games are followed to their end even if the player can no longer lose."""
FOLLOWED_TO_A_DRAW = 1_000
"""Positions followed at each ply to find a draw."""
BOTH_SEATS = (0, 1)
GOOD, BAD = 0.05, 0.1
"""Losses against random play: below the first an agent is good as X, and above the second it is bad as O."""


class SeatSearch(NamedTuple):
    """The verdict on an agent in one seat, and the plies of its play."""

    verdict: SeatVerdict
    plies: list[Ply]


class Evaluation(NamedTuple):
    """The verdict on an agent, and what it rests on."""

    verdict: Verdict
    policy: AgentPolicy
    searches: Sequence[SeatSearch]
    """Of both seats; one that was not judged has no plies."""
    moves: IntArray | None = None
    """Its moves in all decision states, bitboards [n]; None if it was not asked there."""


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
    if every_state:
        positions = sys.maxsize
    searches = [SeatSearch(NOT_JUDGED, []), SeatSearch(NOT_JUDGED, [])]
    for number in seats:
        searches[number] = search_seat(policy, number, positions)
        if ask_again:
            confirm_play(policy, searches[number])
    first, second = (search.verdict for search in searches)
    seat = None if len(seats) > 1 else seats[0]
    verdict = Verdict(first, second, seat=seat, confirmed=ask_again, perspective=policy.perspective, rules=policy.rules)
    moves = None
    if every_state:
        try:
            moves = decision_moves(policy)
        except AnswerError as error:
            raise AnswerError(
                f"{error}. Its own play was followed without a mistake of this kind: if it only knows what it meets, "
                "leave out the other positions with every_state=False (--no-every-state)"
            ) from error
        verdict = with_all_states(policy, verdict, moves)
    if policy.other_view is not None and is_blind_as_o(verdict):
        verdict = replace(verdict, hint=perspective_hint(verdict, as_o(policy.other_view, positions)))
    return Evaluation(verdict, policy, searches, moves)


def is_blind_as_o(verdict: Verdict) -> bool:
    """Return whether an agent is good as X and bad as O, as if it saw the wrong marks there."""
    first, second = verdict.first.loss, verdict.second.loss
    return first is not None and second is not None and first < GOOD and second > BAD


def as_o(other_view: AgentPolicy, positions: int) -> SeatVerdict | None:
    """Return the verdict on an agent as O in the other perspective; None if it fails there."""
    try:
        return search_seat(other_view, 1, positions).verdict
    except AnswerError:
        return None


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
        some = follow(policy, seat, FOLLOWED_TO_A_DRAW, sample_seed=0)
        if some.drawn.games:
            play.drawn = some.drawn
        else:
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


def confirm_play(policy: AgentPolicy, search: SeatSearch) -> None:
    """Ask an agent again about its play in a seat: about all of it, if nobody beats it there.

    Raises:
        AnswerError: it answers something else.
    """
    if not search.plies:
        return
    whole = Ply._make(map(np.concatenate, zip(*search.plies, strict=True)))
    if search.verdict.unbeaten:
        confirm(policy, whole)
    else:
        spot_check(policy, whole)


def decision_moves(policy: AgentPolicy) -> IntArray:
    """Return the moves of a policy in all decision states of a small board, bitboards [n].

    Raises:
        AnswerError: it fails.
    """
    tree = game_tree(policy.rules)
    moves: IntArray = in_parts(policy.moves, tree.mover[tree.decisions], tree.opponent[tree.decisions])
    return moves


def is_suboptimal(rules: Rules, moves: IntArray) -> BoolArray:
    """Return in which decision states of a small board [n] one of the moves there, [n], does not keep the value."""
    solution = solve(rules)
    suboptimal: BoolArray = moves & ~solution.optimal_moves[solution.tree.decisions] != 0
    return suboptimal


def with_all_states(policy: AgentPolicy, verdict: Verdict, moves: IntArray) -> Verdict:
    """Return a verdict together with how a policy moves, [n], in all decision states of a small board.

    Raises:
        AnswerError: every move is optimal, and some are others when the agent is asked again.
    """
    tree = game_tree(policy.rules)
    mover, opponent = tree.mover[tree.decisions], tree.opponent[tree.decisions]
    suboptimal = is_suboptimal(policy.rules, moves)
    if verdict.confirmed and not suboptimal.any():
        confirm_moves(policy, mover, opponent, moves)
    illegal = moves & ~policy.rules.legal_cells(mover, opponent) != 0
    return replace(
        verdict,
        decision_states=len(moves),
        optimal_states=int((~suboptimal).sum()),
        illegal_states=int(illegal.sum()),
    )
