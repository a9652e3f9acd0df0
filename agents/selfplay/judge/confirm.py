"""An agent is asked again: before a proof about every position of its own play, alone and in other company.

An answer must depend on the position alone. An agent may change it because it samples, because it remembers, or because
the last digits of its values depend on how many boards are asked together.
"""

from collections.abc import Sequence

import numpy as np

from selfplay.judge.ask import BOARDS, AgentPolicy, called, differ, in_parts, observe
from selfplay.judge.forms import AnswerError, position_text
from selfplay.protocols import Array
from tictactoe import planes
from tictactoe.tree import IntArray

TOGETHER = (1, 2, 3)
"""Boards in one question when a proof depends on the answers. Up to three boards mostly use other kernels than many."""
SOME = 512
"""Positions about which an agent that is beaten is asked again, if it is shown one board at a time."""
QUESTIONS = 8
"""Least number of questions in which an agent that is beaten is asked again: one that samples might repeat itself."""
GAMES = 16
"""Games in whose course an agent is asked again."""


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
    if policy.computed or policy.near_ties is not None:
        return
    for seat in seats:
        first_reply = np.int64(1) << np.arange(policy.rules.cells)
        opponent = first_reply[~policy.rules.has_line(first_reply)] if seat else np.zeros(2, np.int64)
        mover = np.zeros_like(opponent)
        _ask_again(policy, mover, opponent, policy.answers(mover, opponent, BOARDS), BOARDS)


def confirm(
    policy: AgentPolicy, mover: IntArray, opponent: IntArray, answers: Array, sizes: Sequence[int] = TOGETHER
) -> None:
    """Ask an agent again about positions for a proof: alone and in small `sizes` of company, in another order.

    One of our players is asked where rounding could decide, alone. The answers are cells [n] or probabilities [n, A].

    Raises:
        AnswerError: it answers something else now.
    """
    if policy.computed:
        return
    if policy.near_ties is not None:
        close = in_parts(policy.near_ties, mover, opponent)
        _ask_again(policy, mover[close], opponent[close], answers[close], 1)
        return
    order = _another_order(len(mover))
    for size in sizes if policy.together else (1,):
        _ask_again(policy, mover[order], opponent[order], answers[order], size)


def spot_check(policy: AgentPolicy, mover: IntArray, opponent: IntArray, answers: Array) -> None:
    """Ask somebody's agent, which is beaten, again: about all positions at once or, one board at a time, about some.

    Raises:
        AnswerError: it answers something else now.
    """
    if policy.computed or policy.near_ties is not None:
        return
    order = _another_order(len(mover))
    if not policy.together:
        order = order[:SOME]
    _ask_again(policy, mover[order], opponent[order], answers[order], min(BOARDS, len(order) // QUESTIONS + 1))


def confirm_in_games(policy: AgentPolicy, seat: int) -> None:
    """Ask an agent in the course of some games against random replies, twice each game, one game after another.

    An agent that remembers what it was asked before may answer differently there.

    Raises:
        AnswerError: it does.
    """
    if policy.computed or policy.near_ties is not None:
        return
    games = positions_of_games(policy, seat)
    if games:
        mover, opponent, answers = map(np.array, zip(*games, strict=True))
        _ask_again(policy, mover, opponent, answers, 1)


def positions_of_games(policy: AgentPolicy, seat: int) -> list[tuple[int, int, Array]]:
    """Return an agent's turns in games against random replies, one game after another: position and answer."""
    rules, rng = policy.rules, np.random.default_rng(0)
    mine, theirs = np.zeros(GAMES, np.int64), np.zeros(GAMES, np.int64)
    turns: list[list[tuple[int, int, Array]]] = [[] for _ in range(GAMES)]
    for ply in range(rules.cells):
        going = np.flatnonzero(~(rules.has_line(mine) | rules.has_line(theirs)))
        if ply % 2 == seat:
            answers = policy.answers(mine[going], theirs[going], BOARDS)
            for game, *turn in zip(going, mine[going], theirs[going], answers, strict=True):
                turns[game].append((turn[0], turn[1], turn[2]))
            mine[going] |= _one_of(answers, rng)
        else:
            legal = planes.bits(rules.cells, rules.legal_cells(mine, theirs)[going])
            theirs[going] |= _one_of(legal, rng)
    return [turn for game in turns for turn in game]


def _one_of(answers: Array, rng: np.random.Generator) -> IntArray:
    """Return the chosen cells [n] or one of the cells [n, A] with a weight, at random, as bitboards [n]."""
    if answers.ndim == 2:
        answers = ((answers > 0) * rng.random(answers.shape)).argmax(axis=1)
    chosen: IntArray = np.int64(1) << answers
    return chosen


def _another_order(number: int) -> IntArray:
    """Return the numbers of positions in a random order that is the same each time."""
    return np.random.default_rng(0).permutation(number)


def _ask_again(policy: AgentPolicy, mover: IntArray, opponent: IntArray, answers: Array, together: int) -> None:
    other = differ(answers, policy.answers(mover, opponent, together))
    if other.any():
        raise ChangedAnswerError(policy, mover[other], opponent[other])
