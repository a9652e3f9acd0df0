"""The vector view: many games of the turn view at once, without a loop over boards."""

from collections.abc import Mapping

from gymnasium.vector import AutoresetMode

from tictactoe.envs.base_vector import BaseVectorEnv
from tictactoe.envs.turn import TicTacToeEnv
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules


class TicTacToeVectorEnv(BaseVectorEnv):
    """Play `N` games of the turn view, one ply on each at every step: `make_vec("tictactoe:TicTacToe-v0", num_envs=N)`.

    Action space: MultiDiscrete of N cells, [N]. That of a board that starts a new game in the same call is ignored.
    Observation space: Box(0, 1, (N, rows, cols, 3), int8), or a dict: as in `TicTacToeEnv`, for each board.
    Rewards: [N] float64, to the seats that acted.
    Starting state: the empty boards, or `reset(options=...)`: `reset_mask` [N] bool, the boards that start a new game;
        `position` [N, rows, cols, 3]; `seat`, one or [N].
    Episode end: as in `TicTacToeEnv`; truncations are all False without `max_episode_steps`.
    Information: as in `TicTacToeEnv`, each key [N] and with Gymnasium's flags; with `"SameStep"` also `final_obs` and
        `final_info` where a game has ended. A game that is truncated keeps its mask.

    Arguments:
        num_envs: N, from 1.
        autoreset_mode: `"NextStep"`, `"SameStep"` or `"Disabled"`, or Gymnasium's `AutoresetMode`.
        max_episode_steps: after how many steps a game is truncated, from 1; None for never.
        rows, cols, k, rewards, perspective, dict_observation, rules: as in `TicTacToeEnv`, for up to 64 cells.
        render_mode: None, `"ansi"` or `"rgb_array"`.

    Raises:
        ValueError: a setting does not exist, or the board has more than 64 cells.
        gymnasium.error.InvalidAction: the actions are not one cell for each board; nothing changes.
        gymnasium.error.ResetNeeded: there is no game, or with autoreset disabled one has ended.
    """

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        rows: int = 3,
        cols: int = 3,
        k: int = 3,
        rewards: str | Rewards | Mapping[str, float] = "shaped",
        perspective: str = "absolute",
        dict_observation: bool = False,
        render_mode: str | None = None,
        rules: Rules | None = None,
    ) -> None:
        game = TicTacToeEnv(rows, cols, k, rewards, perspective, dict_observation, rules=rules)
        super().__init__(game, num_envs, autoreset_mode, max_episode_steps, render_mode)
