"""Runs without pictures, which take longer than all the rest of a short run."""

import struct
from collections.abc import Callable

from selfplay.runs import record as tracking
from selfplay.tabular import learner as training

PIXEL = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 1, 1, 8, 6, 0, 0, 0)
"""The head of a picture, which is all that is read of it."""


def without_pictures(replace: Callable[[object, str, object], object]) -> None:
    """Let every picture of a run be a pixel; `replace` is `setattr`, or what undoes it after a test."""
    replace(tracking, "progress_figure", lambda *_: None)
    replace(tracking, "value_figure", lambda *_: None)
    for name in ("cumulative_figure", "groups_figure", "density_figure"):
        replace(training, name, lambda *_: None)
    for module in (tracking, training):
        replace(module, "png", lambda _: PIXEL)
