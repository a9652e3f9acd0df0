"""Write your own algorithm, and train, prove and resume it like those of this package.

A learner has six members: `rules`, `steps`, `advance`, `player`, `state` and `restore`. This one is Sarsa with a table:
a move is worth its reward minus what the opponent's next move is worth to the opponent. It explores less and less.

By default it plays for a few seconds, and can still be beaten. `--games 100000` stops by itself once it is proved
unbeatable, which takes less than a minute on one core. `--resume RUN` continues a run. `selfplay prove
docs.recipes.own_algorithm:Sarsa@RUN` proves it again: you name the class, because a run folder holds no code.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import tyro

import selfplay
from tictactoe import Rules

POWERS = 3 ** np.arange(9)
ALPHA, EXPLORING = 0.5, 10_000
"""Step size; games after which every second move is random."""


def rows(observations: np.ndarray) -> np.ndarray:
    """Return the table's rows [B] for observations [B, 3, 3, 3]."""
    return (observations[..., 1] + 2 * observations[..., 2]).reshape(-1, 9) @ POWERS


class Greedy:
    """A player that marks the empty cell that is worth most."""

    def __init__(self, table: np.ndarray) -> None:
        self.table = table

    def act(self, observation: np.ndarray, action_mask: np.ndarray | None = None) -> np.ndarray:
        """Return cells [B] for observations [B, 3, 3, 3]."""
        del action_mask  # plane 0 says the same
        empty = observation[..., 0].reshape(-1, 9) == 1
        return np.where(empty, self.table[rows(observation)], -np.inf).argmax(axis=1)


class Sarsa:
    """A learner of a table, which plays against itself; a step is a game."""

    rules = Rules()

    def __init__(self, seed: int = 0) -> None:
        self.settings = {"seed": seed}  # with which a run makes it again
        self.game = gymnasium.make("tictactoe:TicTacToe-v0", rewards="sparse")
        self.generator = np.random.default_rng(seed)
        self.table = np.zeros((3**9, 9))  # a board, a cell
        self.steps = 0

    def advance(self, most: int) -> None:
        """Play some games, at most `most`."""
        for _ in range(min(most, 50)):
            self.play()
            self.steps += 1

    def play(self) -> None:
        """Play a game, and learn what each move is worth once the reply to it is chosen."""
        entry, over = self.chosen(self.game.reset()[0]), False
        while not over:
            board, target, over, _, _ = self.game.step(entry[1])
            before = entry
            if not over:
                entry = self.chosen(board)
                target -= self.table[entry]
            self.table[before] += ALPHA * (target - self.table[before])

    def chosen(self, board: np.ndarray) -> tuple[int, int]:
        """Return the table's entry of the next move: the row of the board, and the cell."""
        if self.generator.random() < EXPLORING / (EXPLORING + self.steps):
            cell = self.generator.choice(np.flatnonzero(board[..., 0]))
        else:
            cell = Greedy(self.table).act(board[None])[0]
        return int(rows(board)[0]), int(cell)

    def player(self) -> Greedy:
        """Return the current player."""
        return Greedy(self.table)

    def state(self) -> Mapping[str, Any]:
        """Return all that it needs to continue."""
        return {"table": self.table, "steps": self.steps, "generator": self.generator.bit_generator.state}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state returned by `state`."""
        self.table, self.steps = state["table"], state["steps"]
        self.generator.bit_generator.state = state["generator"]


def main(games: int = 4_000, seed: int = 0, folder: Path | None = None, resume: Path | None = None) -> selfplay.Run:
    """Train for at most `games` games, or until it is proved, in a new run folder or from where `resume` ended."""
    if resume:
        return selfplay.train(learner=Sarsa, resume=resume, total_steps=games)
    return selfplay.train(learner=Sarsa(seed=seed), total_steps=games, eval_every=2_000, run_dir=folder)


if __name__ == "__main__":
    tyro.cli(main)
