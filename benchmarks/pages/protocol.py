"""Figures of the protocol: the defaults of the benchmark that made the published rows."""

from pathlib import Path

from benchmarks.harness import number
from benchmarks.peers.tuning import Flags


def figures(docs: Path) -> dict[str, str]:
    """Return how long and how often is searched, trained and evaluated."""
    del docs
    flags = Flags()
    found = {
        "trials": flags.trials,
        "trial-seconds": flags.seconds,
        "seconds": flags.final_seconds,
        "moments": flags.final_evaluations,
    }
    return {f"protocol.{name}": number(value, 0) for name, value in found.items()}
