"""What the page shows of a player in one position: what it thinks, what is true, and whether the two fall apart."""

import threading
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from selfplay.evaluation.evaluate import ALL_STATES_CELLS
from selfplay.evaluation.exact import NAMES, best_bounds, known_results
from selfplay.position import Position
from tictactoe.opponents import best_known
from tictactoe.rendering.text import MARKS, line_cells
from tictactoe.rules import Bitboard, Rules
from tictactoe.search import Bounds, move_bounds

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.evaluation.agents import AgentPolicy

POSITIONS = 200_000
"""Positions that a search looks at for what is true of one position: a fifth of a second at most."""
REMEMBERED = 4_096
"""Positions whose exact results are kept, because the page asks for them again for each player it compares."""


def look(
    judge: "AgentPolicy", player: "Player | None", position: Position, generator: np.random.Generator
) -> dict[str, Any]:
    """Return what there is to be shown of a player in a position, ready for JSON; `generator` draws its reply."""
    rules, winner = position.rules, position.winner
    line = line_cells(rules, position.marks[winner]) if winner is not None else 0
    shown: dict[str, Any] = {
        "seat": position.seat,
        "result": (None if not position.over else "draw" if winner is None else MARKS[winner]),
        "line": list(rules.cells_of(line)),
        "values": None,
        "move": None,
        "moves": [],
        "reply": None,
        "exact": [None] * rules.cells,
        "known": "solved" if rules.cells <= ALL_STATES_CELLS else "searched",
        "position": None,
        "gives_away": None,
    }
    if player is not None:
        shown["values"] = learned(player, position)
    if position.over:
        return shown
    results = exact_results(rules, position.mover, position.opponent)
    best = best_bounds(results)
    for cell, bounds in results.items():
        shown["exact"][cell] = _name(bounds)
    shown |= _moves(judge, player, position, generator) | {"position": _name(best)}
    if shown["move"] is not None:
        shown["gives_away"] = gives_away(results, shown["move"])
    return shown


def _moves(
    judge: "AgentPolicy", player: "Player | None", position: Position, generator: np.random.Generator
) -> dict[str, Any]:
    """Return what a player plays: by itself, and against a person, whom it cannot ask to break the rules."""
    empty = position.empty
    if judge.stochastic:
        moves = tuple(np.flatnonzero(judge.probabilities(*position.words)[0] > 0).tolist())
    else:
        moves = (int(judge.cells(*position.words)[0]),)
    legal = [cell for cell in moves if cell in empty]
    if player is not None:
        reply = int(player.act(position.observation, position.mask)[0])
    else:
        reply = int(generator.choice(legal or empty))
    return {"move": None if judge.stochastic else moves[0], "moves": list(moves), "reply": reply}


def learned(player: "Player", position: Position) -> list[float | None]:
    """Return what a player has learned of each cell, None where that is no number."""
    values = np.asarray(player.q_values(position.observation))[0]
    return [float(value) if isfinite(value) else None for value in values]


@lru_cache(maxsize=REMEMBERED)
def exact_results(rules: Rules, mover: int, opponent: int) -> Mapping[int, Bounds]:
    """Return what is known of each empty cell within the time of an answer."""
    return known_results(rules, mover, opponent, POSITIONS)


@lru_cache(maxsize=1)
def prepare(rules: Rules) -> None:
    """Have the search compiled beside everything else, for which no answer should have to wait."""
    if rules.cells > ALL_STATES_CELLS:
        threading.Thread(target=move_bounds, args=(rules, 0, 0, 1), daemon=True).start()


def searched_choices(rules: Rules, mover: Bitboard, opponent: Bitboard) -> Bitboard:
    """Return what the built-in "optimal" marks in positions [B], as far as that is known within the time of an answer.

    Its own choices would solve a board of up to 16 cells, which takes seconds, and search a larger one as long.
    """
    marks = zip(*(side.astype(np.int64).view(np.uint64).tolist() for side in (mover, opponent)), strict=True)
    best = [best_known(rules, one, other, exact_results(rules, one, other)) for one, other in marks]
    return np.array(best, np.uint64).view(np.int64)


def gives_away(results: Mapping[int, Bounds], cell: int) -> bool | None:
    """Tell whether a move is illegal or makes less of the position than it is worth; None if that is not known."""
    if cell not in results:
        return True
    best, move = best_bounds(results), results[cell]
    if move.most < best.least:
        return True
    return False if move.least >= best.most else None


def _name(bounds: Bounds) -> str | None:
    return NAMES[bounds.least] if bounds.least == bounds.most else None
