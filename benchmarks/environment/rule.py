"""Prove on which boards the built-in opponent "rule" cannot be beaten, whichever of its equal cells it takes.

The rows of docs/results.md:

    python -m benchmarks.environment.rule --docs docs

In each seat every choice of the rule and every legal reply are followed, ply by ply, as `selfplay prove rule` does. To
finish on 5,5,5 this script answers less, namely whether the rule can lose at all. So it leaves a position once the
opponent has no open line left, and merges positions that differ for neither the rule nor the question: images of each
other, and those that differ only on cells whose lines all hold marks of both seats.

Its games against the other built-in opponents are sampled.
"""

import time
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import tyro
from numpy.typing import NDArray

from benchmarks import harness
from benchmarks.data import Result, Seats
from benchmarks.environment.search import rules_of
from selfplay.cli.arena_matches import sample
from selfplay.judging.agents import AgentPolicy, ChoicesPolicy
from selfplay.judging.forward_search import sort_keys
from tictactoe import Rules, planes
from tictactoe.opponents import OPPONENTS, Choices
from tictactoe.symmetry import representatives

PARENTS = 1 << 15
"""Positions that are worked on at once."""
Words: TypeAlias = NDArray[np.int64]


def can_lose(rules: Rules, choices: Choices, seat: int) -> tuple[bool, int]:
    """Return whether some choices and replies beat an opponent in a seat, and how many positions were met until then.

    Its choices must turn with the board, and hang on nothing but the lines without marks of both seats and on how many
    cells are empty.
    """
    mine = theirs = np.zeros(1, np.int64)
    met = 0
    for ply in range(rules.cells):
        if not len(mine):
            break
        parts: list[tuple[Words, Words]] = []
        for start in range(0, len(mine), PARENTS):
            here = mine[start : start + PARENTS], theirs[start : start + PARENTS]
            if ply % 2 == seat:
                moved = _marked(rules, here[0], here[1], choices(rules, *here))
                going_on = ~rules.has_line(moved[0]) & (_open_cells(rules, moved[1], moved[0]) != 0)
                parts.append((moved[0][going_on], moved[1][going_on]))
            else:
                empty = rules.empty_cells(*here)
                if (rules.winning_cells(here[1]) & empty).any():
                    return True, met
                parts.append(_marked(rules, here[1], here[0], empty)[::-1])
            parts[-1] = _distinct(rules, *parts[-1])
        mine, theirs = _distinct(rules, *(np.concatenate(side) for side in zip(*parts, strict=True)))
        met += len(mine)
    return False, met


def _marked(rules: Rules, mover: Words, opponent: Words, choices: Words) -> tuple[Words, Words]:
    """Return the positions after each of the mover's choices, from the same view."""
    position, cell = np.nonzero(planes.bits(rules.cells, choices))
    return mover[position] | np.int64(1) << cell, opponent[position]


def _open_cells(rules: Rules, marks: Words, others: Words) -> Words:
    """Return the cells of the lines that hold none of the others' marks, [n]."""
    found = np.zeros_like(marks)
    for line in rules.lines:
        found |= np.where(others & line == 0, np.int64(line), 0)
    return found


def _distinct(rules: Rules, mine: Words, theirs: Words) -> tuple[Words, Words]:
    """Return one of the positions that are taken for one."""
    dead = rules.full_word & ~(_open_cells(rules, mine, theirs) | _open_cells(rules, theirs, mine))
    first = np.unique(sort_keys(rules, mine | dead, theirs | dead), return_index=True)[1]
    mine, theirs, dead = mine[first], theirs[first], dead[first]
    images = representatives(rules, mine | dead, theirs | dead)
    first = np.unique(sort_keys(rules, *images), return_index=True)[1]
    return mine[first], theirs[first]


def sampled_games(policy: AgentPolicy, rules: Rules, games: int, seed: int) -> Result:
    """Return the shares of games that a policy wins, draws and loses in each seat against built-in opponents."""
    result = {}
    for name in ("random", "heuristic"):
        opponent = ChoicesPolicy(OPPONENTS[name], rules)
        first = sample(rules, policy, opponent, games, np.random.default_rng([seed, 0]))
        second = sample(rules, opponent, policy, games, np.random.default_rng([seed, 1]))
        shares = Seats((first.win, first.draw, first.loss), (second.loss, second.draw, second.win))
        result[f"win/draw/loss % against {name}"] = shares
    return result


def measure(board: str, games: int) -> Result:
    """Make one proof for each seat, and sample games."""
    rules, policy = rules_of(board), OPPONENTS["rule"]
    times, found = [time.process_time()], []
    for seat in (0, 1):
        found.append(can_lose(rules, policy, seat))
        times.append(time.process_time())
    return {
        "can it lose?": Seats(*("yes" if loses else "never" for loses, _ in found)),
        "positions": Seats(*(positions for _, positions in found)),
        "seconds": Seats(*(end - start for start, end in pairwise(times))),
        **sampled_games(ChoicesPolicy(policy, rules), rules, games, seed=0),
    }


def main(
    boards: tuple[str, ...] = ("3x3x3", "4x4x4", "5x5x5", "5x5x4"),
    times: int = 1,
    games: int = 10_000,
    docs: Path | None = None,
) -> None:
    """Prove on which boards the rule cannot be beaten.

    Args:
        boards: Boards as rows, columns and k, such as 5x5x4.
        times: How often each proof is made.
        games: Games sampled in each seat against each of the others.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    note = f"as X; as O; {times} proofs; {games:,} sampled games with seed 0"
    harness.run("The rule", boards, range(times), lambda board, _: measure(board, games), note, docs=docs)


if __name__ == "__main__":
    tyro.cli(main)
