"""Tic-tac-toe and its m,n,k family as environments, with exact solutions for small boards."""

import gymnasium

from tictactoe.rewards import Rewards
from tictactoe.rules import Rules
from tictactoe.solver import Solution, solve
from tictactoe.turn import TicTacToeEnv

__all__ = ["Rewards", "Rules", "Solution", "TicTacToeEnv", "solve"]

# The environment checks its own actions and the order of calls, so Gymnasium's checking wrappers,
# which would halve its speed, are left off.
gymnasium.register(
    id="TicTacToe-v0",
    entry_point="tictactoe.turn:TicTacToeEnv",
    order_enforce=False,
    disable_env_checker=True,
)
