"""Messages for unknown names."""

import difflib
from collections.abc import Iterable


def did_you_mean(typed: object, known: Iterable[object]) -> str:
    """Return the end of a message: the nearest known name, or nothing if none is near."""
    near = difflib.get_close_matches(str(typed), map(str, known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def unknown(what: str, typed: object, known: Iterable[str], otherwise: str = "") -> str:
    """Return the message for an unknown name; `otherwise` says what else the user may pass."""
    names = list(known)
    return f"unknown {what} {typed!r}: choose from {', '.join(names)}{otherwise}{did_you_mean(typed, names)}"
