"""The mistakes of a player, grouped by the losing move up to symmetry, and the games that it loses."""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from selfplay.errors import UserError
from selfplay.judge.ask import AgentPolicy
from selfplay.judge.counterexamples import Counterexamples, Game, counterexamples_of, find_counterexamples
from selfplay.judge.evaluate import evaluate_policy
from selfplay.judge.mistakes import board_text, find_mistakes
from selfplay.judge.move_values import ALL_STATES_CELLS
from selfplay.judge.verdict import Verdict
from selfplay.position import Position
from selfplay.text import verdict_text
from tictactoe.rules import Rules
from tictactoe.symmetry import representatives
from tictactoe.tree import SOLVABLE_CELLS, IntArray

FEW_POSITIONS, MANY_POSITIONS, MANY_POSITIONS_OF_LARGE_BOARDS = 1_000, 200_000, 5_000
"""Largest numbers of positions followed at each ply of a board of over 12 cells: first, then, and then on boards of
over 16 cells."""
MOST_GAMES, MOST_GAMES_OF_LARGE_BOARDS = 1_000, 100
"""Largest numbers of lost games shown of each seat; a player of 3,3,3 that samples no moves has 945 games at most."""
MOST_GROUPS = 300
"""Largest number of groups of mistakes."""


class WrongMove(NamedTuple):
    """A move of a player that does not keep the value of the position, or after which some replies beat it."""

    mover: int
    """Its marks before the move, as bitboards."""
    opponent: int
    cell: int
    game: Game | None = None
    """The lost game in which it was made, if any."""
    ply: int | None = None
    """The move's place in it."""


class OutOfTimeError(UserError):
    """An evaluation has taken too long."""


def timed(policy: AgentPolicy, seconds: float) -> AgentPolicy:
    """Return a policy that can be asked for some seconds from now on; then it raises an OutOfTimeError."""
    end = monotonic() + seconds

    def answers(mover: IntArray, opponent: IntArray, together: int) -> Any:
        if monotonic() > end:
            raise OutOfTimeError("following its games takes too long here; selfplay prove has no time limit")
        return policy.answers(mover, opponent, together)

    return replace(policy, answers=answers)


def evaluation(policy: AgentPolicy, seconds: float = inf) -> dict[str, Any]:
    """Return the verdict on a player, its mistakes, and the games that it loses in its own play, ready for JSON.

    Mistakes are the decision states in which its move does not keep the value; on boards of over 12 cells, the
    positions of its own play in which it is beaten. There fewer positions are followed if time runs out.

    Raises:
        OutOfTimeError: not even the first positions can be followed in that time.
    """
    if policy.rules.cells <= ALL_STATES_CELLS:
        return _of_small_board(timed(policy, seconds))
    return _of_large_board(policy, seconds)


def _of_small_board(policy: AgentPolicy) -> dict[str, Any]:
    """Return the evaluation on a board whose states can all be looked at."""
    found = evaluate_policy(replace(policy, symmetric=False))  # every position is wanted, not one image of each
    mistakes = find_mistakes(found)
    wrong = [WrongMove(mistake.mover, mistake.opponent, mistake.cell) for mistake in mistakes]
    reached = sum(mistake.reached for mistake in mistakes)
    games = counterexamples_of(found, MOST_GAMES).games
    return _shown(policy.rules, found.verdict, wrong, games) | {"kind": "optimal", "reached": reached}


def _of_large_board(policy: AgentPolicy, seconds: float) -> dict[str, Any]:
    """Return the evaluation on a board too large to look at every state; each of two searches has half of the time."""
    play = _counterexamples(timed(policy, seconds / 2), FEW_POSITIONS)
    if not play.verdict.complete:
        many = MANY_POSITIONS if policy.rules.cells <= SOLVABLE_CELLS else MANY_POSITIONS_OF_LARGE_BOARDS
        with contextlib.suppress(OutOfTimeError):
            play = _counterexamples(timed(policy, seconds / 2), many)
    wrong = _wrong_moves(play.mover, play.opponent, policy.moves(play.mover, play.opponent))
    return _shown(policy.rules, play.verdict, wrong, play.games) | {"kind": "beaten", "reached": None}


def _counterexamples(policy: AgentPolicy, positions: int) -> Counterexamples:
    return find_counterexamples(policy, positions, np.random.default_rng(0), MOST_GAMES_OF_LARGE_BOARDS)


def _shown(
    rules: Rules, verdict: Verdict, wrong: Sequence[WrongMove], games: tuple[Sequence[Game], Sequence[Game]]
) -> dict[str, Any]:
    """Return what is shown on any board."""
    proved = None
    if verdict.unbeatable:
        proved = "unbeatable"
    elif verdict.unexploitable:
        proved = "unexploitable"
    groups = _groups(rules, wrong, games)
    return {
        "verdict": verdict_text(verdict),
        "proved": proved,
        "complete": verdict.complete,
        "ways": [seat.ways_to_beat for seat in (verdict.first, verdict.second)],
        "number": len(wrong),
        "different": len(groups),
        "groups": groups[:MOST_GROUPS],
        "games": [*games[0], *games[1]],
    }


def _wrong_moves(mover: IntArray, opponent: IntArray, moves: IntArray) -> list[WrongMove]:
    """Return the first of some moves, bitboards [n], in each position."""
    words = [side.astype(np.int64).view(np.uint64).tolist() for side in (mover, opponent, moves)]
    return [
        WrongMove(mine, theirs, (chosen & -chosen).bit_length() - 1)
        for mine, theirs, chosen in zip(*words, strict=True)
    ]


def _groups(
    rules: Rules, wrong: Sequence[WrongMove], games: tuple[Sequence[Game], Sequence[Game]]
) -> list[dict[str, Any]]:
    """Return the mistakes up to symmetry, ready for JSON: those that lose most games first, then the worst."""
    positions = {(move.mover, move.opponent) for move in wrong}
    in_games = []
    for seat in (0, 1):
        for cells in games[seat]:
            move = _losing_move(rules, seat, cells, positions)
            if move is not None:
                in_games.append(move)
    moves = [*in_games, *wrong]
    images = _images(rules, moves)
    lost, states = Counter(images[: len(in_games)]), Counter(images[len(in_games) :])
    groups: dict[tuple[int, ...], dict[str, Any]] = {}
    for image, move in zip(images, moves, strict=True):
        if image not in groups:
            groups[image] = {
                "board": board_text(rules, move.mover, move.opponent).replace("\n", ""),
                "move": move.cell,
                "states": states[image],
                "games": lost[image],
                "game": move.game,
                "ply": move.ply,
            }
    return sorted(groups.values(), key=lambda group: -group["games"])


def _images(rules: Rules, moves: Sequence[WrongMove]) -> list[tuple[int, ...]]:
    """Return for each move what it has in common with all that are turned or reflected images of it."""
    words = np.array([(move.mover, move.opponent, move.mover | 1 << move.cell) for move in moves], np.uint64)
    mover, opponent, after = words.view(np.int64).reshape(-1, 3).T
    images = [*representatives(rules, mover, opponent), *representatives(rules, after, opponent)]
    return list(zip(*(image.tolist() for image in images), strict=True))


def _losing_move(rules: Rules, seat: int, cells: Game, wrong: set[tuple[int, int]]) -> WrongMove | None:
    """Return the last move of a seat in a game that it made in one of some positions."""
    position, last = Position(rules), None
    for ply, cell in enumerate(cells):
        if position.seat == seat and (position.mover, position.opponent) in wrong:
            last = WrongMove(position.mover, position.opponent, cell, cells, ply)
        position = position.after(cell)
    return last
