"""The versus view: a single-agent Gymnasium environment in which the opponent answers inside `step`."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tictactoe.opponents import OPPONENTS
from tictactoe.solver import solve
from tictactoe.turn import Observation, TicTacToeEnv

Opponent: TypeAlias = Callable[[Observation, NDArray[np.int8]], int]
"""Maps what the opponent sees, observation [rows, cols, 3] and action mask [rows * cols], to its cell."""


class TicTacToeVersusEnv(gymnasium.Env[Observation, int]):
    """Play one seat of an m,n,k game against an opponent.

    `opponent` is `"random"`, `"heuristic"` (win, else block, else random) or `"optimal"`; `set_opponent`
    takes any other. `seat` is 0, 1 or `"random"`, drawn anew for each game. The other settings, the spaces
    and `info` are those of `TicTacToe-v0`. The reward is that of the agent's own move, plus `loss` if the
    reply wins. All randomness comes from the environment's own generator, which `reset(seed=...)` seeds.

    Raises:
        ValueError: a setting does not exist, or the opponent is `"optimal"` on a board of over 16 cells.
        gymnasium.error.InvalidAction: the action is not a cell; nothing changes.
        gymnasium.error.ResetNeeded: there is no game, or it has ended.
    """

    metadata = TicTacToeEnv.metadata

    def __init__(
        self,
        opponent: str = "random",
        seat: int | Literal["random"] = 0,
        **settings: Any,
    ) -> None:
        self._game = TicTacToeEnv(**settings)
        if opponent not in OPPONENTS:
            raise ValueError(
                f"unknown opponent {opponent!r}: choose from {', '.join(OPPONENTS)}, or use set_opponent()"
            )
        if isinstance(seat, bool) or seat not in (0, 1, "random"):
            raise ValueError(f"unknown seat {seat!r}: choose 0, 1 or 'random'")
        if opponent == "optimal":
            solve(self._game.rules)  # refuses a board too large now, not in the first game
        self._opponent: str | Opponent = opponent
        self._seat = seat
        self.seat = 0
        self.render_mode = self._game.render_mode
        self.observation_space = self._game.observation_space
        self.action_space = self._game.action_space

    def set_opponent(self, opponent: str | Opponent) -> None:
        """Play against another opponent from the next reply on: a name, or a function of what it sees."""
        if isinstance(opponent, str) and opponent not in OPPONENTS:
            raise ValueError(f"unknown opponent {opponent!r}: choose from {', '.join(OPPONENTS)}, or pass a function")
        self._opponent = opponent

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game; in seat 1 the opponent has moved already."""
        super().reset(seed=seed)
        self.seat = int(self.np_random.integers(2)) if self._seat == "random" else int(self._seat)
        _, info = self._game.reset(options=options)
        if self.seat == 1:
            _, _, _, _, info = self._game.step(self._reply())
        return self._game.observe(self.seat), info

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Mark the cell `action` and let the opponent reply."""
        _, reward, terminated, _, info = self._game.step(action)
        if not terminated:
            _, _, terminated, _, info = self._game.step(self._reply())
            if terminated and info["winner"] == 1 - self.seat:
                reward += self._game.rewards.loss
        return self._game.observe(self.seat), reward, terminated, False, info

    def _reply(self) -> int:
        """Return the opponent's cell in the present position."""
        if not isinstance(self._opponent, str):
            return self._opponent(self._game.observe(1 - self.seat), self._game.action_masks())
        choices = OPPONENTS[self._opponent](self._game.rules, *self._game.position)
        cells = [cell for cell in range(self._game.rules.cells) if choices >> cell & 1]
        return cells[self.np_random.integers(len(cells))]

    def action_masks(self) -> NDArray[np.int8]:
        """Return 1 for each empty cell, [rows * cols] int8; all ones when no game is being played."""
        return self._game.action_masks()

    def render(self) -> str | None:
        """Return the board as text in the `"ansi"` mode."""
        return self._game.render()
