"""The vector form of the versus view: many games against an opponent at once, without a loop over boards."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tictactoe import batch
from tictactoe.actions import checked_cells
from tictactoe.faces.specification import json_spec
from tictactoe.faces.turn import TicTacToeEnv
from tictactoe.faces.vector_face import VectorFace, VectorStep, check_vector, named_mode, vector_metadata
from tictactoe.faces.vector_games import EVERY, BitboardGames, Boards, Cells, Flags, Planes, Results, restarted
from tictactoe.faces.versus import TicTacToeVersusEnv, check_opponent
from tictactoe.opponents import OPPONENTS, pick

BatchOpponent: TypeAlias = Callable[[Planes, Planes], Any]
"""Maps what the opponent sees on `M` boards, observations [M, R, C, 3] and masks [M, A], to its cells [M]."""


class TicTacToeVersusVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """Play one seat of `num_envs` games against an opponent that answers inside `step`.

    `opponent`, `seat` and the other settings are those of `TicTacToeVersus-v0`; `autoreset_mode`, `reset_mask` and
    the leading axis over the boards are as in the vector form of `TicTacToe-v0`. `set_opponent` takes a
    function of many boards at once, such as the `act` of a trained agent. All randomness comes from the
    environment's own generator, which `reset(seed=...)` seeds: one stream for all boards.

    Raises:
        ValueError: a setting does not exist, the board has more than 64 cells, or the opponent is
            `"optimal"` on a board of over 16.
        gymnasium.error.InvalidAction: the actions, or the opponent's, are not one cell for each board; nothing changes.
        gymnasium.error.ResetNeeded: there is no game, or with autoreset disabled one has ended.
    """

    spec = json_spec

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        opponent: str = "random",
        seat: int | Literal["random"] = 0,
        **settings: Any,
    ) -> None:
        check_vector(num_envs, settings)
        single = TicTacToeVersusEnv(opponent, seat, **settings)
        batch.check_fits(single.game.rules)
        self.num_envs = num_envs
        self.autoreset_mode = named_mode(autoreset_mode)
        self.metadata = vector_metadata(self.autoreset_mode)
        self.render_mode = settings.get("render_mode")
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._games = VersusGames(single.game, opponent, seat, num_envs)
        self._face = VectorFace(self._games, single.game, num_envs, self.autoreset_mode)

    @property
    def seats(self) -> Cells:
        """Return the agent's seat on each board, [N] int64."""
        return self._games.seats.copy()

    def set_opponent(self, opponent: str | BatchOpponent) -> None:
        """Play against another opponent from the next reply on: a name, or a function of what it sees."""
        check_opponent(opponent, self._games.rules)
        self._games.opponent = opponent

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new games; on boards where the agent has seat 1 the opponent has moved already."""
        super().reset(seed=seed)
        self._games.generator = self.np_random
        return self._face.reset(options)

    def step(self, actions: Any) -> VectorStep:
        """Mark the cell `actions` [N] on each board and let the opponent reply."""
        return self._face.step(actions)

    def action_masks(self) -> Planes:
        """Return 1 for each empty cell, [N, rows * cols] int8; all ones on a board on which no game is played."""
        return self._face.action_masks()

    def render(self) -> tuple[Any, ...] | None:
        """Return a drawing of each board: text in the `"ansi"` mode, pixels in `"rgb_array"`."""
        return self._face.render()


class VersusGames:
    """Play one seat on every board and let an opponent answer; the state is that of `tictactoe.batch`."""

    def __init__(self, game: TicTacToeEnv, opponent: str, seat: int | Literal["random"], boards: int) -> None:
        self.rules = game.rules
        self.opponent: str | BatchOpponent = opponent
        self.generator = np.random.default_rng()
        self.seats: Cells = np.zeros(boards, np.int64)
        self._seat = seat
        self._rewards = game.rewards
        self._perspective = game.perspective
        self._both = BitboardGames(game.rules, game.rewards, game.perspective)

    def empty_boards(self, number: int) -> batch.State:
        """Return the state of so many empty boards."""
        return self._both.empty_boards(number)

    def start(self, state: batch.State, chosen: Flags) -> batch.State:
        """Return the state with new games on the chosen boards, in which an opponent of seat 0 has moved."""
        if self._seat == "random":
            seats = np.where(chosen, self.generator.integers(2, size=len(chosen)), self.seats)
        else:
            seats = np.full(len(chosen), self._seat)
        begun = self._reply(batch.restart(state, chosen), chosen & (seats == 1)).state
        self.seats = seats  # only now, for an opponent that fails leaves every game as it was
        return begun

    def play(self, state: batch.State, cells: Cells, over: Flags) -> Results:
        """Return what the agent's moves and the replies to them do."""
        own = batch.play(self.rules, state, cells)
        own_reward = batch.reward(self._rewards, own)
        due = ~(own.terminated | over)
        reply = self._reply(own.state, due)
        winner: Any = np.where(due, batch.winner(1 - self.seats, reply), batch.winner(self.seats, own))
        results = Results(
            reply.state,
            np.where(due & reply.win, own_reward + self._rewards.loss, own_reward),
            own.terminated | (due & reply.terminated),
            winner,
            own.illegal | (due & reply.illegal),
        )
        return restarted(results, over, self.start(reply.state, over)) if over.any() else results

    def observe(self, state: batch.State, boards: Boards = EVERY) -> Planes:
        """Return the one-hot planes as the agent's seat sees them."""
        # After a game's last move the opponent may be the one to move; the agent still sees its own marks as mine.
        turned = batch.State(state.opponent, state.mover, self.seats)
        return self._both.observe(batch.where(state.to_play != self.seats, turned, state), boards)

    def action_mask(self, state: batch.State, over: Flags) -> Planes:
        """Return the action masks."""
        return self._both.action_mask(state, over)

    def to_play(self, state: batch.State) -> Cells:
        """Return the seat to move, the agent's while the game goes on."""
        return self._both.to_play(state)

    def marks(self, state: batch.State) -> tuple[Cells, Cells]:
        """Return the bitboards of X and of O."""
        return self._both.marks(state)

    def _reply(self, state: batch.State, due: Flags) -> batch.Outcome:
        """Let the opponent move where it is due; the other boards stay, and what is said of them means nothing."""
        outcome = batch.play(self.rules, state, self._opponents_cells(state, due))
        return outcome._replace(state=batch.where(due, outcome.state, state))

    def _opponents_cells(self, state: batch.State, due: Flags) -> Cells:
        if isinstance(self.opponent, str):
            choices = OPPONENTS[self.opponent](self.rules, state.mover, state.opponent)
            return pick(self.rules.cells, choices, self.generator)
        cells = np.zeros(len(due), np.int64)
        if due.any():
            asked = batch.State(*(field[due] for field in state))
            mask = batch.action_mask(self.rules, asked).view(np.int8)
            answer = self.opponent(batch.observe(self.rules, asked, self._perspective), mask)
            try:
                cells[due] = checked_cells(self.rules.cells, answer, len(mask))
            except gymnasium.error.InvalidAction as error:
                raise gymnasium.error.InvalidAction(f"the opponent's {error}") from None
        return cells
