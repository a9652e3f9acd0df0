"""Prove on which boards the built-in opponent "rule" cannot be beaten, whichever of its equal cells it takes.

The rows of docs/bigger-boards.md:

    python -m benchmarks.environment.rule

In each seat every choice of the rule and every legal reply are followed, ply by ply, as `selfplay prove rule` does. To
come to the end on 5,5,5 this script asks for less, namely whether the rule can lose at all. So it leaves a position
once the opponent has no open line left, and takes positions for one that differ for neither the rule nor the question:
images of each other, and those that differ only on cells of which each line holds marks of both seats.

Its games against the other built-in opponents are sampled, as those of trained players are in
`benchmarks.learning.bigger_boards`.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.environment.search import rules_of
from benchmarks.learning.bigger_boards import percent
from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import in_turns
from selfplay.arena.matches import sample
from selfplay.command_line import run_command
from selfplay.evaluation.agents import built_in_policy
from selfplay.evaluation.forward_search import sort_keys
from tictactoe import Rules, planes
from tictactoe.opponents import OPPONENTS, Choices
from tictactoe.symmetry import representatives

PROG = "python -m benchmarks.environment.rule"
PARENTS = 1 << 15
"""Positions that are worked on at once."""
AGAINST = ("random", "heuristic")
HEADER = (
    "board",
    "seat",
    "can it lose?",
    "positions",
    "seconds",
    *(f"win/draw/loss % against {name}" for name in AGAINST),
)
Words: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Flags:
    """Prove on which boards the rule cannot be beaten."""

    boards: tuple[str, ...] = ("3x3x3", "4x4x4", "5x5x5", "5x5x4")
    """Which, as rows, columns and k, as in 5x5x4."""
    times: int = 1
    """How often each proof is made."""
    games: int = 10_000
    """Games sampled in each seat against each of the others."""
    markdown: Path | None = None
    """File to write the table to, as Markdown."""


class Run(NamedTuple):
    """Hold what one proof has come to."""

    board: str
    seat: int
    loses: bool
    positions: int
    seconds: float
    results: tuple[str, ...]
    """Percentages of games won, drawn and lost against each of the others."""

    def text(self) -> str:
        """Return it as a line."""
        verdict = "can lose" if self.loses else "cannot lose"
        return f"{self.board}, seat {self.seat}: {verdict}, {self.positions:,} positions, {self.seconds:.1f} s"


def can_lose(rules: Rules, choices: Choices, seat: int) -> tuple[bool, int]:
    """Tell whether some choices and replies beat an opponent in a seat, and how many positions were met until then.

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


def measure(board: str, seat: int, seed: int, games: int) -> Run:
    """Make one proof, and sample games."""
    started = time.perf_counter()
    loses, positions = can_lose(rules_of(board), OPPONENTS["rule"], seat)
    seconds = time.perf_counter() - started
    results = tuple(against(name, rules_of(board), seat, seed, games) for name in AGAINST)
    return Run(board, seat, loses, positions, seconds, results)


def against(name: str, rules: Rules, seat: int, seed: int, games: int) -> str:
    """Return how the rule's games in a seat end against another built-in opponent, in percents from its view."""
    players = [built_in_policy(OPPONENTS["rule"], rules), built_in_policy(OPPONENTS[name], rules)]
    result = sample(rules, players[seat], players[1 - seat], games, np.random.default_rng([seed, seat]))
    shares = result.win, result.draw, result.loss
    return percent(shares if seat == 0 else shares[::-1])


def table_rows(done: Sequence[Run]) -> Iterator[list[str]]:
    """Return a row for each board and seat."""
    for board, seat in dict.fromkeys((run.board, run.seat) for run in done):
        runs = [run for run in done if (run.board, run.seat) == (board, seat)]
        verdict = "yes" if runs[0].loses else "never"
        seconds = spread(run.seconds for run in runs).text(1)
        yield [board.replace("x", ","), "XO"[seat], verdict, f"{runs[0].positions:,}", seconds, *runs[0].results]


def main(args: Sequence[str]) -> None:
    """Make the proofs, and print each as it ends and the table at the end."""
    flags = read_flags(Flags, args, PROG)
    rows = [(board, seat) for board in flags.boards for seat in (0, 1) if rules_of(board)]
    console = machine.start("The rule")
    done = in_turns(console, range(flags.times), rows, lambda row, seed: measure(*row, seed, flags.games))
    note = (
        f"median (least to most) over {flags.times} proofs; {flags.games:,} sampled games with seed 0; "
        f"load {machine.load()} at the end"
    )
    tables.present(console, HEADER, table_rows(done), note, flags.markdown)


if __name__ == "__main__":
    run_command(main, PROG)
