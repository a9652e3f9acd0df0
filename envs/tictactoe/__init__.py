"""Tic-tac-toe and its m,n,k family as environments, with exact solutions for small boards."""

import contextlib
from typing import TYPE_CHECKING, Any

import gymnasium

from tictactoe.envs.turn import TicTacToeEnv
from tictactoe.envs.versus import TicTacToeVersusEnv
from tictactoe.rewards import Rewards
from tictactoe.rules import Rules
from tictactoe.search import best_moves, search_value
from tictactoe.solver import Solution, solve

if TYPE_CHECKING:
    from tictactoe.envs.vector import TicTacToeVectorEnv
    from tictactoe.envs.versus_vector import TicTacToeVersusVectorEnv

    __version__: str
else:  # out of the sight of type checkers, which would take any name for one of these

    def __getattr__(name: str) -> Any:
        # Imported when they are asked for (PEP 562): at once they would make the import a quarter slower.
        if name == "TicTacToeVectorEnv":
            from tictactoe.envs.vector import TicTacToeVectorEnv  # noqa: PLC0415

            return TicTacToeVectorEnv
        if name == "TicTacToeVersusVectorEnv":
            from tictactoe.envs.versus_vector import TicTacToeVersusVectorEnv  # noqa: PLC0415

            return TicTacToeVersusVectorEnv
        if name == "__version__":
            return _version()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, "__version__"})


__all__ = [
    "Rewards",
    "Rules",
    "Solution",
    "TicTacToeEnv",
    "TicTacToeVectorEnv",
    "TicTacToeVersusEnv",
    "TicTacToeVersusVectorEnv",
    "best_moves",
    "search_value",
    "solve",
]


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("tictactoe-selfplay")
    except PackageNotFoundError:
        raise AttributeError(
            "tictactoe has no __version__ until it is installed: run pip install in the clone"
        ) from None


# The environments check their actions and the order of calls themselves, so Gymnasium's checking wrappers,
# which would halve their speed, are left off.
for _id, _entry_point, _vector_entry_point in (
    ("TicTacToe-v0", "tictactoe.envs.turn:TicTacToeEnv", "tictactoe.envs.vector:TicTacToeVectorEnv"),
    (
        "TicTacToeVersus-v0",
        "tictactoe.envs.versus:TicTacToeVersusEnv",
        "tictactoe.envs.versus_vector:TicTacToeVersusVectorEnv",
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
