"""Measure what the course shows without a run of its own, and save it beside the units.

    python -m benchmarks.learning.course tables --docs docs      # unit 2: why the library's table needs more games
    python -m benchmarks.learning.course networks --docs docs    # unit 4: a DQN with and without its two parts

The networks are trained by the program of unit 4 with its solution.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

import selfplay
from benchmarks import data, harness
from benchmarks.data import Result
from selfplay.cli import course
from selfplay.files import write_csv
from selfplay.lessons import UNITS_OF_CLONE
from tictactoe import Rules

RULES = Rules()
CELLS = [RULES.cells_of(marks) for marks in range(512)]
HAS_LINE = [RULES.has_line(marks) for marks in range(512)]
GAMES = 100_000
PARTS = {
    "both": (True, True),
    "no memory": (False, True),
    "no target network": (True, False),
    "neither": (False, False),
}
"""What a DQN of unit 4 has: the replay memory and the target network."""


@dataclass(frozen=True)
class Table:
    """How a table learns; the defaults are those of unit 2."""

    taken: bool = False
    """A random move may mark a taken cell, which loses the game."""
    random_moves: float = 1.0
    """Probability of a random move; the others follow the table."""
    backwards: bool = True
    """Learn from the last move of a game first."""
    step: float = 0.5
    discount: float = 1.0
    first: float = 0.0
    """Standard deviation of the normal distribution that the first numbers come from; 0 lets them be 0."""


TABLES = {
    "yours": Table(),
    "discount 0.9": Table(discount=0.9),
    "step 0.1": Table(step=0.1),
    "random first numbers": Table(first=1.0),
    "first move first": Table(backwards=False),
    "40 % own moves": Table(random_moves=0.6),
    "may mark taken squares": Table(taken=True),
    "all of these": Table(taken=True, random_moves=0.6, backwards=False, step=0.1, discount=0.9, first=1.0),
}
LIBRARY = "the library's"


class Learner:
    """A table of the values to X, as in unit 2, that can learn in the ways of both programs."""

    def __init__(self, how: Table, seed: int) -> None:
        self.how, self.generator = how, random.Random(seed)
        self.values: dict[tuple[int, int], dict[int, float]] = {}

    def row(self, x: int, o: int) -> dict[int, float]:
        """Return the values of a position's cells, of the taken ones only if it may mark them."""
        if (x, o) not in self.values:
            cells = range(9) if self.how.taken else CELLS[511 & ~(x | o)]
            first = self.how.first
            self.values[x, o] = {cell: self.generator.gauss(0, first) if first else 0.0 for cell in cells}
        return self.values[x, o]

    def choose(self, x: int, o: int) -> int:
        """Return the cell that is best for the seat to move."""
        values = self.row(x, o)
        return (max if x.bit_count() == o.bit_count() else min)(values, key=values.__getitem__)

    def learn(self, games: int) -> None:
        """Play games and learn from the moves of each."""
        for _ in range(games):
            moves = self.game()
            for move in reversed(moves) if self.how.backwards else moves:
                self.update(*move)

    def game(self) -> list[tuple[int, int, int]]:
        """Return the moves of a game, each as the marks of X and of O before it and its cell."""
        x = o = 0
        moves = []
        while True:
            if self.how.random_moves == 1 or self.generator.random() < self.how.random_moves:
                cell = self.generator.choice(range(9) if self.how.taken else CELLS[511 & ~(x | o)])
            else:
                cell = self.choose(x, o)
            moves.append((x, o, cell))
            if (x | o) >> cell & 1:
                return moves
            x, o = (x | 1 << cell, o) if x.bit_count() == o.bit_count() else (x, o | 1 << cell)
            if HAS_LINE[x] or HAS_LINE[o] or x | o == 511:
                return moves

    def update(self, x: int, o: int, cell: int) -> None:
        """Move the value of a move a step towards its target."""
        x_moves = x.bit_count() == o.bit_count()
        win = 1.0 if x_moves else -1.0
        after = (x | 1 << cell, o) if x_moves else (x, o | 1 << cell)
        if (x | o) >> cell & 1:
            target = -win
        elif HAS_LINE[after[0]] or HAS_LINE[after[1]]:
            target = win
        elif x | o | 1 << cell == 511:
            target = 0.0
        else:
            target = self.how.discount * self.row(*after)[self.choose(*after)]
        values = self.row(x, o)
        values[cell] += self.how.step * (target - values[cell])

    def agent(self, observation: Any) -> int:
        """Return the cell for an observation [3, 3, 3]."""
        planes = observation.reshape(9, 3)
        x, o = (sum(1 << cell for cell in range(9) if planes[cell, plane]) for plane in (1, 2))
        return self.choose(x, o)


def table_result(name: str, seed: int) -> Result:
    """Return how a table plays that has learned from 100,000 games."""
    if name == LIBRARY:
        learner = selfplay.training("minimax-q", games=GAMES, eval_every=GAMES, seed=seed)
        *_, record = learner
        verdict = record.verdict
    else:
        table = Learner(TABLES[name], seed)
        table.learn(GAMES)
        verdict = selfplay.evaluate(table.agent, RULES)
    return {"ways to beat it": verdict.ways_to_beat, "right positions": verdict.optimal_states}


def unit_4() -> dict[str, Any]:
    """Return the names of unit 4 with its solution, up to its training function."""
    unit = UNITS_OF_CLONE / "unit_4.py"
    names: dict[str, Any] = {}
    for cell in course.script_cells(course.filled(unit, (unit.parent / "solutions" / unit.name).read_text())):
        if cell.kind == "code" and "train" not in names:
            exec(cell.source, names)
    return names


def network_results(parts: str, seed: int, names: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    """Return the ways to beat a network at each evaluation of its training."""
    memory, target_network = PARTS[parts]
    capacity, rate = 20_000 if memory else names["BOARDS"], 0.05 if target_network else 1.0
    _, proofs = names["train"](capacity, rate, seed)
    return [(parts, seed, updates, verdict.ways_to_beat) for updates, verdict in proofs.items()]


def main(
    what: tyro.conf.Positional[Literal["tables", "networks"]],
    seeds: tuple[int, ...] = (0, 1, 2),
    docs: Path | None = None,
) -> None:
    """Measure, print what is found, and save it.

    Args:
        what: The tables of unit 2, or the networks of unit 4.
        seeds: Seeds of every row.
        docs: Folder to write course/unit_2.csv or course/unit_4.csv into.
    """
    measured_on = harness.start(f"Course, {what}", seeds=seeds)
    lines: list[Sequence[object]] = []

    def measure_table(name: str, seed: int) -> Result:
        result = table_result(name, seed)
        lines.append((name, seed, *result.values()))
        return result

    def measure_network(parts: str, seed: int) -> Result:
        found = network_results(parts, seed, names)
        lines.extend(found)
        *_, updates, ways = found[-1]
        return {"updates": updates, "ways to beat it": ways}

    if what == "tables":
        header, name = ("table", "seed", "ways_to_beat", "right_positions"), "unit_2"
        harness.in_turns([*TABLES, LIBRARY], seeds, measure_table)
    else:
        names = unit_4()
        header, name = ("parts", "seed", "updates", "ways_to_beat"), "unit_4"
        harness.in_turns(PARTS, seeds, measure_network)
    if docs is not None:
        write_csv(docs / "course" / f"{name}.csv", [header, *lines])
        data.save(docs, name, {what: ()}, measured_on)


if __name__ == "__main__":
    tyro.cli(main)
