"""Who a person can play against: a trained player or a built-in opponent, and how it rates the squares."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from selfplay.agent import Player
from selfplay.errors import UserError
from selfplay.evaluation.agents import AgentPolicy
from selfplay.evaluation.exact import NAMES, solved_results
from selfplay.evaluation.report import finite_values, value_text
from selfplay.play.board import Hint
from selfplay.position import Position
from tictactoe import Rules
from tictactoe.opponents import MOVE_POSITIONS, OPPONENTS, best_known, check_optimal
from tictactoe.search import Bounds, move_bounds
from tictactoe.tree import SOLVABLE_CELLS

EXACT_HINTS = "how each square ends for you if both play best from there; * is best."
NOT_KNOWN = "?"
SEARCHED_HINTS = (
    "how each square ends for you if both play best from there, which takes a search;\n"
    f"{NOT_KNOWN} is not known within the time of a move; * is the best that is known."
)

LARGEST_BOARD = 64
"""Cells that fit a terminal, and a trained player's words."""


class Opponent(NamedTuple):
    """Hold who a person plays against."""

    name: str
    rules: Rules
    move: Callable[[Position], int]
    """Returns the empty cell that it marks."""
    hints: Callable[[Position], Mapping[int, Hint]] | None
    """Returns what each empty cell is worth to the seat to move; None if it rates nothing."""
    about_hints: str
    """What the hints are, or why there are none, to be read after "Hints:"."""


def trained(name: str, player: Player) -> Opponent:
    """Return a trained player; it is given the mask, since a person cannot be asked to break the rules."""

    def move(position: Position) -> int:
        return int(player.act(position.observation, position.mask)[0])

    def hints(position: Position) -> Mapping[int, Hint]:
        values = player.q_values(position.observation)[0]
        chosen = move(position)
        # What a lost game is worth differs between learners, so the colours go from the worst square to the best.
        shown = finite_values(values[list(position.empty)])
        shades = 2 * (shown - shown.min()) / (np.ptp(shown) or 1.0) - 1
        return {
            cell: Hint(value_text(values[cell]), float(shade), cell == chosen)
            for cell, shade in zip(position.empty, shades, strict=True)
        }

    about = f"what each square is worth to you as {name} sees it, the higher the better;\n* is where it would move."
    return Opponent(name, player.rules, move, hints, about)


def own(name: str, judge: AgentPolicy, seed: int | None) -> Opponent:
    """Return somebody's own agent, which plays without a mask and loses by a taken cell."""
    generator = np.random.default_rng(seed)

    def move(position: Position) -> int:
        mover, opponent = position.words
        if judge.stochastic:
            chances = judge.probabilities(mover, opponent)[0]
            return int(generator.choice(len(chances), p=chances))
        return int(judge.cells(mover, opponent)[0])

    return Opponent(name, judge.rules, move, None, f"none, for {name} rates no squares.")


def built_in(name: str, rules: Rules, seed: int | None) -> Opponent:
    """Return a built-in opponent, which picks among its choices at random.

    Raises:
        UserError: the board is too large.
    """
    if rules.cells > LARGEST_BOARD:
        raise UserError(f"a {rules.rows}x{rules.cols} board has {rules.cells} cells; at most {LARGEST_BOARD} are shown")
    if name == "optimal":
        check_optimal(rules)  # solves a board that can be solved now, not in the first game
    generator = np.random.default_rng(seed)

    def move(position: Position) -> int:
        choices = OPPONENTS[name](rules, position.mover, position.opponent)
        return int(generator.choice(rules.cells_of(int(choices))))

    if name == "optimal":
        if rules.cells > SOLVABLE_CELLS:
            return Opponent(name, rules, move, _searched_hints, SEARCHED_HINTS)
        return Opponent(name, rules, move, _exact_hints, EXACT_HINTS)
    return Opponent(name, rules, move, None, f"none, for {name} rates no squares.")


def _exact_hints(position: Position) -> Mapping[int, Hint]:
    return _hints(position, solved_results(position.rules, position.mover, position.opponent))


def _searched_hints(position: Position) -> Mapping[int, Hint]:
    return _hints(position, move_bounds(position.rules, position.mover, position.opponent, MOVE_POSITIONS))


def _hints(position: Position, results: Mapping[int, Bounds]) -> Mapping[int, Hint]:
    best = best_known(position.rules, position.mover, position.opponent, results)
    return {
        cell: Hint(NAMES[least] if least == most else NOT_KNOWN, (least + most) / 2, bool(best >> cell & 1))
        for cell, (least, most) in results.items()
    }
