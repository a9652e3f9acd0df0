"""The mistakes of an agent on a small board: every state in which its move does not keep the value of the position."""

from typing import NamedTuple

import numpy as np

from selfplay.judge.ask import observe
from selfplay.judge.evaluate import Evaluation, is_suboptimal
from selfplay.judge.forms import position_text
from selfplay.judge.move_values import plies_to_end
from tictactoe import Rules, planes, solve

ILLEGAL = -2
"""Value of a taken cell, below -1, a loss."""


class Mistake(NamedTuple):
    """A move that does not keep the value of the position; a missed win is one with `value` 1."""

    board: str
    """The position before it, row by row, such as "X..\\n.O.\\n..."."""
    cell: int
    value: int
    """The value of the position to the mover: 1 a win, 0 a draw, -1 a loss."""
    value_after: int
    """Its value after the move; a taken cell loses."""
    plies: int
    """Plies from the move, which counts, to the end of the game, if both seats then play best; 1 for a taken cell."""
    reached: bool
    """Whether the agent's own play leads there."""
    mover: int
    """Bitboard of the mover's marks before the move."""
    opponent: int


def find_mistakes(evaluation: Evaluation) -> list[Mistake]:
    """Return the worst move of an agent in each state in which some move does not keep the value, the worst first.

    The board has at most 12 cells.
    """
    policy = evaluation.policy
    rules = policy.rules
    solution, played = solve(rules), evaluation.moves
    assert played is not None  # every state of a board of this size is looked at
    tree, wrong = solution.tree, is_suboptimal(rules, played)
    states, moves = tree.decisions[wrong], played[wrong]
    following = tree.successors(states)  # [n, A]
    after = np.where(following < 0, ILLEGAL, -solution.value[np.maximum(following, 0)])
    after = np.where(planes.bits(rules.cells, moves), after, 2)  # what it does not play is never its worst move
    cells, worst = after.argmin(axis=1), after.min(axis=1)
    to_end = 1 + np.where(worst == ILLEGAL, 0, plies_to_end(rules)[following[np.arange(len(states)), cells]])
    met = {
        position
        for search in evaluation.searches
        for ply in search.plies
        for position in zip(ply.mine.tolist(), ply.theirs.tolist(), strict=True)
    }
    found = []
    for number in np.argsort(worst - solution.value[states], kind="stable"):
        mover, opponent = int(tree.mover[states[number]]), int(tree.opponent[states[number]])
        found.append(
            Mistake(
                board=board_text(rules, mover, opponent),
                cell=int(cells[number]),
                value=int(solution.value[states[number]]),
                value_after=max(int(worst[number]), -1),
                plies=int(to_end[number]),
                reached=(mover, opponent) in met,
                mover=mover,
                opponent=opponent,
            )
        )
    return found


def board_text(rules: Rules, mover: int, opponent: int) -> str:
    """Return a position as text, a line a row."""
    mine, theirs = np.array([[mover], [opponent]], np.uint64).view(np.int64)
    (board,) = observe(rules, mine, theirs, "absolute")
    return position_text(board).replace("/", "\n")
