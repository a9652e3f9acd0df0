"""What beats a player: the states in which its move is wrong, and the game lines that it loses."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selfplay.evaluation.counterexamples import Counterexamples, find_counterexamples
from selfplay.evaluation.evaluate import ALL_STATES_CELLS, evaluate_policy
from selfplay.evaluation.exact import NAMES, best_bounds, known_results, known_value
from selfplay.evaluation.report import verdict_text
from selfplay.position import EMPTY, Position
from selfplay.web.insight import learned
from tictactoe import Rules, planes, solve
from tictactoe.rendering.text import MARKS
from tictactoe.rules import WORD_BITS
from tictactoe.search import Bounds
from tictactoe.tree import SOLVABLE_CELLS

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.evaluation.agents import AgentPolicy

POSITIONS, POSITIONS_OF_MANY_CELLS = 200_000, 5_000
"""Of each ply that are followed, the fewer on boards of more than 16 cells: some seconds, while a page waits."""
MOST_STATES, MOST_LINES = 200, 100
"""That are shown, the lines of each seat."""
SEARCHED = 20_000
"""Positions that a search looks at for each of them on a board that is too large to be solved: some milliseconds."""
ILLEGAL = -2
"""What a taken cell is worth beside -1, a loss."""
RESULTS = NAMES | {ILLEGAL: "illegal"}


class Findings(NamedTuple):
    """Hold what the page shows of a proof, ready for JSON."""

    wrong: dict[str, Any]
    lost: dict[str, Any]


def findings(judge: "AgentPolicy", player: "Player | None") -> Findings:
    """Follow a player's own play, and look at every decision state where the board is small enough."""
    positions = POSITIONS if judge.rules.cells <= SOLVABLE_CELLS else POSITIONS_OF_MANY_CELLS
    found = find_counterexamples(judge, positions, np.random.default_rng(0), MOST_LINES)
    if judge.rules.cells <= ALL_STATES_CELLS:
        wrong = {
            "verdict": verdict_text(evaluate_policy(judge)),
            "kind": "optimal",
            "complete": True,
            **_not_optimal(judge, player),
        }
    else:
        beaten = _beaten(judge, player, found)
        wrong = {"verdict": verdict_text(found.verdict), "kind": "beaten", "complete": found.verdict.complete, **beaten}
    return Findings(wrong, _lost(judge, player, found))


def _not_optimal(judge: "AgentPolicy", player: "Player | None") -> dict[str, Any]:
    """Return the decision states of a small board in which some move of a player's does not keep the value."""
    rules, solution = judge.rules, solve(judge.rules)
    tree, states = solution.tree, solution.tree.decisions
    moves = judge.moves(tree.mover[states].astype(np.int64), tree.opponent[states].astype(np.int64))
    following = tree.successors(states)
    after = np.where(following < 0, ILLEGAL, -solution.value[np.maximum(following, 0)])  # [n, A]
    after = np.where(planes.bits(rules.cells, moves), after, max(NAMES))
    loss = solution.value[states] - after.min(axis=1)
    wrong = np.flatnonzero(loss > 0)
    worst_first = wrong[np.argsort(-loss[wrong], kind="stable")]  # the states stand by their plies
    shown = []
    for at in worst_first[:MOST_STATES]:
        state, move = int(states[at]), int(after[at].argmin())
        position = _position(rules, int(tree.mover[state]), int(tree.opponent[state]))
        best = rules.cells_of(int(solution.optimal_moves[state]))
        shown.append(_state(player, position, move, best, int(solution.value[state]), int(after[at, move])))
    return {"number": len(wrong), "states": shown}


