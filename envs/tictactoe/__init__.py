"""Tic-tac-toe and its m,n,k family as environments, with exact solutions for small boards."""

import contextlib
from importlib.metadata import PackageNotFoundError, version

import gymnasium

from tictactoe import tictactoe_v0 as tictactoe_v0
from tictactoe.gym.turn import TicTacToeEnv
from tictactoe.gym.vector import TicTacToeVectorEnv
from tictactoe.gym.versus import TicTacToeVersusEnv
from tictactoe.gym.versus_vector import TicTacToeVersusVectorEnv
from tictactoe.rendering.svg import board_svg, game_svg
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules
from tictactoe.search import best_moves, search_value
from tictactoe.solver import Solution, solve

with contextlib.suppress(PackageNotFoundError):  # a clone that is not installed has none
    __version__ = version("tictactoe-selfplay")

__all__ = [
    "Rewards",
    "Rules",
    "Solution",
    "TicTacToeEnv",
    "TicTacToeVectorEnv",
    "TicTacToeVersusEnv",
    "TicTacToeVersusVectorEnv",
    "best_moves",
    "board_svg",
    "game_svg",
    "search_value",
    "solve",
]


# The environments check actions and the order of calls themselves. Gymnasium's checking wrappers would halve their
# speed.
for _id, _entry_point, _vector_entry_point in (
    ("TicTacToe-v0", "tictactoe.gym.turn:TicTacToeEnv", "tictactoe.gym.vector:TicTacToeVectorEnv"),
    (
        "TicTacToeVersus-v0",
        "tictactoe.gym.versus:TicTacToeVersusEnv",
        "tictactoe.gym.versus_vector:TicTacToeVersusVectorEnv",
    ),
):
    gymnasium.register(
        id=_id,
        entry_point=_entry_point,
        vector_entry_point=_vector_entry_point,
        order_enforce=False,
        disable_env_checker=True,
    )

with contextlib.suppress(ImportError):  # PettingZoo has a registry since 1.27
    from pettingzoo.env_registry import registration

    registration.register("aec", "tictactoe_v0", "tictactoe.tictactoe_v0:env")
