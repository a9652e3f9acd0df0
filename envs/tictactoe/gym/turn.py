"""The turn view: a Gymnasium environment in which each `step` is one ply and the seats alternate."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tictactoe.actions import checked_cell
from tictactoe.batch import check_perspective
from tictactoe.gym.arguments import passes_on_to
from tictactoe.gym.position_graph import Node, position_graph
from tictactoe.positions import check_options, checked_start
from tictactoe.rendering import RENDER_MODES, check_render_mode, render
from tictactoe.rendering.svg import board_svg
from tictactoe.rendering.window import Window
from tictactoe.rewards import Rewards, named_rewards
from tictactoe.rules import Rules, named_rules

Observation: TypeAlias = Any
"""One-hot planes, or with `dict_observation` a dict of the planes and the action mask."""

OPTIONS = ("position", "seat")
"""Options that `reset` takes."""
INTEGERS = (int, np.int64)
"""Types of actions that are looked up without a check; a bool would be found as well, and is a mistake."""


class TicTacToeEnv(gymnasium.Env[Observation, int]):
    """An m,n,k game in which the caller plays both seats in turn: `gymnasium.make("tictactoe:TicTacToe-v0")`.

    Action space: Discrete(rows * cols). Action `a` marks cell `a`, counted row by row from 0. Playing a taken cell
        raises no error: the game ends, and the mover (the seat to move) loses.
    Observation space: Box(0, 1, (rows, cols, 3), int8), one-hot. Plane 0 is empty; planes 1 and 2 are X and O, or with
        `perspective="mover"` the marks of the mover and of the other seat. With `dict_observation` a dict of this
        `observation` and the `action_mask`, Box(0, 1, (rows * cols,), int8). Each call returns new arrays.
    Rewards: a float, to the seat that moved, as `tictactoe.Rewards` says. The other seat is paid nothing.
    Starting state: the empty board, seat 0 (X) to move, or `reset(options=...)`: `position`, `seat`.
    Episode end: a line, a full board, or a taken cell. `truncated` is always False.
    Information: the same keys at every reset and step. `action_mask` [rows * cols] int8, all ones at the end;
        `to_play` int64, the seat to move, at the end the one whose view is shown; `winner` int64, -1 if there is none;
        `illegal` bool, whether a taken cell ended the game.

    Arguments:
        rows: the number of rows, from 1.
        cols: the number of columns, from 1.
        k: how many marks in a row make a line, from 1 to the longer side.
        rewards: `"shaped"`, `"article"`, `"sparse"`, a `tictactoe.Rewards` or a dict of its fields.
        perspective: `"absolute"` or `"mover"`.
        dict_observation: whether the observation is a dict with the mask.
        render_mode: None, or one of `metadata["render_modes"]`: text, pixels or a window.
        rules: None, or a `tictactoe.Rules` or a dict of its fields instead of the arguments that describe the board.

    Vectorised use: `gymnasium.make_vec` makes a `TicTacToeVectorEnv`.

    Raises:
        ValueError: a size, preset, perspective or render mode does not exist, or the board is given twice.
        gymnasium.error.InvalidAction: the action is not a cell; nothing changes.
        gymnasium.error.ResetNeeded: no game has started, or it has ended.
    """

    metadata = {  # noqa: RUF012 (Gymnasium's own declaration)
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
    }

    @passes_on_to(Rules)
    def __init__(
        self,
        *sizes: int,
        rewards: str | Rewards | Mapping[str, float] = "shaped",
        perspective: str = "absolute",
        dict_observation: bool = False,
        render_mode: str | None = None,
        rules: Rules | Mapping[str, Any] | None = None,
        **board: Any,
    ) -> None:
        self.rules = named_rules(rules, *sizes, **board)
        self.rewards = named_rewards(rewards)
        check_perspective(perspective)
        check_render_mode(render_mode, RENDER_MODES)
        self.perspective = perspective
        self.dict_observation = dict_observation
        self.render_mode = render_mode
        self.observation_space = observation_space(self.rules, dict_observation)
        self.action_space = spaces.Discrete(self.rules.cells)  # type: ignore[assignment]
        self._cells = self.rules.cells
        self._window = Window() if render_mode == "human" else None
        self._graph = position_graph(self.rules, self.rewards, perspective)
        self._unbegun = self.node = self._graph.at((0, 0)).copy()
        """The current position, and all that is delivered there; it must not be changed."""
        self.node.end()
        self._last_cell: int | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game; nothing is random, so `seed` changes no game.

        `options["position"]` is the board to start from, [rows, cols, 3], as the seat to move observes it. The numbers
        of marks say which seat that is; `options["seat"]` may say it too.

        Raises:
            ValueError: an option does not exist, or no game can continue from the position; the current game continues.
        """
        self.begin(seed, options)
        return self.observe(self.node.to_play), self.info()

    def begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Start a new game as `reset` does, and return nothing."""
        marks = (0, 0)
        if options is not None:
            check_options(options, OPTIONS)
            marks = checked_start(self.rules, self.perspective, None, options)
        super().reset(seed=seed)
        self.start(marks)

    def start(self, marks: tuple[int, int]) -> None:
        """Start a new game from bitboards that `checked_start` returned."""
        self.node = self._graph.at(marks)
        self._last_cell = None
        if self._window is not None:
            self.render()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Let the seat to move mark the cell `action`."""
        node = self.play(action)
        observation = self.observe(node.to_play) if self.dict_observation else node.seen.copy()
        return observation, node.rewards[0], node.over, False, self.info()

    def play(self, action: int) -> Node:
        """Play one ply as `step` does, and return the node of the position it leads to."""
        # The common case makes no calls: a move that was made from here before, by an int or a sampled action.
        after = self.node.after.get(action) if type(action) in INTEGERS else None
        if after is None:
            if self.node.over:
                what = "no game has started" if self.node is self._unbegun else "the game is over"
                raise gymnasium.error.ResetNeeded(f"{what}: call reset()")
            known = type(action) is int and 0 <= action < self._cells  # `checked_cell` would cost a tenth of the ply
            action = action if known else checked_cell(self._cells, action)
            after = self._graph.play(self.node, action)
        self.node = after
        if not (after.over and after.illegal):  # a taken cell gets no mark
            self._last_cell = action
        if self._window is not None:
            self.render()
        return after

    def abandon(self) -> None:
        """End the game without a result; `reset` starts another."""
        self.node = self.node.copy()
        self.node.end()

    @property
    def to_play(self) -> int:
        """Return the seat to move, 0 or 1."""
        return int(self.node.to_play)

    def action_masks(self) -> NDArray[np.int8]:
        """Return 1 for each legal cell, [rows * cols] int8; all ones when no game is being played."""
        return self.node.mask.copy()

    def info(self) -> dict[str, Any]:
        """Return the `info` of `reset` and `step`."""
        node = self.node
        return {
            "action_mask": node.mask.copy(),
            "to_play": node.to_play,
            "winner": node.winner,
            "illegal": node.illegal.copy(),
        }

    def observe(self, seat: int | np.int64) -> Observation:
        """Return the observation of a seat."""
        node = self.node
        planes = (node.seen if seat == node.to_play else node.seen_by_other).copy()
        return {"observation": planes, "action_mask": self.action_masks()} if self.dict_observation else planes

    def render(self) -> Any:
        """Return the board as text (`"ansi"`), as pixels [height, width, 3] (`"rgb_array"`), or show it (`"human"`)."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() shows nothing without a mode: make the environment with render_mode="ansi"')
            return None
        if self.node is self._unbegun:
            raise gymnasium.error.ResetNeeded("there is no board to render: call reset() before render()")
        image = render(self.render_mode, self.rules, self.node.marks[0], self.node.marks[1], self._last_cell)
        if self._window is None:
            return image
        self._window.show(image, self.metadata["render_fps"])
        return None

    def _repr_html_(self) -> str:
        """Return the board as SVG, which a notebook draws."""
        return board_svg(self.rules, self.node.marks[0], self.node.marks[1], self._last_cell)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()


def observation_space(rules: Rules, dict_observation: bool) -> spaces.Space[Any]:
    """Return the space of one board's one-hot planes, alone or in a dict with its action mask."""
    planes = spaces.Box(0, 1, (rules.rows, rules.cols, 3), np.int8)
    if not dict_observation:
        return planes
    return spaces.Dict({"observation": planes, "action_mask": spaces.Box(0, 1, (rules.cells,), np.int8)})
