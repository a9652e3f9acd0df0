"""The vector form of the versus view: many games against an opponent at once, without a loop over boards."""

from typing import Any, Literal

import numpy as np
from gymnasium.error import InvalidAction
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from tictactoe.actions import checked_cells
from tictactoe.gym.arguments import passes_on_to
from tictactoe.gym.base_vector import EVERY, BaseVectorEnv, Start
from tictactoe.gym.games import Amounts, Cells, Flags, Planes, Reply, State
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
        super().__init__(game, num_envs, autoreset_mode, max_episode_steps, render_mode)
        self._seat = seat
        self._seats: Cells = np.zeros(num_envs, np.int64)
        self.set_opponent(opponent)

    @property
    def seats(self) -> Cells:
        """Return the agent's seat on each board, [N] int64."""
        return self._seats.copy()

    def set_opponent(self, opponent: str | Opponent) -> None:
        """Set the opponent from the next reply on: a name or an agent."""
        check_opponent(opponent, self._rules)
        asked = built_in_or_asked(opponent)
        self._built_in: Reply | None = self._games.built_in(asked) if isinstance(asked, str) else None
        self._opponent = asked

    def _started(self, state: State, chosen: Flags, start: Start | None = None) -> State:
        """Return the state with new games on the chosen boards, [N], after the opponent's first moves.

        Raises:
            gymnasium.error.InvalidAction: the opponent's first move ended a game; nothing changes.
        """
        begun = super()._started(state, chosen, start)
        if start is None and self._seat == 0 and not np.count_nonzero(self._seats):
            return begun
        new: Any = self._seat
        if start is not None and start.seats is not None:
            new = start.seats
        elif new == "random":
            new = self.np_random.integers(2, size=len(chosen))
        seats = np.where(chosen, new, self._seats)
        due = chosen & (self._games.to_play[self._games.code(begun)] != seats)
        if due.any():
            begun = np.where(due, self._replied(begun, ~due), begun)
            ended = due & self._games.finished[self._games.code(begun)]
            if ended.any():
                raise InvalidAction(
                    f"the opponent's first action is a taken cell for board {ended.argmax()}, "
                    "and reset cannot return a finished game"
                )
        self._seats = seats  # only now: an opponent that fails must leave every game as it was
        return begun

    def _played(self, cells: Cells) -> tuple[State, Amounts]:
        """Return the state after the moves, [N], and the replies, and what both pay."""
        games, over = self._games, self._over
        own, reward = super()._played(cells)
        state = self._replied(own, over)
        if np.count_nonzero(over):
            state = np.where(over, self._started(own, over), state)
        if games.replies_pay:
            answered = ~(over | games.finished[games.code(own)])
            reward = reward + np.where(answered, games.other_reward[games.code(state)], 0.0)
        return state, reward

    def _replied(self, state: State, spared: Flags) -> State:
        """Return the state after the opponent's moves; it has no meaning on the spared boards, [N].

        Raises:
            gymnasium.error.InvalidAction: an agent's answers are not one cell for each board.
        """
        if self._built_in is not None:
            return self._built_in(state, self.np_random)
        due = (~(spared | self._games.finished[self._games.code(state)])).nonzero()[0]
        if not len(due):
            return state
        before = state[..., due]
        seen, mask = self._games.look(before, None)
        try:
            cells = checked_cells(self._rules.cells, self._opponent(seen, mask), len(due))
        except InvalidAction as error:
            raise InvalidAction(f"the opponent's {error}") from None
        after = state.copy()
        after[..., due] = self._games.move(before, cells)
        return after

    def _look(self, state: State, boards: slice | NDArray[np.intp] = EVERY) -> tuple[Planes, Planes]:
        """Return what the agent sees of some boards, also if it is the opponent's turn at the end."""
        return self._games.look(state[..., boards], self._seats[boards])
