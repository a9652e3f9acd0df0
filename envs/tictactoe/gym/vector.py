"""The vector form of the turn view: many games at once, without a loop over boards."""

from typing import Any

from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from tictactoe.gym.arguments import passes_on_to
from tictactoe.gym.base_vector import BaseVectorEnv
from tictactoe.gym.turn import TicTacToeEnv


class TicTacToeVectorEnv(BaseVectorEnv, VectorEnv[Any, Any, NDArray[Any]]):
    """`N` games of the turn view at once: `gymnasium.make_vec("tictactoe:TicTacToe-v0", num_envs=N)`.

    Action space: MultiDiscrete of N cells, [N]. With `"NextStep"` the action of a board that starts a game is ignored.
    Observation space: Box(0, 1, (N, rows, cols, 3), int8), or a dict: as in `TicTacToeEnv`, for each board.
    Rewards: [N] float64, to the seats that moved.
    Starting state: the empty boards, or `reset(options=...)`: `reset_mask` [N] bool, the boards that start a new game;
        `position` [N, rows, cols, 3]; `seat`, one or [N].
    Episode end: as in `TicTacToeEnv`; truncations are all False without `max_episode_steps`.
    Information: as in `TicTacToeEnv`, each key [N] and with Gymnasium's flags; with `"SameStep"` also `final_obs` and
        `final_info` of games that ended in this step. The mask of a truncated game shows the legal cells.

    Arguments:
        num_envs: N, the number of boards, from 1.
        autoreset_mode: when a board starts its next game. `"NextStep"`: in the step after the end. `"SameStep"`: in the
            step that ends a game. `"Disabled"`: when you call `reset` with `reset_mask`. Or an `AutoresetMode`.
        max_episode_steps: the number of steps after which a game is truncated, from 1; None for never.
        The others: as in `TicTacToeEnv`, for boards of up to 64 cells.
        render_mode: as in `TicTacToeEnv`, but no window.

    Raises:
        ValueError: a setting does not exist, or the board has more than 64 cells.
        gymnasium.error.InvalidAction: the actions are not one cell for each board; nothing changes.
        gymnasium.error.ResetNeeded: no game has started, or with `"Disabled"` a game has ended.
    """

    @passes_on_to(TicTacToeEnv)
    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        *sizes: int,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        game = TicTacToeEnv(*sizes, **settings)
        super().__init__(game, num_envs, autoreset_mode, max_episode_steps, render_mode)
