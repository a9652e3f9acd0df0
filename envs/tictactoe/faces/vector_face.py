"""What both vector environments do alike: check actions, restart ended games, hand out what is seen."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from tictactoe.actions import checked_cells
from tictactoe.faces.turn import TicTacToeEnv, check_render_mode, draw
from tictactoe.faces.vector_games import Flags, Games, Planes, Results

RENDER_MODES = ["ansi", "rgb_array"]

VectorStep: TypeAlias = tuple[Any, NDArray[np.float64], Flags, Flags, dict[str, Any]]


class VectorFace:
    """Hold the games of `N` boards and show them as a `gymnasium.vector.VectorEnv` does."""

    def __init__(self, games: Games, settings: TicTacToeEnv, num_envs: int, autoreset_mode: AutoresetMode) -> None:
        self._games = games
        self._rules = settings.rules
        self._actions = settings.rules.cells
        self._render_mode = settings.render_mode
        self._num_envs = num_envs
        self._mode = autoreset_mode
        self._dict_observation = settings.dict_observation
        self._begun = False
        self._state = games.empty_boards(num_envs)
        # The boards whose game has ended and on which no other has begun, [N].
        self._over = np.zeros(num_envs, bool)

    def reset(self, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        """Start new games on all boards, or on those that `options["reset_mask"]` [N] bool names.

        Raises:
            ValueError: the mask is of another shape or type, or names no board.
            gymnasium.error.ResetNeeded: the mask leaves boards out before the first reset of all.
        """
        chosen = np.ones(self._num_envs, bool)
        if options and "reset_mask" in options:
            chosen = options["reset_mask"]
            if not isinstance(chosen, np.ndarray) or chosen.shape != self._over.shape or chosen.dtype != bool:
                raise ValueError(f"reset_mask must be a NumPy array of {self._num_envs} bools, got {chosen!r}")
            if not chosen.any():
                raise ValueError("reset_mask names no board: at least one element must be True")
        if not self._begun and not chosen.all():
            raise gymnasium.error.ResetNeeded("no game is being played: call reset() without a reset_mask first")
        self._state = self._games.start(self._state, chosen)  # first, for an opponent that moves in it can fail
        self._over = self._over & ~chosen
        self._begun = True
        return self._seen(self._state, self._over), self._going_on(self._state, self._over)

    def step(self, actions: Any) -> VectorStep:
        """Play on every board and start new games as the autoreset mode asks.

        Raises:
            gymnasium.error.InvalidAction: the actions are not one cell for each board; nothing changes.
            gymnasium.error.ResetNeeded: there is no game, or one is over and the caller must start another.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("no game is being played: call reset() before step()")
        if self._mode is AutoresetMode.DISABLED and self._over.any():
            raise gymnasium.error.ResetNeeded(
                f"{self._over.sum()} games are over, the first on board {self._over.argmax()}: "
                "call reset(options={'reset_mask': terminated}) before step()"
            )
        cells = checked_cells(self._actions, actions, self._num_envs, ignored=self._over)
        return self._delivered(self._games.play(self._state, cells, self._over))

    def _delivered(self, results: Results) -> VectorStep:
        state, reward, ended = results.state, results.reward, results.terminated
        any_ended = bool(ended.any())
        info: dict[str, Any] = {}
        if self._mode is not AutoresetMode.SAME_STEP:
            self._over = ended
            if any_ended:
                info = _ending(results)
        elif any_ended:
            info = self._final(results)
            state = self._games.start(state, ended)
        self._state = state
        info |= self._going_on(state, self._over)
        return self._seen(state, self._over), reward, ended.copy(), np.zeros(self._num_envs, bool), info

    def _final(self, results: Results) -> dict[str, Any]:
        """Return the last observation and info of each ended game, in the form of Gymnasium's own vectors."""
        ended = results.terminated
        boards = np.flatnonzero(ended)
        each: list[Any] = list(self._games.observe(results.state, boards))
        if self._dict_observation:
            each = [{"observation": seen, "action_mask": np.ones(self._actions, np.int8)} for seen in each]
        final_obs = np.full(self._num_envs, None, dtype=object)
        final_obs[boards] = np.fromiter(each, dtype=object, count=len(boards))
        final_info = {
            "action_mask": np.ones((self._num_envs, self._actions), np.int8),
            "_action_mask": ended.copy(),
            "to_play": self._games.to_play(results.state),
            "_to_play": ended.copy(),
            **_ending(results),
        }
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": final_info,
            "_final_info": ended.copy(),
        }

    def _seen(self, state: Any, over: Flags) -> Any:
        planes_seen = self._games.observe(state)
        if not self._dict_observation:
            return planes_seen
        return {"observation": planes_seen, "action_mask": self._games.action_mask(state, over)}

    def action_masks(self) -> Planes:
        """Return 1 for each empty cell, [N, A] int8; all ones on a board on which no game is being played."""
        if not self._begun:
            return np.ones((self._num_envs, self._actions), np.int8)
        return self._games.action_mask(self._state, self._over)

    def render(self) -> tuple[Any, ...] | None:
        """Return a drawing of each board, in the mode of the settings."""
        if self._render_mode is None:
            gymnasium.logger.warn('render() draws nothing without a mode: make the vector with render_mode="ansi"')
            return None
        if not self._begun:
            raise gymnasium.error.ResetNeeded("there are no boards to draw: call reset() before render()")
        boards = zip(*(marks.tolist() for marks in self._games.marks(self._state)), strict=True)
        return tuple(
            draw(self._render_mode, self._rules, *(mark & self._rules.full_board for mark in both)) for both in boards
        )

    def _going_on(self, state: Any, over: Flags) -> dict[str, Any]:
        """Return what `info` holds at every ply, with the flags by which Gymnasium says for which boards."""
        return {
            "action_mask": self._games.action_mask(state, over),
            "_action_mask": np.ones(self._num_envs, bool),
            "to_play": self._games.to_play(state),
            "_to_play": np.ones(self._num_envs, bool),
        }


def _ending(results: Results) -> dict[str, Any]:
    """Return what `info` holds in addition where a game has ended."""
    ended = results.terminated
    return {
        "winner": np.where(ended, results.winner, -1),
        "_winner": ended.copy(),
        "illegal": results.illegal,
        "_illegal": ended.copy(),
    }


def named_mode(autoreset_mode: str | AutoresetMode) -> AutoresetMode:
    """Return the autoreset mode of that name, which is its form in a JSON file; a mode passes through.

    Raises:
        ValueError: there is no such mode.
    """
    try:
        return AutoresetMode(autoreset_mode)
    except ValueError:
        names = ", ".join(mode.value for mode in AutoresetMode)
        raise ValueError(f"unknown autoreset_mode {autoreset_mode!r}: choose from {names}") from None


def vector_metadata(autoreset_mode: AutoresetMode) -> dict[str, Any]:
    """Return what Gymnasium's wrappers and other frameworks read about a vector environment."""
    return {**TicTacToeEnv.metadata, "render_modes": RENDER_MODES, "autoreset_mode": autoreset_mode}


def check_vector(num_envs: int, settings: Mapping[str, Any]) -> None:
    """Refuse a number of boards that is none, and a window, which shows one game.

    Raises:
        ValueError: the number is not a positive integer, or there is no such render mode.
    """
    check_render_mode(settings.get("render_mode"), RENDER_MODES)
    if not isinstance(num_envs, int | np.integer) or isinstance(num_envs, bool) or num_envs < 1:
        raise ValueError(f"num_envs must be a positive integer, got {num_envs!r}")
