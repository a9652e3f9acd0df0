"""A position as text, as SVG, as pixels or in a window."""

from collections.abc import Sequence
from typing import Any

from tictactoe.names import unknown
from tictactoe.rendering.pixels import board_image
from tictactoe.rendering.text import board_text
from tictactoe.rules import Rules

RENDER_MODES = ("ansi", "rgb_array", "human")
"""Text, pixels, and a window."""
VECTOR_RENDER_MODES = ("ansi", "rgb_array")
"""Those of many boards."""


def render(render_mode: str, rules: Rules, x_marks: int, o_marks: int, last_cell: int | None = None) -> Any:
    """Return a position as text in the `"ansi"` mode, or else as pixels, [height, width, 3] uint8."""
    if render_mode == "ansi":
        return board_text(rules, x_marks, o_marks, last_cell) + "\n"
    return board_image(rules, x_marks, o_marks, last_cell)


def check_render_mode(render_mode: str | None, modes: Sequence[str]) -> None:
    """Refuse a render mode that does not exist; None renders nothing.

    Raises:
        ValueError: there is no such mode.
    """
    if render_mode is not None and render_mode not in modes:
        raise ValueError(unknown("render_mode", render_mode, modes))
