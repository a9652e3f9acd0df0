"""The versus view: a single-agent Gymnasium environment in which the opponent answers inside `step`."""

from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np

from tictactoe.actions import checked_cells
from tictactoe.gym.arguments import passes_on_to
from tictactoe.gym.position_graph import Node, Planes
from tictactoe.gym.turn import OPTIONS, Observation, TicTacToeEnv
from tictactoe.masks import taking_mask
from tictactoe.names import unknown
from tictactoe.opponents import OPPONENTS
from tictactoe.positions import check_first_reply, check_options, checked_start, is_seat
from tictactoe.rules import Rules

Opponent: TypeAlias = Any
"""An object with `act`, which maps observations [B, rows, cols, 3], and action masks [B, rows * cols] if it takes them,
to cells [B]; or a function from one observation, and its mask if it takes it, to a cell. Which parameter takes the mask
says `tictactoe.masks.mask_parameter`."""


class TicTacToeVersusEnv(gymnasium.Env[Observation, int]):
    """An m,n,k game against an opponent, who answers in `step`: `gymnasium.make("tictactoe:TicTacToeVersus-v0")`.

    Action space: Discrete(rows * cols), as in `TicTacToeEnv`.
    Observation space: Box(0, 1, (rows, cols, 3), int8), as the agent's seat sees it, or a dict, as in `TicTacToeEnv`.
    Rewards: a float, the reward of the agent's own move, plus what the reply pays to it.
    Starting state: the empty board, with the opponent's first mark if the agent has seat 1, or `reset(options=...)`:
        `position`, and `seat`, the agent's seat in this game only. `reset(seed=...)` seeds everything random.
    Episode end: as in `TicTacToeEnv`, by the agent's move or the reply.
    Information: as in `TicTacToeEnv`; the attribute `seat` is the agent's seat.

    Arguments:
        opponent: a built-in opponent, from `"random"` to `"optimal"`: the names in `tictactoe.opponents.OPPONENTS`.
            `"optimal"` plays on boards of up to 64 cells. Or an agent: an object with `act(observation, action_mask)`,
            which gets a batch of one board, or a function of one observation. It gets the mask if it has a required
            second parameter, or one named `action_mask`, `mask` or `legal_mask`. It observes the board from its own
            seat, in this `perspective`.
        seat: 0, 1 or `"random"`, sampled for each game; with `k=1` only 0.
        The others: as in `TicTacToeEnv`.

    Vectorised use: `gymnasium.make_vec` makes a `TicTacToeVersusVectorEnv`.

    Raises:
        ValueError: a setting does not exist, or the opponent is `"optimal"` on a board of over 64 cells.
        ImportError: the opponent is `"optimal"` on a board of over 16 cells, and Numba is not installed.
        gymnasium.error.InvalidAction: the action is not a cell, and nothing changes; or the opponent's reply is not
            a cell, and the game is over without a result.
        gymnasium.error.ResetNeeded: no game has started, or it has ended.
    """

    metadata = TicTacToeEnv.metadata

    @passes_on_to(TicTacToeEnv)
    def __init__(
        self,
        opponent: str | Opponent = "random",
        seat: int | Literal["random"] = 0,
        *sizes: int,
        **settings: Any,
    ) -> None:
        self.game = TicTacToeEnv(*sizes, **settings)
        """The game of both seats; its `play` moves for the seat to move."""
        check_seat(seat, self.game.rules)
        self.set_opponent(opponent)
        self._seat = seat
        self.seat = 0
        self.render_mode = self.game.render_mode
        self.observation_space = self.game.observation_space
        self.action_space = self.game.action_space

    def set_opponent(self, opponent: str | Opponent) -> None:
        """Set the opponent from the next reply on: a name or an agent."""
        check_opponent(opponent, self.game.rules)
        self._opponent = built_in_or_asked(opponent)
        self._in_batches = hasattr(opponent, "act")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game; if the agent is not to move first, the opponent makes its first move.

        `options["position"]` is the board to start from, [rows, cols, 3], as the seat to move observes it.
        `options["seat"]`, 0 or 1, is the agent's seat in this game only.

        Raises:
            ValueError: an option does not exist, no game can continue from the position, or the opponent's first move
                could end it; the current game continues.
        """
        seat, marks = self._seat, (0, 0)
        if options is not None:
            check_options(options, OPTIONS)
            marks = checked_start(self.game.rules, self.game.perspective, seat, options)
            seat = options.get("seat", seat)
        super().reset(seed=seed)
        self.seat = int(self.np_random.integers(2)) if seat == "random" else int(seat)
        self.game.start(marks)
        if self.seat != self.game.to_play and self._answer().over:
            raise gymnasium.error.InvalidAction(
                "the opponent's first action is a taken cell, and reset cannot return a finished game"
            )
        return self.game.observe(self.seat), self.game.info()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Mark the cell `action` and let the opponent reply."""
        node = self.game.play(action)
        reward, _ = node.rewards
        if not node.over:
            node = self._answer()
            _, of_reply = node.rewards
            reward += of_reply
        return self.game.observe(self.seat), reward, node.over, False, self.game.info()

    def _answer(self) -> Node:
        """Let the opponent move; if it fails, end the game, or the agent would move in its place."""
        try:
            return self.game.play(self._reply())
        except gymnasium.error.InvalidAction as error:
            self.game.abandon()
            raise gymnasium.error.InvalidAction(f"the opponent's {error}") from None
        except BaseException:
            self.game.abandon()
            raise

    def _reply(self) -> Any:
        """Return the opponent's cell in the current position."""
        node = self.game.node
        if not isinstance(self._opponent, str):
            seen, mask = node.seen.copy(), node.mask.copy()
            if not self._in_batches:
                return self._opponent(seen, mask)
            return int(checked_cells(len(mask), np.ravel(self._opponent(seen[None], mask[None])), 1)[0])
        cells = node.choices.get(self._opponent)
        if cells is None:
            rules, to_play = self.game.rules, self.game.to_play
            choices = OPPONENTS[self._opponent].choices(rules, node.marks[to_play], node.marks[1 - to_play])
            cells = rules.cells_of(int(choices))
            if node.kept:
                node.choices[self._opponent] = cells
        return cells[int(self.np_random.random() * len(cells))]  # faster than `integers`

    def action_masks(self) -> Planes:
        """Return 1 for each legal cell, [rows * cols] int8; all ones when no game is being played."""
        return self.game.action_masks()

    def render(self) -> Any:
        """Return or show the board, as `TicTacToeEnv.render` does; a window shows each ply."""
        return self.game.render()

    def _repr_html_(self) -> str:
        """Return the board for a notebook."""
        return self.game._repr_html_()

    def close(self) -> None:
        """Close the window, if there is one."""
        self.game.close()


