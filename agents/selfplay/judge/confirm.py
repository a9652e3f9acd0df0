"""An agent is asked again: before a proof about every position of its own play, alone and in other company.

An answer must depend on the position alone. An agent may change it because it samples, because it remembers, or because
the last digits of its values depend on how many boards are asked together.
"""

from collections.abc import Sequence

import numpy as np

from selfplay.judge.ask import BOARDS, AgentPolicy, called, differ, in_parts, move_sets, observe
from selfplay.judge.follow import Ply, some_of
from selfplay.judge.forms import AnswerError, position_text
from tictactoe.tree import IntArray

TOGETHER = (1, 2, 3)
"""Boards in one question when a proof depends on the answers. Up to three boards mostly use other kernels than many."""
SOME = 512
"""Positions about which an agent that is beaten is asked again, if it is shown one board at a time."""
QUESTIONS = 8
"""Least number of questions in which an agent that is beaten is asked again: one that samples might repeat itself."""


class ChangedAnswerError(AnswerError):
    """An answer that depends on more than the position."""

    def __init__(self, policy: AgentPolicy, mover: IntArray, opponent: IntArray) -> None:
        (board,) = observe(policy.rules, mover[:1], opponent[:1], "absolute")
        message = (
            f"the agent changes its answer when asked again about the position {position_text(board)}, but its choice "
            "must depend on the position alone. If it samples, give it probabilities(observation), or have it choose "
            "its best move. If it remembers, pass a function that asks a fresh copy. If some of its values are nearly "
            "equal, round them: their last digits depend on how many boards are asked together"
        )
        super().__init__(called(policy.name, message))


def begin(policy: AgentPolicy, seats: Sequence[int]) -> None:
    """Ask somebody's agent twice at once about the first positions of its seats.

    One that cannot be asked says so before a board is solved, and one that samples is refused after a few questions.

    Raises:
        AnswerError: it fails, or answers something else the second time.
    """
    if policy.trusted:
        return
    for seat in seats:
        first_reply = np.int64(1) << np.arange(policy.rules.cells)
        opponent = first_reply[~policy.rules.has_line(first_reply)] if seat else np.zeros(2, np.int64)
        mover = np.zeros_like(opponent)
        _ask_again(policy, Ply(mover, opponent, policy.answers(mover, opponent, BOARDS)), BOARDS)


def confirm(policy: AgentPolicy, ply: Ply) -> None:
    """Ask somebody's agent again about positions for a proof: each alone, and in small companies, in another order.

    Raises:
        AnswerError: it answers something else now.
    """
    if policy.trusted:
        return
    again = some_of(ply, _in_another_order(len(ply.mine)))
    for size in TOGETHER if policy.together else (1,):
        _ask_again(policy, again, size)


def confirm_moves(policy: AgentPolicy, mover: IntArray, opponent: IntArray, moves: IntArray) -> None:
    """Ask somebody's agent again, alone, about positions of which only its moves count, bitboards [n].

    Raises:
        AnswerError: it moves elsewhere now.
    """
    if policy.trusted:
        return

    def moves_alone(mover: IntArray, opponent: IntArray) -> IntArray:
        return move_sets(policy.answers(mover, opponent, 1))

    which = _in_another_order(len(moves))
    other = which[moves[which] != in_parts(moves_alone, mover[which], opponent[which])]
    if len(other):
        raise ChangedAnswerError(policy, mover[other], opponent[other])


def spot_check(policy: AgentPolicy, ply: Ply) -> None:
    """Ask somebody's agent, which is beaten, again: about all positions at once or, one board at a time, about some.

    Raises:
        AnswerError: it answers something else now.
    """
    if policy.trusted:
        return
    again = some_of(ply, _in_another_order(len(ply.mine)))
    if not policy.together:
        again = some_of(again, slice(SOME))
    _ask_again(policy, again, min(BOARDS, len(again.mine) // QUESTIONS + 1))


def _in_another_order(count: int) -> IntArray:
    """Return the numbers of so many positions in another order, always the same."""
    return np.random.default_rng(0).permutation(count)


def _ask_again(policy: AgentPolicy, ply: Ply, together: int) -> None:
    other = differ(ply.answers, policy.answers(ply.mine, ply.theirs, together))
    if other.any():
        raise ChangedAnswerError(policy, ply.mine[other], ply.theirs[other])
