"""The turn view: a Gymnasium environment in which each `step` is one ply and the seats alternate."""

import operator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tictactoe.batch import check_perspective
from tictactoe.render import board_text
from tictactoe.rewards import Rewards, named_rewards
from tictactoe.rules import Rules

Observation = NDArray[np.int8]


class TicTacToeEnv(gymnasium.Env[Observation, int]):
    """Play both seats of an m,n,k game in turn.

    Observation: one-hot [rows, cols, 3] int8; plane 0 empty, 1 X, 2 O (`perspective="absolute"`) or
    1 mine, 2 theirs (`"mover"`). Action: the row-major number of a cell. Reward: to the seat that acted;
    see `tictactoe.Rewards`. A taken cell ends the game with the illegal reward and changes nothing on the
    board. `info` holds `action_mask` [rows * cols] int8 and `to_play`, and at the end `winner` (0, 1, or
    -1 for none) and `illegal`; the mask is then all ones, so that masked maxima stay finite.

    Raises:
        ValueError: a size, preset, perspective or render mode does not exist.
        gymnasium.error.InvalidAction: the action is not a cell; nothing changes.
        gymnasium.error.ResetNeeded: there is no game, or it has ended.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 2}  # noqa: RUF012 (Gymnasium's own declaration)

    def __init__(
        self,
        rows: int = 3,
        cols: int = 3,
        k: int = 3,
        rewards: str | Rewards = "shaped",
        perspective: str = "absolute",
        render_mode: str | None = None,
    ) -> None:
        self.rules = Rules(rows, cols, k)
        self.rewards = named_rewards(rewards)
        check_perspective(perspective)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            modes = ", ".join(self.metadata["render_modes"])
            raise ValueError(f"unknown render_mode {render_mode!r}: choose from {modes}")
        self.perspective = perspective
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0, 1, (rows, cols, 3), np.int8)
        self.action_space = spaces.Discrete(self.rules.cells)  # type: ignore[assignment]
        self._playing = False
        self._new_game()

    def _new_game(self) -> None:
        self._marks = [0, 0]  # bitboards by seat
        self._ply = 0
        self._last_cell: int | None = None
        self._planes = np.zeros((self.rules.cells, 3), np.int8)  # absolute
        self._planes[:, 0] = 1

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (Gymnasium's signature)
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game; the game itself draws nothing at random, so `seed` changes no outcome."""
        super().reset(seed=seed)
        self._new_game()
        self._playing = True
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Let the seat to move mark the cell `action`."""
        if not self._playing:
            raise gymnasium.error.ResetNeeded("no game is being played: call reset() before step()")
        cell = self._cell(action)
        seat, rewards = self.to_play, self.rewards
        if self._planes[cell, 0] == 0:
            return self._end(rewards.illegal, winner=1 - seat, illegal=True)

        self._marks[seat] |= 1 << cell
        self._planes[cell, 0] = 0
        self._planes[cell, 1 + seat] = 1
        self._ply += 1
        self._last_cell = cell
        if self.rules.has_line(self._marks[seat]):
            return self._end(rewards.win, winner=seat)
        if self._ply == self.rules.cells:
            return self._end(rewards.draw, winner=-1)
        empty = self.rules.empty_cells(*self._marks)
        allowed = self.rules.winning_cells(self._marks[1 - seat]) & empty
        reward = rewards.allow if allowed else 0.0
        return self._observation(), reward, False, False, self._info()

    def _cell(self, action: Any) -> int:
        # A flag or a list of one number would pass as an index, and both are mistakes.
        is_flag = isinstance(action, bool) or "bool" in str(getattr(action, "dtype", ""))
        try:
            cell = -1 if is_flag else operator.index(action)
        except TypeError:
            cell = -1
        if getattr(action, "shape", ()) != () or not 0 <= cell < self.rules.cells:
            raise gymnasium.error.InvalidAction(
                f"action must be an integer from 0 to {self.rules.cells - 1}, got {_shown(action)}"
            )
        return cell

    def _end(
        self, reward: float, winner: int, illegal: bool = False
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._playing = False
        info = {**self._info(), "winner": winner, "illegal": illegal}
        return self._observation(), reward, True, False, info

    @property
    def to_play(self) -> int:
        """Return the seat to move, 0 or 1."""
        return self._ply & 1

    @property
    def position(self) -> tuple[int, int]:
        """Return the marks of the seat to move and of the other, as bitboards."""
        return self._marks[self.to_play], self._marks[1 - self.to_play]

    def action_masks(self) -> NDArray[np.int8]:
        """Return 1 for each empty cell, [rows * cols] int8; all ones when no game is being played."""
        return self._planes[:, 0].copy() if self._playing else np.ones(self.rules.cells, np.int8)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "to_play": self.to_play}

    def _observation(self) -> Observation:
        return self.observe(self.to_play)

    def observe(self, seat: int) -> Observation:
        """Return the board as a seat sees it, which differs between seats in the `"mover"` perspective."""
        swap = self.perspective == "mover" and seat == 1
        planes = self._planes[:, (0, 2, 1)] if swap else self._planes.copy()
        return planes.reshape(self.rules.rows, self.rules.cols, 3)

    def render(self) -> str | None:
        """Return the board as text in the `"ansi"` mode."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() draws nothing without a mode: make the environment with render_mode="ansi"')
            return None
        return board_text(self.rules, self._marks[0], self._marks[1], self._last_cell) + "\n"


def _shown(action: Any) -> str:
    try:
        return repr(action)
    except ValueError:  # Python prints no integer of more than some thousand digits
        return "an integer too large to print"
