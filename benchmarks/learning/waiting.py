"""Measure how long a person waits who types `python train.py` at a terminal, until the proof is shown.

    python -m benchmarks.learning.waiting --docs docs

All of it counts: starting Python, the imports, training with its evaluations, the run's plot and its files. Other
programs that run lengthen it, so measure on a quiet machine.
"""

import contextlib
import os
import pty
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import tyro

from benchmarks import harness
from benchmarks.data import Result
from benchmarks.harness import ROOT

TITLE = "From pressing return to a proof"
FLAGS = "", "--preset large --mask", "--preset large"
ROWS = {f"train.py {flags}".strip(): flags.split() for flags in FLAGS}
"""Flags of each row by its name."""
PROVED = b"PROVED UNBEATABLE"


def run_on_terminal(command: Sequence[str], look: Callable[[bytes], object]) -> int:
    """Run a program on a terminal of its own, pass on its output as it comes, and return the exit status."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, start_new_session=True) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # with which a terminal ends on Linux
            while piece := os.read(ours, 1 << 16):
                look(piece)
    os.close(ours)
    return process.returncode


def wait(arguments: Sequence[str]) -> Result:
    """Run `python train.py` on a terminal of its own; return the seconds until the proof is shown and until the end.

    Raises:
        RuntimeError: It ends without a proof.
    """
    started, proof, shown = time.perf_counter(), None, b""

    def look(piece: bytes) -> None:
        nonlocal proof, shown
        shown += piece
        if proof is None and PROVED in shown:
            proof = time.perf_counter() - started

    status = run_on_terminal([sys.executable, str(ROOT / "train.py"), *arguments], look)
    if status or proof is None:
        raise RuntimeError(f"train.py {' '.join(arguments)}: ended with status {status}, without a proof")
    return {"proved after, s": proof, "ended after, s": time.perf_counter() - started}


def main(rows: tuple[str, ...] = (), seeds: tuple[int, ...] = tuple(range(10)), docs: Path | None = None) -> None:
    """Measure how long a person waits for `python train.py` to prove its player.

    Args:
        rows: What to train; everything if nothing is named.
        seeds: Seeds of the runs.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    with tempfile.TemporaryDirectory() as folder:

        def measure(row: str, seed: int) -> Result:
            return wait([*ROWS[row], "--seed", str(seed), "--run-dir", str(Path(folder) / f"{row} {seed}")])

        wait(["--run-dir", str(Path(folder) / "first")])  # may have to compile and read files
        harness.run(TITLE, rows or tuple(ROWS), seeds, measure, "one run per seed", docs=docs)


if __name__ == "__main__":
    tyro.cli(main)
