"""The mistakes of a player, and the games that it loses."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selfplay.evaluation.counterexamples import find_counterexamples
from selfplay.evaluation.evaluate import ALL_STATES_CELLS, evaluate_policy
from selfplay.evaluation.exact import NAMES, best_bounds, exact_moves, known_value
from selfplay.evaluation.report import verdict_text
from selfplay.position import EMPTY, Position
from selfplay.web.analysis import learned_values
from tictactoe import Rules, planes, solve
from tictactoe.rendering.text import MARKS
from tictactoe.rules import WORD_BITS
from tictactoe.search import Bounds
from tictactoe.tree import SOLVABLE_CELLS, IntArray

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.evaluation.agents import AgentPolicy

POSITIONS, POSITIONS_OF_MANY_CELLS = 200_000, 5_000
"""Most positions of each ply that are followed, the second on boards of more than 16 cells: some seconds in all."""
MOST_MISTAKES, MOST_GAMES = 200, 100
"""Most mistakes that are shown, and most games of each seat."""
SEARCHED = 20_000
"""Most positions that a search visits for one exact result on a board that is too large to be solved."""
ILLEGAL = -2
"""Value of a taken cell, below -1, a loss."""
RESULTS = NAMES | {ILLEGAL: "illegal", None: None}


class Evaluation(NamedTuple):
    """Hold what the page shows of a player's evaluation, ready for JSON."""

    mistakes: dict[str, Any]
    games_lost: dict[str, Any]


def evaluate(policy: "AgentPolicy", player: "Player | None") -> Evaluation:
    """Follow a player's own play for the games that it loses, and list its mistakes.

    Mistakes are the decision states in which its move does not keep the value, on a board that is too large to look at
    all of them the positions of its own play in which it is beaten.
    """
    rules, generator = policy.rules, np.random.default_rng(0)
    limit = POSITIONS if rules.cells <= SOLVABLE_CELLS else POSITIONS_OF_MANY_CELLS
    play = find_counterexamples(policy, limit, generator, MOST_GAMES)
    if rules.cells <= ALL_STATES_CELLS:
        kind, verdict = "optimal", evaluate_policy(policy)
        mover, opponent = _not_optimal(policy)
    else:
        kind, verdict = "beaten", play.verdict
        marks = planes.bits(rules.cells, play.mover | play.opponent).sum(axis=1)
        earliest = np.argsort(marks, kind="stable")
        mover, opponent = play.mover[earliest], play.opponent[earliest]
    shown = slice(MOST_MISTAKES)
    words = zip(mover[shown], opponent[shown], policy.moves(mover[shown], opponent[shown]), strict=True)
    found = [_mistake(player, _position(rules, mine, theirs), int(moves)) for mine, theirs, moves in words]
    mistakes = {
        "verdict": verdict_text(verdict),
        "kind": kind,
        "complete": verdict.complete,
        "number": len(mover),
        "states": [state for _, state in sorted(found, key=lambda each: -each[0])],
    }

    @cache  # games start alike
    def moves(position: Position) -> Mapping[int, Bounds]:
        return exact_moves(rules, position.mover, position.opponent, SEARCHED)

    games = [_game_lost(player, rules, seat, cells, moves) for seat in (0, 1) for cells in play.games[seat]]
    seats = play.verdict.first, play.verdict.second
    number = [seat.losses + seat.illegal if seat.complete else None for seat in seats]
    return Evaluation(mistakes, {"number": number, "complete": play.verdict.complete, "games": games})


def _not_optimal(policy: "AgentPolicy") -> tuple[IntArray, IntArray]:
    """Return the states [n] of a small board in which some move of a player's does not keep the value, worst first."""
    solution = solve(policy.rules)
    tree, states = solution.tree, solution.tree.decisions
    mover, opponent = tree.mover[states].astype(np.int64), tree.opponent[states].astype(np.int64)
    following = tree.successors(states)
    after = np.where(following < 0, ILLEGAL, -solution.value[np.maximum(following, 0)])  # [n, A]
    played = planes.bits(policy.rules.cells, policy.moves(mover, opponent))
    given_away = solution.value[states] - np.where(played, after, max(NAMES)).min(axis=1)
    worst_first = np.argsort(-given_away, kind="stable")[: np.count_nonzero(given_away > 0)]
    return mover[worst_first], opponent[worst_first]


def _mistake(player: "Player | None", position: Position, moves: int) -> tuple[int, dict[str, Any]]:
    """Return how much a player's worst move gives away, 0 where that is not known; and the position, ready for JSON."""
    rules = position.rules
    results = exact_moves(rules, position.mover, position.opponent, SEARCHED)
    after = {cell: known_value(results[cell]) if cell in results else ILLEGAL for cell in rules.cells_of(moves)}
    move = min(after, key=lambda cell: ((value := after[cell]) is None, value))
    before = known_value(best_bounds(results))
    state = {
        "board": _text(position),
        "move": move,
        "best": [cell for cell, bounds in results.items() if before is not None and bounds.least == before],
        "from": RESULTS[before],
        "to": RESULTS[after[move]],
        "learned": None if player is None else learned_values(player, position)[move],
    }
    return _given_away(before, after[move]), state


def _game_lost(
    player: "Player | None",
    rules: Rules,
    seat: int,
    cells: Sequence[int],
    moves: Callable[[Position], Mapping[int, Bounds]],
) -> dict[str, Any]:
    """Return a lost game with what its loser saw and what was true after each of its moves, ready for JSON.

    `turning` is the first ply that gives something away; None if that is not known.
    """
    game: dict[str, Any] = {"seat": seat, "cells": list(cells), "illegal": len(cells) % 2 != seat}
    game |= {"turning": None, "learned": [None] * len(cells), "exact": [None] * len(cells)}
    position, turned = Position(rules), False
    for ply, cell in enumerate(cells):
        if position.seat == seat:
            if player is not None:
                game["learned"][ply] = learned_values(player, position)[cell]
            results = moves(position)
            before = known_value(best_bounds(results))
            worth = known_value(results[cell]) if cell in results else ILLEGAL
            game["exact"][ply] = RESULTS[worth]
            unknown = before is None or worth is None
            if not turned and (unknown or _given_away(before, worth) > 0):
                game["turning"], turned = None if unknown else ply, True
        position = position.after(cell)
    return game


def _given_away(before: int | None, after: int | None) -> int:
    """Return how much less a position is worth after a move, 0 where that is not known."""
    return 0 if before is None or after is None else before - after


def _position(rules: Rules, mover: np.int64, opponent: np.int64) -> Position:
    """Return a position by the bitboards of the seat to move and of the other."""
    own, other = (int(word) & (1 << WORD_BITS) - 1 for word in (mover, opponent))  # the 64th cell is the sign
    return Position(rules, (other, own) if other.bit_count() > own.bit_count() else (own, other))


def _text(position: Position) -> str:
    """Return a position as `read_board` reads it."""
    first, second = position.marks
    cells = range(position.rules.cells)
    return "".join(MARKS[0] if first >> cell & 1 else MARKS[1] if second >> cell & 1 else EMPTY for cell in cells)