def _beaten(judge: "AgentPolicy", player: "Player | None", found: Counterexamples) -> dict[str, Any]:
    """Return the positions of a player's own play in which it is beaten; of many the earliest are shown."""
    rules = judge.rules
    marks = planes.bits(rules.cells, found.mover | found.opponent).sum(axis=1)
    earliest = np.argsort(marks, kind="stable")[:MOST_STATES]
    mover, opponent = found.mover[earliest], found.opponent[earliest]
    told = []
    for mine, theirs, moves in zip(mover, opponent, judge.moves(mover, opponent), strict=True):
        position = _position(rules, *_integers(mine, theirs))
        results = known_results(rules, position.mover, position.opponent, SEARCHED)
        after = {cell: _known(results[cell]) if cell in results else ILLEGAL for cell in rules.cells_of(int(moves))}
        move = min(after, key=lambda cell: ((value := after[cell]) is None, value))
        before = _known(best_bounds(results))
        best = tuple(cell for cell, bounds in results.items() if before is not None and bounds.least == before)
        told.append((_given_away(before, after[move]), _state(player, position, move, best, before, after[move])))
    told.sort(key=lambda each: -each[0])
    return {"number": len(found.mover), "states": [state for _, state in told]}


def _given_away(before: int | None, after: int | None) -> int:
    """Return how much less a position is worth after a move, 0 where that is not known."""
    return 0 if before is None or after is None else before - after


def _state(
    player: "Player | None", position: Position, move: int, best: Sequence[int], before: int | None, after: int | None
) -> dict[str, Any]:
    """Return a position in which a player is wrong, ready for JSON."""
    return {
        "board": _text(position),
        "move": move,
        "best": list(best),
        "from": None if before is None else RESULTS[before],
        "to": None if after is None else RESULTS[after],
        "learned": None if player is None else learned(player, position)[move],
    }


def _lost(judge: "AgentPolicy", player: "Player | None", found: Counterexamples) -> dict[str, Any]:
    """Return the shortest lines that beat a player in each seat, and how many there are."""
    seats = found.verdict.first, found.verdict.second

    @cache  # lines begin alike
    def known(position: Position) -> int | None:
        return known_value(judge.rules, position.mover, position.opponent, SEARCHED)

    @cache
    def values(position: Position) -> list[float | None]:
        return [None] * judge.rules.cells if player is None else learned(player, position)

    lines = [_told(judge.rules, seat, line, known, values) for seat in (0, 1) for line in found.games[seat]]
    number = [seat.losses + seat.illegal if seat.complete else None for seat in seats]
    return {"number": number, "complete": found.verdict.complete, "lines": lines}


def _told(
    rules: Rules,
    seat: int,
    cells: Sequence[int],
    known: Callable[[Position], int | None],
    values: Callable[[Position], list[float | None]],
) -> dict[str, Any]:
    """Return a lost line with what its loser saw and what was true after each of its moves, ready for JSON."""
    told: dict[str, Any] = {"seat": seat, "cells": list(cells), "illegal": len(cells) % 2 != seat}
    told |= {"turning": None, "learned": [None] * len(cells), "exact": [None] * len(cells)}
    position = Position(rules)
    open_ = True
    for ply, cell in enumerate(cells):
        if position.seat == seat:
            told["learned"][ply] = values(position)[cell]
            before, after = known(position), _after(position, cell, known)
            told["exact"][ply] = None if after is None else RESULTS[after]
            unknown = before is None or after is None
            if open_ and (unknown or _given_away(before, after) > 0):
                told["turning"], open_ = None if unknown else ply, False
        position = position.after(cell)
    return told


def _after(position: Position, cell: int, known: Callable[[Position], int | None]) -> int | None:
    """Return what a move makes of a position for the seat that moves."""
    if cell not in position.empty:
        return ILLEGAL
    value = known(position.after(cell))
    return None if value is None else -value


def _position(rules: Rules, mover: int, opponent: int) -> Position:
    """Return a position by the marks of the seat to move and of the other."""
    second = opponent.bit_count() > mover.bit_count()
    return Position(rules, (opponent, mover) if second else (mover, opponent))


def _integers(*words: np.int64) -> tuple[int, ...]:
    """Return bitboards of an array as Python has them: on 64 cells the last one is the sign of a word."""
    return tuple(int(word) & (1 << WORD_BITS) - 1 for word in words)


def _text(position: Position) -> str:
    """Return a position as `read_board` reads it."""
    first, second = position.marks
    cells = range(position.rules.cells)
    return "".join(MARKS[0] if first >> cell & 1 else MARKS[1] if second >> cell & 1 else EMPTY for cell in cells)


def _known(bounds: Bounds) -> int | None:
    return bounds.least if bounds.least == bounds.most else None
