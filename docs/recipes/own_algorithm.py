"""Write an algorithm of your own, and have it trained, proved, resumed and rated like those of this package.

A learner has six members: `rules`, `steps`, `advance`, `player`, `state` and `restore`. This one is Sarsa with a table:
a move is worth its reward minus what the opponent's next move is worth to the opponent. It explores less and less.

By default it plays 4,000 games, some seconds, and can still be beaten. `--games 100000` stops by itself once it is
proved unbeatable: with the seeds 1000 to 1004 after 56,000 to 100,000 games, 6 to 16 s of one core. `--resume RUN` goes
on in a run. At its end you see the commands that prove the player again and let it meet others.
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


class Greedy:
    """Play the empty cell that is worth most."""

    def __init__(self, table: np.ndarray) -> None:
        self.table = table

    def q_values(self, observation: np.ndarray) -> np.ndarray:
        """Return the values [B, 9] of the cells for observations [B, 3, 3, 3]; -inf for those that are taken."""
        cells = observation.reshape(-1, 9, 3)
        codes = (cells[..., 1] + 2 * cells[..., 2]) @ POWERS
        return np.where(cells[..., 0] == 1, self.table[codes], -np.inf)

    def act(self, observation: np.ndarray, action_mask: np.ndarray | None = None) -> np.ndarray:
        """Return cells [B] for observations [B, 3, 3, 3]."""
        del action_mask  # plane 0 says the same
        return self.q_values(observation).argmax(axis=1)


class Sarsa:
    """Learn a table by playing against itself; a step is a game."""

    rules = Rules()

    def __init__(self, alpha: float = 0.5, exploring: int = 10_000, seed: int = 0) -> None:
        self.settings = {"alpha": alpha, "exploring": exploring, "seed": seed}  # with which a run makes it again
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
        board, info = self.game.reset()
        entry = self.chosen(board, info["action_mask"])
        over = False
        while not over:
            board, target, over, _, info = self.game.step(entry[1])
            following = self.chosen(board, info["action_mask"])
            if not over:
                target = target - self.table[following]
            self.table[entry] += self.settings["alpha"] * (target - self.table[entry])
            entry = following

    def chosen(self, board: np.ndarray, mask: np.ndarray) -> tuple[int, int]:
        """Return the table's entry of the next move: the row of the board, and the cell."""
        cells = board.reshape(9, 3)
        row = int((cells[:, 1] + 2 * cells[:, 2]) @ POWERS)
        if self.generator.random() < self.settings["exploring"] / (self.settings["exploring"] + self.steps):
            return row, int(self.generator.choice(np.flatnonzero(mask)))
        return row, int(np.where(mask == 1, self.table[row], -np.inf).argmax())

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
    """Train in a new run folder for at most `games` games, or until it is proved; or go on in the folder `resume`."""
    if resume:
        run = selfplay.train(learner=Sarsa, resume=resume, total_steps=games)
    else:
        run = selfplay.train(learner=Sarsa(seed=seed), total_steps=games, eval_every=2_000, run_dir=folder)
    player = f"docs.recipes.own_algorithm:Sarsa@{run.folder}"  # you name the code; no file does
    print(f"selfplay prove {player}\nselfplay arena {player} shipped random")
    return run


if __name__ == "__main__":
    tyro.cli(main)
