"""What several tests of the benchmarks make: reports of the overview, small trainings, and the tables printed."""

from dataclasses import replace
from typing import Any

from benchmarks.overview.results import Report, Result
from selfplay import DQNConfig

RATES = [100.0, 97.0, 99.0, 71.0, 98.0, 95.0, 82.0]
"""Of seven rounds, two of which something has disturbed."""
SMALL = DQNConfig(hidden=(16,), num_envs=16, batch_size=32, memory_size=1_000, warmup=64, device="cpu")


def config_with(**changes: Any) -> DQNConfig:
    return replace(SMALL, **changes)


def row(values: list[float], name: str = "faces of ours", **fields: Any) -> Result:
    settings: dict[str, Any] = {"group": "faces", "unit": "plies/s", "ours": True, **fields}
    return Result(name=name, values=values, **settings)


def report(*rows: Result, **machine: str) -> Report:
    return Report({"CPU": "one", "torch": "2.13.0", "commit": "abc", **machine}, [0, 1, 2], list(rows))


def printed_rows(printed: str) -> list[list[str]]:
    """Return the cells of every table that was printed, a line each."""
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in printed.splitlines() if "│" in line]
