"""Runs without pictures, which take longer than all the rest of a short run."""

import struct
from collections.abc import Callable

from selfplay.runs import record
from selfplay.tabular import learner

PIXEL = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 1, 1, 8, 6, 0, 0, 0)
"""The head of a picture, which is all that is read of it."""


def without_pictures(replace: Callable[[object, str, object], object]) -> None:
    """Let every picture of a run be a pixel; `replace` is `setattr`, or what undoes it after a test."""
    replace(record, "progress_figure", lambda *_: None)
    replace(record, "value_figure", lambda *_: None)
    for name in ("cumulative_figure", "groups_figure", "density_figure"):
        replace(learner, name, lambda *_: None)
    for module in (record, learner):
        replace(module, "png", lambda _: PIXEL)
