"""Count the modules on the way from the command line to a model, and from an agent to its verdict.

    python -m benchmarks.modules --docs docs

A function counts if it is called, and a module if one of its functions is. What runs only while modules are imported
does not: everything is called once before.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import tyro

import selfplay
import tictactoe
from benchmarks import data, harness
from benchmarks.data import Result
from selfplay import evaluate
from selfplay.cli import train
from selfplay.dqn.dqn import InterleavedSelfPlay

TITLE = "Modules of a run"
PACKAGES = {package.__name__: str(Path(package.__file__ or "").parent) for package in (selfplay, tictactoe)}
"""Folder of each package."""


def called(action: Callable[[], object], last: object = None) -> Result:
    """Do something twice, and count modules and functions that the second time calls, up to the end of a function."""
    action()
    functions: set[tuple[str, str]] = set()
    until = getattr(last, "__code__", None)

    def look(frame: FrameType, event: str, _: Any) -> None:
        functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))
        if event == "return" and frame.f_code is until:
            sys.setprofile(None)

    sys.setprofile(look)
    try:
        action()
    finally:
        sys.setprofile(None)
    counted: Result = {}
    for package, folder in PACKAGES.items():
        counted[f"modules of {package}"] = len({file for file, _ in functions if file.startswith(folder)})
    counted["functions"] = sum(file.startswith(tuple(PACKAGES.values())) for file, _ in functions)
    return counted


def train_briefly() -> None:
    """Run `python train.py`."""
    with tempfile.TemporaryDirectory() as folder:
        train.main(["--total-steps", "1024", "--run-dir", f"{folder}/run"])


def first_free(observation: np.ndarray) -> int:
    """Return the first free cell; the first plane shows these."""
    return int(np.flatnonzero(observation[..., 0])[0])


def main(docs: Path | None = None) -> None:
    """Count the modules of a run until it has a model, and of an agent's way to its verdict.

    Args:
        docs: Folder of the pages, in whose data file the results are saved.
    """
    measured_on = harness.start(TITLE)
    results = {
        "python train.py, to a model": [called(train_briefly, last=InterleavedSelfPlay.__init__)],
        "evaluate(agent), to a verdict": [called(lambda: evaluate(first_free))],
    }
    print(harness.markdown(harness.summary(results)))
    if docs is not None:
        data.save(docs, TITLE, results, measured_on)


if __name__ == "__main__":
    tyro.cli(main)
