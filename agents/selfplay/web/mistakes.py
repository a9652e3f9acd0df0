"""The mistakes of a player, and the games that it loses."""

import contextlib
import copy
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from selfplay.errors import UserError
from selfplay.evaluation.counterexamples import find_counterexamples
from selfplay.evaluation.evaluate import ALL_STATES_CELLS, suboptimal_moves, with_all_states
from selfplay.evaluation.exact import NAMES, best_bounds, known_value
from selfplay.evaluation.report import verdict_text
from selfplay.position import EMPTY, Position
from selfplay.web.analysis import ILLEGAL, RESULTS, exact_results, gives_away, learned_values
from tictactoe import Rules, planes, solve
from tictactoe.rendering.text import MARKS
from tictactoe.search import Bounds
from tictactoe.tree import SOLVABLE_CELLS, IntArray

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.evaluation.agents import AgentPolicy

FEW, POSITIONS, POSITIONS_OF_MANY_CELLS = 1_000, 200_000, 5_000
"""Upper bounds for the positions followed at each ply: first, then, and then on boards of over 16 cells."""
MOST_MISTAKES, MOST_GAMES = 200, 100
"""Upper bounds for the mistakes that are shown, and for the games of each seat."""
SEARCHED = 20_000
"""Upper bound for the positions that a search visits for one exact result on a large board."""


class OutOfTimeError(UserError):
    """Raised when an evaluation takes too long."""


def evaluate(policy: "AgentPolicy", player: "Player | None", seconds: float = inf) -> dict[str, Any]:
    """Return the mistakes of a player, and the games that it loses in its own play, ready for JSON.

    Mistakes are the decision states in which its move does not keep the value; on larger boards, the positions of its
    own play in which it is beaten. If time runs out, fewer positions are followed, and fewer mistakes and games listed.

    Raises:
        OutOfTimeError: not even the first positions can be followed in that time.
    """
    rules, start, asked = policy.rules, monotonic(), policy
    policy = _timed(asked, start + seconds)
    play = find_counterexamples(policy, FEW, np.random.default_rng(0), MOST_GAMES)
    if not play.verdict.complete:
        limit = POSITIONS if rules.cells <= SOLVABLE_CELLS else POSITIONS_OF_MANY_CELLS
        with contextlib.suppress(OutOfTimeError):
            half = _timed(asked, start + seconds / 2)
            play = find_counterexamples(half, limit, np.random.default_rng(0), MOST_GAMES)
    seats = play.verdict.first, play.verdict.second
    if rules.cells <= ALL_STATES_CELLS:
        kind, verdict = "optimal", with_all_states(policy, *seats)
        mover, opponent = _not_optimal(policy)
    else:
        kind, verdict = "beaten", play.verdict
        earliest = np.argsort(planes.bits(rules.cells, play.mover | play.opponent).sum(axis=1), kind="stable")
        mover, opponent = play.mover[earliest], play.opponent[earliest]

    number = len(mover)
    mover, opponent = mover[:MOST_MISTAKES], opponent[:MOST_MISTAKES]
    words = zip(
        *(side.view(np.uint64).tolist() for side in (mover, opponent, policy.moves(mover, opponent))), strict=True
    )
    in_time = takewhile(lambda _: monotonic() < start + 3 / 4 * seconds, words)
    found = [_mistake(player, rules, mine, theirs, moves) for mine, theirs, moves in in_time]
    mistakes = {
        "verdict": verdict_text(verdict),
        "kind": kind,
        "complete": verdict.complete,
        "number": number,
        "states": [state for _, state in sorted(found, key=lambda each: -each[0])],
    }
    all_games = ((seat, cells) for seat in (0, 1) for cells in play.games[seat])
    games_in_time = takewhile(lambda _: monotonic() < start + seconds, all_games)
    games = [_game_lost(player, rules, seat, cells) for seat, cells in games_in_time]
    lost = [seat.losses + seat.illegal if seat.complete else None for seat in seats]
    return {
        "mistakes": mistakes,
        "games_lost": {"number": lost, "complete": play.verdict.complete, "games": games},
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


def _not_optimal(policy: "AgentPolicy") -> tuple[IntArray, IntArray]:
    """Return the states [n] of a small board in which some move of a player does not keep the value, worst first."""
    solution, (states, moves) = solve(policy.rules), suboptimal_moves(policy)
    following = solution.tree.successors(states)
    after = np.where(following < 0, ILLEGAL, -solution.value[np.maximum(following, 0)])  # [n, A]
    played = planes.bits(policy.rules.cells, moves)
    given_away = solution.value[states] - np.where(played, after, max(NAMES)).min(axis=1)
    worst_first = states[np.argsort(-given_away, kind="stable")]
    return solution.tree.mover[worst_first].astype(np.int64), solution.tree.opponent[worst_first].astype(np.int64)


def _mistake(
    player: "Player | None", rules: Rules, mover: int, opponent: int, moves: int
) -> tuple[int, dict[str, Any]]:
    """Return how much a player's worst move gives away (0 if not known), and the position, ready for JSON."""
    first_to_move = mover.bit_count() == opponent.bit_count()
    position = Position(rules, (mover, opponent) if first_to_move else (opponent, mover))
    results = exact_results(rules, mover, opponent, SEARCHED)
    after = {cell: _value(results, cell) for cell in rules.cells_of(moves)}
    move = min(after, key=lambda cell: ((value := after[cell]) is None, value))
    before, worst = known_value(best_bounds(results)), after[move]
    state = {
        "board": _text(position),
        "move": move,
        "best": [cell for cell, bounds in results.items() if before is not None and bounds.least == before],
        "from": RESULTS[before],
        "to": RESULTS[worst],
        "learned": None if player is None else learned_values(player, position)[move],
    }
    return 0 if before is None or worst is None else before - worst, state


def _game_lost(player: "Player | None", rules: Rules, seat: int, cells: Sequence[int]) -> dict[str, Any]:
    """Return a lost game with the loser's learned value and the exact result of each of its moves, ready for JSON.

    `turning` is the first ply that gives something away; None if that is not known.
    """
    learned: list[float | None] = [None] * len(cells)
    results: list[str | None] = [None] * len(cells)
    given_away: dict[int | None, bool | None] = {}
    position = Position(rules)
    for ply, cell in enumerate(cells):
        if position.seat == seat:
            moves = exact_results(rules, position.mover, position.opponent, SEARCHED)
            learned[ply] = None if player is None else learned_values(player, position)[cell]
            results[ply] = RESULTS[_value(moves, cell)]
            given_away[ply] = gives_away(moves, cell)
        position = position.after(cell)
    first = next((ply for ply, away in given_away.items() if away is not False), None)
    game = {"seat": seat, "cells": list(cells), "illegal": len(cells) % 2 != seat, "learned": learned, "exact": results}
    return game | {"turning": first if given_away.get(first) else None}


def _value(moves: Mapping[int, Bounds], cell: int) -> int | None:
    """Return the value of a move to the mover, None if it is not known."""
    return known_value(moves[cell]) if cell in moves else ILLEGAL


def _text(position: Position) -> str:
    """Return a position as `read_board` reads it."""
    first, second = position.marks
    cells = range(position.rules.cells)
    return "".join(MARKS[0] if first >> cell & 1 else MARKS[1] if second >> cell & 1 else EMPTY for cell in cells)
