"""The vector form of the versus view: many games against an opponent at once, without a loop over boards."""

from typing import Any, Literal

from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from tictactoe.gym.arguments import passes_on_to
from tictactoe.gym.base_vector import BaseVectorEnv
from tictactoe.gym.games import Cells
from tictactoe.gym.versus import Opponent, TicTacToeVersusEnv, built_in_or_asked, check_opponent


class TicTacToeVersusVectorEnv(BaseVectorEnv, VectorEnv[Any, Any, NDArray[Any]]):
    """`N` games of the versus view at once: `gymnasium.make_vec("tictactoe:TicTacToeVersus-v0", num_envs=N)`.

    Action space: MultiDiscrete of N cells, [N], as in `TicTacToeVectorEnv`.
    Observation space: Box(0, 1, (N, rows, cols, 3), int8), or a dict, as in `TicTacToeVectorEnv`.
    Rewards: [N] float64, of the agent's own moves, plus what the replies pay to it.
    Starting state: as in `TicTacToeVersusEnv`, or `reset(options=...)`: `reset_mask` [N] bool, `position`
        [N, rows, cols, 3], and `seat`, one or [N]. `reset(seed=...)` seeds all boards at once.
    Episode end: as in `TicTacToeVectorEnv`.
    Information: as in `TicTacToeVectorEnv`; the attribute `seats` [N] holds the agent's seats.

    Arguments:
        opponent: as in `TicTacToeVersusEnv`, but a function or `act` gets the observations [M, rows, cols, 3] and masks
            [M, rows * cols] of all M boards on which the opponent is to move, and returns cells [M].
        seat: as in `TicTacToeVersusEnv`.
        num_envs, autoreset_mode, max_episode_steps, render_mode: as in `TicTacToeVectorEnv`.
        The others: as in `TicTacToeEnv`, for boards of up to 64 cells.

    Raises:
        ValueError: a setting does not exist, or the board has more than 64 cells.
        ImportError: the opponent is `"optimal"` on a board of over 16 cells, and Numba is not installed.
        gymnasium.error.InvalidAction: the actions, or the opponent's, are not one cell for each board; nothing changes.
        gymnasium.error.ResetNeeded: no game has started, or with `"Disabled"` a game has ended.
    """

    @passes_on_to(TicTacToeVersusEnv)
    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        opponent: str | Opponent = "random",
        seat: int | Literal["random"] = 0,
        *sizes: int,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        game = TicTacToeVersusEnv(opponent, seat, *sizes, **settings).game
        super().__init__(game, num_envs, autoreset_mode, max_episode_steps, render_mode, seat)
        self.set_opponent(opponent)

    @property
    def seats(self) -> Cells:
        """Return the agent's seat on each board, [N] int64."""
        return self._games.seats.copy()

    def set_opponent(self, opponent: str | Opponent) -> None:
        """Set the opponent from the next reply on: a name or an agent."""
        check_opponent(opponent, self._rules)
        self._games.set_opponent(built_in_or_asked(opponent))
