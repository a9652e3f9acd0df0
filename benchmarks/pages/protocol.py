"""Figures of the protocol: how long and how often the published rows were searched, trained and evaluated."""

from pathlib import Path

from benchmarks.harness import number
from benchmarks.peers.tuning import Flags

DEFAULTS = ("trials", "seconds", "evaluations", "final_seconds", "final_evaluations")


def figures(_docs: Path) -> dict[str, str]:
    """Return the defaults of the search and of the final runs after it."""
    return {f"protocol.{name.replace('_', '-')}": number(getattr(Flags, name), 0) for name in DEFAULTS}
