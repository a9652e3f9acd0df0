"""Q-learning in a table, as most people write it first: two loops over games, and nine numbers for each position."""

import random
from typing import Any, Literal, TypeAlias

import numpy as np

import selfplay
from tictactoe import Rules

RULES = Rules()
CELLS = [RULES.cells_of(marks) for marks in range(512)]
HAS_LINE = [RULES.has_line(marks) for marks in range(512)]
FULL, STEP, GAMMA = 511, 0.1, 0.9
Opponent: TypeAlias = Literal["random", "itself"]
Follows: TypeAlias = Literal["own next turn", "opponent's turn"]


class Table(dict[tuple[int, int], dict[int, float]]):
    """Hold the value of each empty cell to the mover, by the bitboards (mover, opponent); 0 until it is learned."""

    def __missing__(self, key: tuple[int, int]) -> dict[int, float]:
        """Return the new values of a position."""
        self[key] = dict.fromkeys(CELLS[FULL & ~(key[0] | key[1])], 0.0)
        return self[key]


def learn(opponent: Opponent, follows: Follows, epsilon: float, games: int, seed: int) -> Table:
    """Play some games and learn from each ply of the learner's; against "random" it has the seats in turn."""
    generator, table = random.Random(seed), Table()
    for game in range(games):
        mover = other = 0
        last: list[tuple[tuple[int, int], int] | None] = [None, None]  # each seat's last position and cell
        for ply in range(9):
            seat, here = ply % 2, (mover, other)
            values = table[here]
            learns = opponent == "itself" or seat == game % 2
            if learns and follows == "own next turn" and (before := last[seat]) is not None:
                move_towards(table, before, GAMMA * max(values.values()))
            if not learns or generator.random() < epsilon:
                cell = generator.choice(list(values))
            else:
                cell = max(values, key=values.__getitem__)
            mover |= 1 << cell
            won = HAS_LINE[mover]
            if won or mover | other == FULL:
                if learns:
                    move_towards(table, (here, cell), float(won))
                if follows == "own next turn" and (before := last[1 - seat]) is not None:
                    move_towards(table, before, -float(won))
                break
            if learns and follows == "opponent's turn":
                move_towards(table, (here, cell), -GAMMA * max(table[other, mover].values()))
            if learns:
                last[seat] = here, cell
            mover, other = other, mover
    return table


def move_towards(table: Table, move: tuple[tuple[int, int], int], target: float) -> None:
    """Move a value a step towards a target."""
    values, cell = table[move[0]], move[1]
    values[cell] += STEP * (target - values[cell])


def evaluate(table: Table) -> selfplay.Verdict:
    """Evaluate the greedy player of a table."""

    def agent(observation: Any) -> int:
        planes = np.asarray(observation).reshape(9, 3)
        mine, theirs = (int(planes[:, plane].astype(np.int64) @ (1 << np.arange(9))) for plane in (1, 2))
        values = table[mine, theirs]
        return max(values, key=values.__getitem__)

    return selfplay.evaluate(agent, RULES, perspective="mover")
