"""The vector view: many games of the turn view at once, without a loop over boards."""

from collections.abc import Mapping
from typing import Any

from gymnasium.vector import AutoresetMode

from tictactoe import batch
from tictactoe.envs.backends.bitboards import BitboardGames
from tictactoe.envs.backends.games import Games
from tictactoe.envs.backends.kernels import kernels
from tictactoe.envs.backends.tables import TABLED_CELLS, TabledGames
from tictactoe.envs.turn import TicTacToeEnv
from tictactoe.envs.vector_face import VectorFace, check_vector, named_mode
from tictactoe.rewards import Rewards


class TicTacToeVectorEnv(VectorFace):
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
        rows, cols, k, rewards, perspective, dict_observation: as in `TicTacToeEnv`, for up to 64 cells.
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
    ) -> None:
        check_vector(num_envs, max_episode_steps, render_mode)
        game = TicTacToeEnv(rows, cols, k, rewards, perspective, dict_observation, render_mode)
        batch.check_fits(game.rules)
        games: Games
        if game.rules.cells <= TABLED_CELLS:
            games = TabledGames(game.rules, game.rewards, perspective)
        else:
            games = BitboardGames(game.rules, game.rewards, perspective, kernels())
        super().__init__(games, game, num_envs, named_mode(autoreset_mode), max_episode_steps)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new games on all boards, or on those that `options["reset_mask"]` [N] bool names.

        `options` may also hold the `position` [N, rows, cols, 3] of each board as the seat to move observes it, and
        `seat`, one or [N], which is then checked to be the seat to move.

        Raises:
            ValueError: an option does not exist, or no game can go on from a position; nothing changes.
        """
        chosen, start = self._checked_start(options)
        super().reset(seed=seed)
        return self._start(chosen, start)
