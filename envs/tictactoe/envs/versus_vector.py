"""The vector form of the versus view: many games against an opponent at once, without a loop over boards."""

from collections.abc import Mapping
from typing import Any, Literal

from gymnasium.vector import AutoresetMode

from tictactoe import batch
from tictactoe.envs.backends.games import Cells
from tictactoe.envs.backends.kernels import kernels
from tictactoe.envs.backends.tables import TABLED_CELLS
from tictactoe.envs.backends.versus_bitboards import BitboardVersus
from tictactoe.envs.backends.versus_games import BatchOpponent, VersusGames
from tictactoe.envs.backends.versus_tables import TabledVersus
from tictactoe.envs.vector_face import VectorFace, check_vector, named_mode
from tictactoe.envs.versus import TicTacToeVersusEnv, check_opponent
from tictactoe.rewards import Rewards


class TicTacToeVersusVectorEnv(VectorFace):
    """Play one seat of `N` games at once: `gymnasium.make_vec("tictactoe:TicTacToeVersus-v0", num_envs=N)`.

    Action space: MultiDiscrete of N cells, [N], as in `TicTacToeVectorEnv`.
    Observation space: Box(0, 1, (N, rows, cols, 3), int8), or a dict, as in `TicTacToeVectorEnv`.
    Rewards: [N] float64, of the agent's own moves, plus `loss` where the reply wins.
    Starting state: as in `TicTacToeVersusEnv`, or `reset(options=...)`: `reset_mask` [N] bool, `position`
        [N, rows, cols, 3], and `seat`, one or [N]. `reset(seed=...)` seeds one stream for all boards.
    Episode end: as in `TicTacToeVectorEnv`.
    Information: as in `TicTacToeVectorEnv`; the agent's seats are `seats` [N].

    Arguments:
        opponent: as in `TicTacToeVersusEnv`; `set_opponent` takes a function of the M boards on which the opponent is
            to move, observations [M, rows, cols, 3] and masks [M, rows * cols] to cells [M], such as an agent's `act`.
        seat: as in `TicTacToeVersusEnv`.
        num_envs, autoreset_mode, max_episode_steps, render_mode: as in `TicTacToeVectorEnv`.
        rows, cols, k, rewards, perspective, dict_observation: as in `TicTacToeEnv`, for up to 64 cells.

    Raises:
        ValueError: a setting does not exist, or the board has more than 64 cells.
        ImportError: the opponent is `"optimal"` on a board of over 16 cells, and Numba is not installed.
        gymnasium.error.InvalidAction: the actions, or the opponent's, are not one cell for each board; nothing changes.
        gymnasium.error.ResetNeeded: there is no game, or with autoreset disabled one has ended.
    """

    _games: VersusGames[Any]

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        opponent: str = "random",
        seat: int | Literal["random"] = 0,
        rows: int = 3,
        cols: int = 3,
        k: int = 3,
        rewards: str | Rewards | Mapping[str, float] = "shaped",
        perspective: str = "absolute",
        dict_observation: bool = False,
        render_mode: str | None = None,
    ) -> None:
        check_vector(num_envs, max_episode_steps, render_mode)
        game = TicTacToeVersusEnv(
            opponent,
            seat,
            rows=rows,
            cols=cols,
            k=k,
            rewards=rewards,
            perspective=perspective,
            dict_observation=dict_observation,
            render_mode=render_mode,
        ).game
        batch.check_fits(game.rules)
        settings = (game.rules, game.rewards, perspective, seat, num_envs)
        tabled = game.rules.cells <= TABLED_CELLS
        games: VersusGames[Any] = TabledVersus(*settings) if tabled else BitboardVersus(*settings, kernels())
        games.set_opponent(opponent)
        super().__init__(games, game, num_envs, named_mode(autoreset_mode), max_episode_steps, seat)

    @property
    def seats(self) -> Cells:
        """Return the agent's seat on each board, [N] int64."""
        return self._games.seats.copy()

    def set_opponent(self, opponent: str | BatchOpponent) -> None:
        """Play against another opponent from the next reply on: a name, or a function of what it sees."""
        check_opponent(opponent, self._rules)
        self._games.set_opponent(opponent)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new games; on boards where the agent is not to move the opponent has moved already.

        `options` may hold `reset_mask` [N] bool, the `position` [N, rows, cols, 3] of each board as the seat to move
        observes it, and `seat`, 0 or 1, one or [N]: the agent's in these games alone.

        Raises:
            ValueError: an option does not exist, no game can go on from a position, or the opponent's first move
                could end it; nothing changes.
        """
        chosen, start = self._checked_start(options)
        super().reset(seed=seed)
        self._games.generator = self.np_random
        return self._start(chosen, start)
