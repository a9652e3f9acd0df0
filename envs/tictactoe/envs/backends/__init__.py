"""Backends of the vector environments: how the games on `N` boards are held and played."""

from tictactoe.envs.backends.bitboards import BitboardGames
from tictactoe.envs.backends.games import Games
from tictactoe.envs.backends.tables import TABLE_CELLS, TableGames
from tictactoe.rules import Rules


def fastest(rules: Rules) -> type[Games]:
    """Return the fastest backend for a board: a table of all positions, else compiled loops, else NumPy."""
    if rules.cells <= TABLE_CELLS:
        return TableGames
    try:
        from tictactoe.envs.backends.compiled import CompiledGames  # noqa: PLC0415 (it takes 0.3 s and needs Numba)
    except ImportError:
        return BitboardGames
    return CompiledGames
