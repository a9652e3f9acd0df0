"""Tic-tac-toe and its m,n,k family as environments, with exact solutions for small boards."""

import contextlib

import gymnasium

from tictactoe.faces.turn import TicTacToeEnv
from tictactoe.faces.versus import TicTacToeVersusEnv
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules
from tictactoe.solver import Solution, solve

__all__ = ["Rewards", "Rules", "Solution", "TicTacToeEnv", "TicTacToeVersusEnv", "solve"]

# The environments check their actions and the order of calls themselves, so Gymnasium's checking wrappers,
# which would halve their speed, are left off.
for _id, _entry_point, _vector_entry_point in (
    ("TicTacToe-v0", "tictactoe.faces.turn:TicTacToeEnv", "tictactoe.faces.vector:TicTacToeVectorEnv"),
    (
        "TicTacToeVersus-v0",
        "tictactoe.faces.versus:TicTacToeVersusEnv",
        "tictactoe.faces.versus_vector:TicTacToeVersusVectorEnv",
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
