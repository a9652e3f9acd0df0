"""Hand-made players of a board of any size, and a plain walk through every game line of one."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from selfplay.evaluation.agents import AgentPolicy, BuiltInAgent
from selfplay.evaluation.verdict import SeatVerdict
from tests.tictactoe.rule_book import RuleBook
from tictactoe import Rules, solve
from tictactoe.opponents import Choices

Marks = tuple[frozenset[int], frozenset[int]]
Draw = Callable[[Rules, Marks, int], dict[int, Fraction]]
"""Returns the probability of each cell that is drawn, by the marks of both seats and the seat to move."""


class ScriptedPlayer:
    """Choose by a function of the marks, (mine, theirs) as sets of cells."""

    def __init__(self, choose: Callable[[set[int], set[int]], int]) -> None:
        self.choose = choose

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        assert action_mask is None
        moves = []
        for board in np.asarray(observation).reshape(len(observation), -1, 3):
            mine, theirs = (set(np.flatnonzero(board[:, plane]).tolist()) for plane in (1, 2))
            if len(mine) > len(theirs):
                mine, theirs = theirs, mine
            moves.append(self.choose(mine, theirs))
        return np.array(moves)


def optimal_player(rules: Rules) -> ScriptedPlayer:
    solution = solve(rules)

    def choose(mine: set[int], theirs: set[int]) -> int:
        return solution.lookup(sum(1 << cell for cell in mine), sum(1 << cell for cell in theirs))[1][0]

    return ScriptedPlayer(choose)


def first_empty(mine: set[int], theirs: set[int]) -> int:
    return min(set(range(36)) - mine - theirs)


def stubborn(mine: set[int], theirs: set[int]) -> int:
    """Play cell 4, then cell 0 for ever, taken or not."""
    return 0 if 4 in mine | theirs else 4


def empty(rules: Rules, marks: Marks) -> list[int]:
    return [cell for cell in range(rules.cells) if cell not in marks[0] | marks[1]]


def certain(choose: Callable[[set[int], set[int]], int]) -> Draw:
    """Return what draws the cell that a scripted player plays."""
    return lambda _rules, marks, seat: {choose({*marks[seat]}, {*marks[1 - seat]}): Fraction(1)}


def walked(rules: Rules, draw: Draw, seat: int) -> tuple[SeatVerdict, float]:
    """Follow every reply to a player in one seat, line by line; add the chance that it plays a taken cell."""
    lines = {"lost": 0, "illegal": 0}
    chances = dict.fromkeys(("win", "draw", "loss", "illegal"), Fraction(0))
    book = RuleBook(rules.rows, rules.cols, rules.k)

    def end(name: str, chance: Fraction, value: int, line: str | None = None) -> Fraction:
        chances[name] += chance
        if line:
            lines[line] += 1
        return Fraction(value)

    def follow(marks: Marks, chance: Fraction) -> Fraction:
        ply = len(marks[0] | marks[1])
        mover = ply % 2
        if any(marks[1 - mover].issuperset(line) for line in book.lines):
            return end("loss", chance, -1, "lost") if mover == seat else end("win", chance, 1)
        if ply == rules.cells:
            return end("draw", chance, 0)

        def after(cell: int, chance: Fraction) -> Fraction:
            added = marks[mover] | {cell}
            return follow((added, marks[1]) if mover == 0 else (marks[0], added), chance)

        if mover != seat:
            cells = empty(rules, marks)
            return min([after(cell, chance / len(cells)) for cell in cells])
        value = Fraction(0)
        for cell, share in draw(rules, marks, seat).items():
            if cell in marks[0] | marks[1]:
                chances["illegal"] += chance * share
                value += share * end("loss", chance * share, -1, "illegal")
            else:
                value += share * after(cell, chance * share)
        return value

    worst = follow((frozenset(), frozenset()), Fraction(1))
    win, drawn, loss, illegal = map(float, chances.values())
    return SeatVerdict(lines["lost"], lines["illegal"], win, drawn, loss, float(worst)), illegal


def assert_close(found: SeatVerdict, expected: SeatVerdict) -> None:
    assert (found.losses, found.illegal) == (expected.losses, expected.illegal)
    for name in ("win", "draw", "loss", "best_response"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12), name


def random_table(rules: Rules, seed: int, careless: float) -> ScriptedPlayer:
    """Return a player with one sampled cell for each position, which in a part of them may be taken."""
    rng = np.random.default_rng(seed)
    table: dict[tuple[frozenset[int], frozenset[int]], int] = {}

    def choose(mine: set[int], theirs: set[int]) -> int:
        key = frozenset(mine), frozenset(theirs)
        cells = sorted({*range(rules.cells)} - (set() if rng.random() < careless else mine | theirs))
        return table.setdefault(key, int(rng.choice(cells)))

    return ScriptedPlayer(choose)


class FirstTwo:
    """Sample one of the first two empty cells."""

    def probabilities(self, observation: Any, action_mask: Any = None) -> Any:  # noqa: ARG002 (an agent's signature)
        empty = np.asarray(observation)[..., 0].reshape(len(observation), -1) == 1
        first_two = empty & (empty.cumsum(axis=1) <= 2)
        return first_two / first_two.sum(axis=1, keepdims=True)


class FirstChoice:
    """Play the first of a built-in opponent's choices."""

    def __init__(self, choices: Choices, rules: Rules) -> None:
        self._agent = BuiltInAgent(choices, rules)

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        assert action_mask is None
        return self._agent.probabilities(observation).argmax(axis=1)


def first_choice(choices: Choices, rules: Rules, symmetric: bool = False, legal: bool = False) -> AgentPolicy:
    return AgentPolicy(FirstChoice(choices, rules), rules, "mover", twice=False, symmetric=symmetric, legal=legal)
