"""The base class of both vector environments: settings, actions, autoreset, `reset(options=...)` and infos."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tictactoe import batch
from tictactoe.actions import checked_cells
from tictactoe.gym.bitboard_games import BitboardGames
from tictactoe.gym.games import Amounts, Cells, Flags, Games, Planes, State
from tictactoe.gym.table_games import TABLE_CELLS, TableGames
from tictactoe.gym.turn import TicTacToeEnv
from tictactoe.names import unknown
from tictactoe.positions import check_options, checked_start
from tictactoe.rendering import VECTOR_RENDER_MODES, check_render_mode, render
from tictactoe.rules import positive_integer

OPTIONS = ("reset_mask", "position", "seat")

VectorStep: TypeAlias = tuple[Any, Amounts, Flags, Flags, dict[str, Any]]
EVERY = slice(None)


class Start(NamedTuple):
    """Where new games start; what it says of boards without a new game is ignored."""

    position: batch.State
    """The positions."""
    seats: Cells | None
    """[N]: the agent's seat in a versus environment; None for the seat of the settings."""


class BaseVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """`N` games with Gymnasium's vector interface, in which the caller plays both seats.

    `game` is a single environment with the settings of each board.
    """

    _seat: int | Literal["random"] | None = None
    """The agent's seat; None if the caller plays both seats."""

    def __init__(
        self,
        game: TicTacToeEnv,
        num_envs: int,
        autoreset_mode: str | AutoresetMode,
        max_episode_steps: int | None,
        render_mode: str | None,
    ) -> None:
        check_render_mode(render_mode, VECTOR_RENDER_MODES)
        self.num_envs = positive_integer("num_envs", num_envs)
        self._limit = None if max_episode_steps is None else positive_integer("max_episode_steps", max_episode_steps)
        batch.check_fits(game.rules)
        self.autoreset_mode = _named_mode(autoreset_mode)
        self.metadata = {
            **game.metadata,
            "render_modes": list(VECTOR_RENDER_MODES),
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode = render_mode
        self.single_observation_space, self.single_action_space = game.observation_space, game.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rules = game.rules
        self._perspective = game.perspective
        self._dict_observation = game.dict_observation
        backend = TableGames if game.rules.cells <= TABLE_CELLS else BitboardGames
        self._games: Games = backend(game.rules, game.rewards, game.perspective)
        self._begun = False
        self._state = self._games.at(batch.reset(game.rules, num_envs, np))
        self._every, self._none = np.ones(num_envs, bool), np.zeros(num_envs, bool)
        self._no_winner = np.full(num_envs, -1)
        # Replaced at each step, never changed.
        self._over = self._none
        """The boards whose game has ended and whose next game has not begun, [N]."""
        self._steps = np.zeros(num_envs, np.int64)
        """The number of steps of each game so far, counted only if there is a limit."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new games on all boards, or on the boards in `options["reset_mask"]` [N] bool.

        `options` may also hold the `position` [N, rows, cols, 3] of each board as the seat to move observes it, and
        `seat`, one or [N]: the agent's seat in these games only, or the seat to move if the caller plays both seats.

        Raises:
            ValueError: an option does not exist, no game can continue from a position, or an opponent's first move
                could end it; nothing changes.
            gymnasium.error.ResetNeeded: the first reset leaves out a board.
        """
        chosen, start = self._every, None
        if options is not None:
            chosen = _chosen_boards(options, self.num_envs)
            start = self._checked_start(options, chosen)
        if not self._begun and not chosen.all():
            raise gymnasium.error.ResetNeeded("no game is being played: call reset() without a reset_mask first")
        super().reset(seed=seed)
        self._state = self._started(self._state, chosen, start)  # first: an opponent that moves now can fail
        self._over = self._over & ~chosen
        self._steps = np.where(chosen, 0, self._steps)
        self._begun = True
        return self._told(self._no_winner.copy(), self._none.copy())

    def _started(self, state: State, chosen: Flags, start: Start | None = None) -> State:
        """Return the state with new games on the chosen boards, [N]."""
        return np.where(chosen, 0 if start is None else self._games.at(start.position), state)

    def _played(self, cells: Cells) -> tuple[State, Amounts]:
        """Return the state after the moves, [N], and their rewards; where a game was over, a new one starts."""
        state = self._games.move(self._state, cells)
        if self._limit is not None:  # a game that was only truncated would continue
            state = np.where(self._over, 0, state)
        return state, self._games.reward[self._games.code(state)]

    def _look(self, state: State, boards: slice | NDArray[np.intp] = EVERY) -> tuple[Planes, Planes]:
        """Return the one-hot planes and the action masks of some boards."""
        return self._games.look(state[..., boards], None)

    def _checked_start(self, options: Mapping[str, Any], chosen: Flags) -> Start | None:
        """Return where the chosen boards start; None for the empty board and the seats of the settings."""
        if "position" not in options and "seat" not in options:
            return None
        boards, rules = self.num_envs, self._rules
        positions, seats = options.get("position"), options.get("seat")
        if positions is not None and (not hasattr(positions, "__len__") or len(positions) != boards):
            raise ValueError(f"position must hold {boards} boards, [{boards}, {rules.rows}, {rules.cols}, 3]")
        if seats is not None:
            if np.shape(seats) not in ((), (boards,)):
                raise ValueError(f"option seat must be one seat, or one for each of {boards} boards, got {seats!r}")
            seats = np.broadcast_to(seats, boards)
        given = {name: each for name, each in (("position", positions), ("seat", seats)) if each is not None}
        words = [(0, 0, 0)] * boards
        for board in np.flatnonzero(chosen):
            of_board = {name: each[board] for name, each in given.items()}
            try:
                x_marks, o_marks = checked_start(rules, self._perspective, self._seat, of_board)
            except ValueError as error:
                raise ValueError(f"board {board}: {error}") from None
            ply = (x_marks | o_marks).bit_count()
            words[board] = (o_marks, x_marks, ply) if ply & 1 else (x_marks, o_marks, ply)
        return Start(batch.State(*np.array(words, np.uint64).view(np.int64).T), seats)

    def step(self, actions: Any) -> VectorStep:
        """Mark one cell on each board, `actions` [N], and start new games as the autoreset mode says.

        Raises:
            gymnasium.error.InvalidAction: the actions are not one cell for each board; nothing changes.
            gymnasium.error.ResetNeeded: no game has started, or with `"Disabled"` a game is over.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("no game is being played: call reset() before step()")
        if self.autoreset_mode is AutoresetMode.DISABLED and np.count_nonzero(self._over):
            raise gymnasium.error.ResetNeeded(
                f"{self._over.sum()} games are over, the first on board {self._over.argmax()}: "
                "call reset(options={'reset_mask': terminated | truncated}) before step()"
            )
        cells = checked_cells(self._rules.cells, actions, self.num_envs, ignored=self._over)
        state, reward = self._played(cells)
        code = self._games.code(state)
        terminated: Flags = self._games.finished[code]
        truncated, ended = self._none.copy(), terminated
        if self._limit is not None:
            steps = np.where(self._over, 0, self._steps + 1)  # a step that starts a game does not count
            truncated = steps >= self._limit
            ended = terminated | truncated
            self._steps = np.where(ended, 0, steps)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            final = {}
            if np.count_nonzero(ended):
                final = self._final(state, ended)
                state = self._started(state, ended)
            self._state = state
            observation, info = self._told(self._no_winner.copy(), self._none.copy())
            return observation, reward, terminated, truncated, final | info
        self._state, self._over = state, ended.copy()
        observation, info = self._told(self._games.winner[code], self._games.illegal[code])
        return observation, reward, terminated, truncated, info

    def _final(self, state: State, ended: Flags) -> dict[str, Any]:
        """Return the last observation and info of each game that has ended, as Gymnasium's own vectors do."""
        boards, code = ended.nonzero()[0], self._games.code(state)
        seen, legal = self._look(state, boards)
        each: Any = seen
        if self._dict_observation:
            each = [{"observation": one, "action_mask": left} for one, left in zip(seen, legal, strict=True)]
        mask = np.zeros((self.num_envs, self._rules.cells), np.int8)
        mask[boards] = legal
        final_obs = np.empty(self.num_envs, dtype=object)
        final_obs[boards] = np.fromiter(each, dtype=object, count=len(boards))
        final_info = self._info(ended, code, mask, self._games.winner[code], self._games.illegal[code])
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": final_info,
            "_final_info": ended.copy(),
        }

    def _told(self, winner: Cells, illegal: Flags) -> tuple[Any, dict[str, Any]]:
        """Return the observations and the `info` of every ply."""
        planes, mask = self._look(self._state)
        info = self._info(self._every, self._games.code(self._state), mask, winner, illegal)
        if self._dict_observation:
            return {"observation": planes, "action_mask": mask.copy()}, info
        return planes, info

    def _info(self, held: Flags, code: Cells, mask: Planes, winner: Cells, illegal: Flags) -> dict[str, Any]:
        """Return an `info` with Gymnasium's flags for the boards that it holds, [N]."""
        return {
            "action_mask": mask,
            "_action_mask": held.copy(),
            "to_play": self._games.to_play[code],
            "_to_play": held.copy(),
            "winner": winner,
            "_winner": held.copy(),
            "illegal": illegal,
            "_illegal": held.copy(),
        }

    def action_masks(self) -> Planes:
        """Return 1 for each legal cell, [N, A] int8; all ones on a board without a game."""
        return self._look(self._state)[1]

    def render(self) -> tuple[Any, ...] | None:
        """Return each board as text (`"ansi"`) or as pixels (`"rgb_array"`)."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() shows nothing without a mode: make the vector with render_mode="ansi"')
            return None
        if not self._begun:
            raise gymnasium.error.ResetNeeded("there are no boards to render: call reset() before render()")
        images = []
        for position in zip(*(part.tolist() for part in self._games.position(self._state)), strict=True):
            mover, opponent = (marks & self._rules.full_board for marks in position[:2])
            x_and_o = (opponent, mover) if position[2] & 1 else (mover, opponent)
            images.append(render(self.render_mode, self._rules, *x_and_o))
        return tuple(images)


def _named_mode(autoreset_mode: str | AutoresetMode) -> AutoresetMode:
    """Return the autoreset mode of a name such as `"SameStep"`, or the mode itself."""
    try:
        return AutoresetMode(autoreset_mode)
    except ValueError:
        names = [mode.value for mode in AutoresetMode]
        raise ValueError(unknown("autoreset_mode", autoreset_mode, names)) from None


def _chosen_boards(options: Mapping[str, Any], boards: int) -> Flags:
    """Return the boards that start a new game, [N]: those in `reset_mask`, or all."""
    check_options(options, OPTIONS)
    if "reset_mask" not in options:
        return np.ones(boards, bool)
    chosen = options["reset_mask"]
    if not isinstance(chosen, np.ndarray) or chosen.shape != (boards,) or chosen.dtype != bool:
        raise ValueError(f"reset_mask must be a NumPy array of {boards} bools, got {chosen!r}")
    if not chosen.any():
        raise ValueError("reset_mask names no board: at least one element must be True")
    return chosen
