"""Hand-made players of a board of any size, and a plain walk through every game line of one."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.tictactoe.rule_book import RuleBook
from tictactoe import Rules, solve


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


def walk(
    book: RuleBook, choose: Callable[[set[int], set[int]], int], seat: int
) -> tuple[Counter[str], dict[str, Fraction], int]:
    """Follow every reply to a player in one seat: count lines, weigh chances, find the worst result."""
    lines: Counter[str] = Counter()
    chances: dict[str, Fraction] = dict.fromkeys(("win", "draw", "loss", "illegal"), Fraction(0))

    def end(name: str, chance: Fraction) -> int:
        lines[name] += 1
        chances[name] += chance
        return {"win": 1, "draw": 0}.get(name, -1)

    def follow(marks: tuple[set[int], set[int]], ply: int, chance: Fraction) -> int:
        mover = ply % 2
        mine, theirs = marks[mover], marks[1 - mover]
        if any(theirs.issuperset(line) for line in book.lines):
            return end("win" if 1 - mover == seat else "loss", chance)
        empty = [cell for cell in range(book.cells) if cell not in mine | theirs]
        if not empty:
            return end("draw", chance)
        if mover == seat:
            cell = choose(mine, theirs)
            if cell not in empty:
                return end("illegal", chance)
            moves, share = [cell], chance
        else:
            moves, share = empty, chance / len(empty)
        results = []
        for cell in moves:
            after = (marks[0] | {cell}, marks[1]) if mover == 0 else (marks[0], marks[1] | {cell})
            results.append(follow(after, ply + 1, share))
        return min(results)

    worst = follow((set(), set()), 0, Fraction(1))
    return lines, chances, worst
