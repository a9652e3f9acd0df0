"""What both vector environments do alike: check actions, restart ended games, hand out what is seen."""

import itertools
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tictactoe.actions import checked_cells
from tictactoe.envs.backends.games import Cells, Flags, Games, Planes, Results, Start
from tictactoe.envs.specification import json_spec
from tictactoe.envs.turn import TicTacToeEnv
from tictactoe.envs.vector_start import chosen_boards, start_of
from tictactoe.rendering.modes import check_render_mode, draw

RENDER_MODES = ["ansi", "rgb_array"]

VectorStep: TypeAlias = tuple[Any, NDArray[np.float64], Flags, Flags, dict[str, Any]]


class VectorFace(VectorEnv[Any, Any, NDArray[Any]]):
    """Hold the games of `N` boards and show them as Gymnasium wants it; how to reset them a subclass says.

    `settings` is a single environment of the same settings; `seat` is that of the versus view, None in the turn view.
    """

    spec = json_spec

    def __init__(
        self,
        games: Games,
        settings: TicTacToeEnv,
        num_envs: int,
        autoreset_mode: AutoresetMode,
        max_episode_steps: int | None,
        seat: int | str | None = None,
    ) -> None:
        self.num_envs = num_envs
        self.autoreset_mode = autoreset_mode
        self.metadata = {**settings.metadata, "render_modes": RENDER_MODES, "autoreset_mode": autoreset_mode}
        self.render_mode = settings.render_mode
        self.single_observation_space, self.single_action_space = settings.observation_space, settings.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._games = games
        self._rules = settings.rules
        self._cells = settings.rules.cells
        self._perspective = settings.perspective
        self._dict_observation = settings.dict_observation
        self._seat = seat
        self._limit = max_episode_steps
        self._begun = False
        self._state = games.empty_boards(num_envs)
        self._every, self._none = np.ones(num_envs, bool), np.zeros(num_envs, bool)
        self._no_winner = np.full(num_envs, -1)
        # Replaced at each step, and never written to.
        self._over = self._none
        """The boards whose game has ended and on which no other has begun, [N]."""
        self._finished = self._none
        """Those of them whose game has not ended by the limit of steps alone: on these no cell is forbidden."""
        self._steps = np.zeros(num_envs, np.int64)
        """The steps of each game so far, counted where there is a limit."""

    def _checked_start(self, options: dict[str, Any] | None) -> tuple[Flags, Start | None]:
        """Return which boards `reset` starts, [N], and from where if not from the empty board.

        Raises:
            ValueError: an option does not exist, or no game can start as it says.
            gymnasium.error.ResetNeeded: boards are left out before the first reset of all.
        """
        chosen, start = self._every, None
        if options is not None:
            chosen = chosen_boards(options, self.num_envs)
            start = start_of(options, self._rules, self._perspective, chosen, self._seat)
        if not self._begun and not chosen.all():
            raise gymnasium.error.ResetNeeded("no game is being played: call reset() without a reset_mask first")
        return chosen, start

    def _start(self, chosen: Flags, start: Start | None) -> tuple[Any, dict[str, Any]]:
        """Start new games."""
        self._state = self._games.start(self._state, chosen, start)  # first, for an opponent that moves in it can fail
        self._over, self._finished = self._over & ~chosen, self._finished & ~chosen
        self._steps = np.where(chosen, 0, self._steps)
        self._begun = True
        observation, mask = self._seen(self._state, self._finished)
        return observation, self._info(self._state, mask, self._no_winner.copy(), self._none.copy())

    def step(self, actions: Any) -> VectorStep:
        """Mark the cell `actions` [N] on each board, and start new games as the autoreset mode asks.

        Raises:
            gymnasium.error.InvalidAction: the actions are not one cell for each board; nothing changes.
            gymnasium.error.ResetNeeded: there is no game, or one is over and the caller must start another.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("no game is being played: call reset() before step()")
        if self.autoreset_mode is AutoresetMode.DISABLED and np.count_nonzero(self._over):
            raise gymnasium.error.ResetNeeded(
                f"{self._over.sum()} games are over, the first on board {self._over.argmax()}: "
                "call reset(options={'reset_mask': terminated | truncated}) before step()"
            )
        cells = checked_cells(self._cells, actions, self.num_envs, ignored=self._over)
        state = self._state if self._limit is None else self._games.abandoned(self._state, self._over)
        results = self._games.play(state, cells, self._over)
        deliver = self._new_games_at_once if self.autoreset_mode is AutoresetMode.SAME_STEP else self._new_games_later
        if self._limit is None:
            observation, info = deliver(results, results.terminated)
            return observation, results.reward, results.terminated, self._none.copy(), info
        steps = np.where(self._over, 0, self._steps + 1)  # a step that starts a game is none of it
        truncated = steps >= self._limit
        ended = results.terminated | truncated
        observation, info = deliver(results, ended)
        self._steps = np.where(ended, 0, steps)
        return observation, results.reward, results.terminated, truncated, info

    def _new_games_later(self, results: Results, ended: Flags) -> tuple[Any, dict[str, Any]]:
        self._state = results.state
        self._finished = results.terminated.copy()
        self._over = self._finished if self._limit is None else ended
        observation, mask = self._seen(self._state, self._finished)
        return observation, self._info(self._state, mask, results.winner, results.illegal)

    def _new_games_at_once(self, results: Results, ended: Flags) -> tuple[Any, dict[str, Any]]:
        state, info = results.state, {}
        if np.count_nonzero(ended):
            info = self._final(results, ended)
            state = self._games.start(state, ended)
        self._state = state
        observation, mask = self._seen(state, self._none)
        info.update(self._info(state, mask, self._no_winner.copy(), self._none.copy()))
        return observation, info

    def _final(self, results: Results, ended: Flags) -> dict[str, Any]:
        """Return the last observation and info of each ended game, in the form of Gymnasium's own vectors."""
        boards = ended.nonzero()[0]
        seen, empty = self._games.look(results.state, results.terminated, boards)
        each: list[Any] = list(seen)
        if self._dict_observation:
            # Without a limit every mask is all ones, and one will do: a view of each takes half as long as the step.
            masks = itertools.repeat(np.ones(self._cells, np.int8)) if self._limit is None else empty.copy()
            each = [{"observation": one, "action_mask": left} for one, left in zip(each, masks, strict=False)]
        mask = np.zeros((self.num_envs, self._cells), np.int8)
        mask[boards] = empty
        final_obs = np.empty(self.num_envs, dtype=object)
        final_obs[boards] = np.fromiter(each, dtype=object, count=len(boards))
        final_info = {
            "action_mask": mask,
            "to_play": self._games.to_play(results.state),
            "winner": results.winner,
            "illegal": results.illegal,
        }
        flags = {f"_{key}": ended.copy() for key in final_info}
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": final_info | flags,
            "_final_info": ended.copy(),
        }

    def _seen(self, state: Any, over: Flags) -> tuple[Any, Planes]:
        """Return the observations and the action masks."""
        planes, mask = self._games.look(state, over)
        if not self._dict_observation:
            return planes, mask
        return {"observation": planes, "action_mask": mask.copy()}, mask

    def _info(self, state: Any, mask: Planes, winner: Cells, illegal: Flags) -> dict[str, Any]:
        """Return what `info` holds at every ply, with the flags by which Gymnasium says for which boards."""
        every = self._every
        return {
            "action_mask": mask,
            "_action_mask": every.copy(),
            "to_play": self._games.to_play(state),
            "_to_play": every.copy(),
            "winner": winner,
            "_winner": every.copy(),
            "illegal": illegal,
            "_illegal": every.copy(),
        }

    def action_masks(self) -> Planes:
        """Return 1 for each empty cell, [N, A] int8; all ones on a board on which no game is being played."""
        if not self._begun:
            return np.ones((self.num_envs, self._cells), np.int8)
        return self._games.look(self._state, self._finished)[1]

    def render(self) -> tuple[Any, ...] | None:
        """Return a drawing of each board: text in the `"ansi"` mode, pixels in `"rgb_array"`."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() draws nothing without a mode: make the vector with render_mode="ansi"')
            return None
        if not self._begun:
            raise gymnasium.error.ResetNeeded("there are no boards to draw: call reset() before render()")
        boards = zip(*(marks.tolist() for marks in self._games.marks(self._state)), strict=True)
        return tuple(
            draw(self.render_mode, self._rules, *(mark & self._rules.full_board for mark in both)) for both in boards
        )


def named_mode(autoreset_mode: str | AutoresetMode) -> AutoresetMode:
    """Return the autoreset mode of a name, `"SameStep"` as well as `"same_step"`; a mode passes through.

    Raises:
        ValueError: there is no such mode.
    """
    if isinstance(autoreset_mode, AutoresetMode):
        return autoreset_mode
    for mode in AutoresetMode:
        if str(autoreset_mode).replace("_", "").lower() == mode.value.lower():
            return mode
    names = ", ".join(mode.value for mode in AutoresetMode)
    raise ValueError(f"unknown autoreset_mode {autoreset_mode!r}: choose from {names}")


def check_vector(num_envs: int, max_episode_steps: int | None, render_mode: str | None) -> None:
    """Refuse a number of boards or steps that is none, and a window, which shows one game.

    Raises:
        ValueError: a number is not a positive integer, or there is no such render mode.
    """
    check_render_mode(render_mode, RENDER_MODES)
    for name, number in (("num_envs", num_envs), ("max_episode_steps", max_episode_steps)):
        counts = isinstance(number, int | np.integer) and not isinstance(number, bool) and number >= 1
        if not counts and not (name == "max_episode_steps" and number is None):
            raise ValueError(f"{name} must be a positive integer, got {number!r}")
