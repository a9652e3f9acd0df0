"""A learner of the user: Sarsa on afterstates of tic-tac-toe by self-play, as a student would write it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tictactoe import Rules, batch

POWERS = 3 ** np.arange(9)


class Greedy:
    """Mark the empty cell with the best afterstate."""

    def __init__(self, table: NDArray[np.float64]) -> None:
        self.table = table

    def act(self, observation: NDArray[np.int8], action_mask: object = None) -> NDArray[np.int64]:
        del action_mask
        return np.array([best(self.table, board) for board in np.asarray(observation)])


def best(table: NDArray[np.float64], board: NDArray[np.int8]) -> int:
    """Return the cell with the best afterstate; the board is of the absolute perspective."""
    _, first, second = board.reshape(9, 3).T.astype(np.int64)
    mark = 1 if first.sum() == second.sum() else 2
    taken = first + second > 0
    after = np.where(taken, 0, (first + 2 * second) @ POWERS + mark * POWERS)
    return int(np.where(taken, -np.inf, table[after]).argmax())


class Sarsa:
    """Learn the value of afterstates to the seat that has just moved."""

    rules = Rules()

    def __init__(self, alpha: float = 0.2, seed: int = 0) -> None:
        self.settings = {"alpha": alpha, "seed": seed}
        self.alpha = alpha
        self.rng = np.random.default_rng(seed)
        self.table = np.zeros(3**9)
        self.steps = 0
        self.taught = 0

    def advance(self, most: int) -> None:
        """Play up to ten games."""
        for _ in range(min(most, 10)):
            self.play()
            self.steps += 1

    def play(self) -> None:
        rules, state, visited = self.rules, batch.reset(self.rules, 1, np), [0]
        while True:
            if self.rng.random() < 0.2:
                cell = int(self.rng.choice(np.flatnonzero(batch.action_mask(rules, state)[0])))
            else:
                cell = best(self.table, batch.observe(rules, state, "absolute")[0])
            visited.append(visited[-1] + int((1 + state.ply[0] % 2) * POWERS[cell]))
            outcome = batch.play(rules, state, np.array([cell]))
            state = outcome.state
            if outcome.terminated[0]:
                break
        value = float(outcome.win[0])
        for code in reversed(visited[1:]):
            self.table[code] += self.alpha * (value - self.table[code])
            value = -self.table[code]

    def player(self) -> Greedy:
        return Greedy(self.table)

    def teach(self, mover: NDArray[np.integer[Any]], opponent: NDArray[np.integer[Any]]) -> None:
        assert len(mover) == len(opponent)
        self.taught += len(mover)

    def metrics(self) -> Mapping[str, float]:
        return {"values/mean": float(self.table.mean())}

    def state(self) -> Mapping[str, Any]:
        return {
            "table": self.table,
            "steps": self.steps,
            "taught": self.taught,
            "generator": self.rng.bit_generator.state,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.table = state["table"]
        self.steps = state["steps"]
        self.taught = state["taught"]
        self.rng.bit_generator.state = state["generator"]
