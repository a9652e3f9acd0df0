"""What the page shows about a player in one position: its values, the exact results, and whether its move is right."""

from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from selfplay.judge.ask import AgentPolicy
from selfplay.judge.move_values import after_moves, best_bounds, exact_moves, known_value
from selfplay.position import Position
from selfplay.protocols import Player
from selfplay.text import NAMES
from tictactoe.opponents import best_known
from tictactoe.rules import Bitboard, Rules
from tictactoe.search import Bounds

POSITIONS = 200_000
"""Largest number of positions that a search visits for one position: a fifth of a second at most."""
REMEMBERED = 4_096
"""Positions whose exact results are cached, because the page asks for them again for each player it compares."""

exact_results = lru_cache(REMEMBERED)(exact_moves)


def analyse(
    policy: AgentPolicy, player: Player | None, position: Position, generator: np.random.Generator
) -> dict[str, Any]:
    """Return what the page shows about a player in a position, ready for JSON; `generator` samples its reply."""
    rules = position.rules
    results = exact_results(rules, position.mover, position.opponent, POSITIONS)  # empty if the game is over
    known = {cell: result_name(bounds) for cell, bounds in results.items()}
    shown: dict[str, Any] = {
        "values": None,
        "move": None,
        "moves": [],
        "reply": None,
        "exact": [known.get(cell) for cell in range(rules.cells)],
        "plies": None,
        "replies": None,
        "position": None,
        "gives_away": None,
    }
    if position.over:
        return shown
    after = after_moves(rules, position.mover, position.opponent)
    if after:
        shown["plies"] = [after[cell].plies if cell in after else None for cell in range(rules.cells)]
        shown["replies"] = [after[cell].best_replies if cell in after else None for cell in range(rules.cells)]
    moves = list(rules.cells_of(int(policy.moves(*position.words)[0])))
    shown |= {"moves": moves, "position": result_name(best_bounds(results))}
    if not policy.samples:
        shown |= {"move": moves[0], "gives_away": gives_away(results, moves[0])}
    if player is not None:
        shown["values"] = learned_values(player, position)
        reply = player.act(position.observation, position.mask)[0]  # against a person it always plays a legal move
    else:
        legal = [cell for cell in moves if cell in position.empty]
        reply = generator.choice(legal or position.empty)
    return shown | {"reply": int(reply)}


def result_name(bounds: Bounds) -> str | None:
    """Return "win", "draw" or "loss", None if the result is not known exactly."""
    value = known_value(bounds)
    return None if value is None else NAMES[value]


def learned_values(player: Player, position: Position) -> list[float | None]:
    """Return the learned value of each cell to the mover, None if it is not a finite number."""
    values = np.asarray(player.q_values(position.observation))[0]
    return [float(value) if isfinite(value) else None for value in values]


def searched_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return the moves of the built-in "optimal" in positions [B], as far as a short search knows them.

    The built-in's own search takes seconds, which is too long for a response.
    """
    marks = zip(*(side.astype(np.int64).view(np.uint64).tolist() for side in (mover, opponent)), strict=True)
    best = [best_known(rules, one, other, exact_results(rules, one, other, POSITIONS)) for one, other in marks]
    return np.array(best, np.uint64).view(np.int64)


def gives_away(results: Mapping[int, Bounds], cell: int) -> bool | None:
    """Return whether a move is illegal or does not keep the value of the position; None if that is not known."""
    if cell not in results:
        return True
    best, move = best_bounds(results), results[cell]
    if move.most < best.least:
        return True
    if move.least >= best.most:
        return False
    return None
