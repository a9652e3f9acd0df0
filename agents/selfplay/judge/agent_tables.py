"""Tables of an agent for a terminal or a notebook: the table of its verdict, and the values of cells."""

import numpy as np
from rich.table import Column, Table

from selfplay.judge.ask import player_policy
from selfplay.judge.evaluate import evaluate_policy
from selfplay.judge.move_values import ALL_STATES_CELLS
from selfplay.judge.verdict import Verdict
from selfplay.protocols import Array, Player
from selfplay.verdict_text import COLUMNS, verdict_html, verdict_rows

LARGEST_SHOWN = 1e100
"""Largest value that is shown, so that no difference of two values overflows."""


def value_text(value: float) -> str:
    """Return the value of a cell in a few characters, however large it is."""
    return f"{value:+.2f}" if abs(value) < 1e6 else f"{value:+.0e}"


def finite_values(values: Array) -> Array:
    """Return values that colours can show: 0 instead of NaN, and nothing beyond 1e100."""
    return np.nan_to_num(np.clip(values.astype(np.float64), -LARGEST_SHOWN, LARGEST_SHOWN))


def verdict_table(verdict: Verdict) -> Table:
    """Return the verdict of both seats as a table."""
    name, *seats = COLUMNS
    columns = [Column(seat, justify="right") for seat in seats]
    table = Table(name, *columns, title="Exact evaluation: every legal reply followed, nothing sampled")
    for row in verdict_rows(verdict):
        table.add_row(*row)
    return table


def player_html(player: Player) -> str | None:
    """Return the verdict of a player as HTML, for notebooks; None on a board that takes more than a second."""
    if player.rules.cells > ALL_STATES_CELLS:
        return None
    return verdict_html(evaluate_policy(player_policy(player)).verdict)
