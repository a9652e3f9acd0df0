"""The style of all plots: colours that can be read on white and on black, and PNG files that suit both."""

import contextlib
import io
import warnings
from collections.abc import Iterator
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

from tictactoe.rendering.svg import HUES

FIRST, SECOND, PROVED, BOTH = HUES
CURVES = cycler(color=[FIRST, SECOND, PROVED, "#a45fb5", "#9a7d14", BOTH, "#c2557a", "#2a93a3"])
STYLE: dict[Any, Any] = {"axes.prop_cycle": CURVES, "legend.frameon": False} | dict.fromkeys(
    ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), BOTH
)
RESULTS = (
    ("first_wins", "first seat wins", FIRST),
    ("second_wins", "second seat wins", SECOND),
    ("draws", "draw", BOTH),
)
"""The results of a game: name in tables and tags, label and colour in plots."""


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Let what is plotted inside have our colours; also a decorator of a function that plots."""
    with rc_context(STYLE):
        yield


def png(figure: Figure) -> bytes:
    """Return the figure as PNG bytes with a transparent background."""
    buffer = io.BytesIO()
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a player's name, which is shown as boxes then
        warnings.filterwarnings("ignore", "constrained_layout not applied")  # where numbers leave no room for curves
        figure.savefig(buffer, format="png", dpi=120, transparent=True)
    return buffer.getvalue()
