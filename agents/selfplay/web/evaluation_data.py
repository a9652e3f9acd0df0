"""The verdict on a player, the games that it loses, and the states in which its move is wrong, for the page."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from selfplay.judge.ask import AgentPolicy
from selfplay.judge.counterexamples import Game, counterexamples_of, find_counterexamples
from selfplay.judge.evaluate import evaluate_policy
from selfplay.judge.mistakes import board_text, find_mistakes
from selfplay.judge.move_values import ALL_STATES_CELLS
from selfplay.judge.verdict import Verdict
from selfplay.verdict_text import verdict_text
from tictactoe.rules import Rules
from tictactoe.symmetry import representatives
from tictactoe.tree import SOLVABLE_CELLS

MOST_POSITIONS, MOST_POSITIONS_OF_LARGE_BOARDS = 200_000, 5_000
"""Largest numbers of positions followed at each ply, on boards of over 12 and of over 16 cells."""
MOST_GAMES, FEW_GAMES = 1_000, 100
"""Largest numbers of lost games shown of each seat, of which a player of 3,3,3 that samples no moves has 945 at most;
and of a player that samples, or has a board of over 12 cells."""
MOST_WRONG = 300
"""Largest number of wrong moves that are listed."""

Wrong: TypeAlias = tuple[int, int, int]
"""A wrong move: the marks of the mover and of the opponent before it, as bitboards, and its cell."""


def evaluation(policy: AgentPolicy) -> dict[str, Any]:
    """Return the verdict on a player, its wrong moves, and the games that it loses in its own play, ready for JSON.

    A move is wrong in a decision state whose value it does not keep. On boards of over 12 cells these are the moves in
    the positions of its own play from which some replies beat it.
    """
    if policy.rules.cells <= ALL_STATES_CELLS:
        return _of_small_board(policy)
    return _of_large_board(policy)


def _of_small_board(policy: AgentPolicy) -> dict[str, Any]:
    """Return the evaluation on a board whose states can all be looked at."""
    found = evaluate_policy(replace(policy, symmetric=False))  # every position is wanted, not one image of each
    mistakes = find_mistakes(found)
    wrong = [(mistake.mover, mistake.opponent, mistake.cell) for mistake in mistakes]
    reached = sum(mistake.reached for mistake in mistakes)
    games = counterexamples_of(found, FEW_GAMES if policy.samples else MOST_GAMES).games
    return _shown(policy.rules, found.verdict, wrong, games) | {"kind": "optimal", "reached": reached}


def _of_large_board(policy: AgentPolicy) -> dict[str, Any]:
    """Return the evaluation on a board too large to look at every state."""
    most = MOST_POSITIONS if policy.rules.cells <= SOLVABLE_CELLS else MOST_POSITIONS_OF_LARGE_BOARDS
    play = find_counterexamples(policy, most, np.random.default_rng(0), FEW_GAMES)
    moves = policy.moves(play.mover, play.opponent)
    words = [side.astype(np.int64).view(np.uint64).tolist() for side in (play.mover, play.opponent, moves)]
    wrong = [(mover, opponent, (move & -move).bit_length() - 1) for mover, opponent, move in zip(*words, strict=True)]
    return _shown(policy.rules, play.verdict, wrong, play.games) | {"kind": "beaten", "reached": None}


def _shown(
    rules: Rules, verdict: Verdict, wrong: Sequence[Wrong], games: tuple[Sequence[Game], Sequence[Game]]
) -> dict[str, Any]:
    """Return what is shown on any board."""
    proved = None
    if verdict.unbeatable:
        proved = "unbeatable"
    elif verdict.unexploitable:
        proved = "unexploitable"
    different = _different(rules, wrong)
    return {
        "verdict": verdict_text(verdict),
        "proved": proved,
        "complete": verdict.complete,
        "ways": [seat.ways_to_beat for seat in (verdict.first, verdict.second)],
        "number": len(wrong),
        "different": len(different),
        "wrong": different[:MOST_WRONG],
        "games": [*games[0], *games[1]],
    }


def _different(rules: Rules, wrong: Sequence[Wrong]) -> list[dict[str, Any]]:
    """Return a wrong move of each position, without turned and reflected ones, and in how many of these it is wrong."""
    mover, opponent, cells = np.array(wrong, np.uint64).view(np.int64).reshape(-1, 3).T
    images = np.stack(representatives(rules, mover, opponent))
    _, examples, counts = np.unique(images, axis=1, return_index=True, return_counts=True)
    return [
        {
            "board": board_text(rules, *wrong[example][:2]).replace("\n", ""),
            "move": int(cells[example]),
            "states": int(count),
        }
        for example, count in zip(examples, counts, strict=True)
    ]