def check_seat(seat: object, rules: Rules) -> None:
    """Refuse a seat that does not exist, or in which the opponent's first move could end the game.

    Raises:
        ValueError: it is not 0, 1 or `"random"`, or with `k=1` it is not 0.
    """
    if not is_seat(seat) and not (isinstance(seat, str) and seat == "random"):
        raise ValueError(f"unknown seat {seat!r}: choose 0, 1 or 'random'")
    if seat != 0:
        check_first_reply(rules, 0, 0)


def check_opponent(opponent: object, rules: Rules) -> None:
    """Refuse an opponent that does not exist or cannot play this board.

    Raises:
        ValueError: it is neither a known name nor an agent, or `"optimal"` on a board of over 64 cells.
        ImportError: it is `"optimal"` on a board of over 16 cells, and Numba is not installed.
    """
    function = callable(opponent) and not hasattr(opponent, "forward")  # a module of PyTorch takes no array
    if (function or hasattr(opponent, "act")) and not isinstance(opponent, type):
        return
    if not isinstance(opponent, str) or opponent not in OPPONENTS:
        way_out = (
            ", or pass an object with act(observation, action_mask), or a function, "
            "such as lambda observation: model.predict(observation)[0]"
        )
        raise ValueError(unknown("opponent", opponent, OPPONENTS, way_out))
    OPPONENTS[opponent].check(rules)  # now, not in the first game


def built_in_or_asked(opponent: Any) -> Any:
    """Return the name of a built-in opponent, or a function of observation and action mask that asks an agent."""
    if isinstance(opponent, str):
        return opponent
    return taking_mask(getattr(opponent, "act", opponent))
