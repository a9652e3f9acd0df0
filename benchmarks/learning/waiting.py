"""Measure how long somebody waits who types `python train.py` at a terminal, until the proof stands there.

    python -m benchmarks.learning.waiting

All of it counts: starting Python, the imports, training with its evaluations, the picture of the run and its files.
Programs that run beside it lengthen it, so it is to be measured on a quiet machine.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import machine
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.fresh import ROOT
from benchmarks.measuring.spread import spread
from benchmarks.measuring.terminal import run_on_terminal
from selfplay.command_line import run_command
from selfplay.errors import UserError

PROG = "python -m benchmarks.learning.waiting"
PROVED = b"PROVED UNBEATABLE"


@dataclass(frozen=True)
class Flags:
    """Measure how long somebody waits for `python train.py` to prove its player."""

    seeds: tuple[int, ...] = tuple(range(10))
    """Seeds of the runs."""


class Wait(NamedTuple):
    """Hold the seconds from pressing return."""

    proof: float
    """Until the proof is shown."""
    prompt: float
    """Until the program has ended."""


def wait(arguments: Sequence[str]) -> Wait:
    """Run `python train.py` with a terminal of its own and time it.

    Raises:
        UserError: it ends without a proof.
    """
    started, proof, shown = time.perf_counter(), None, b""

    def hear(piece: bytes) -> None:
        nonlocal proof, shown
        shown += piece
        if proof is None and PROVED in shown:
            proof = time.perf_counter() - started

    status = run_on_terminal([sys.executable, str(ROOT / "train.py"), *arguments], hear)
    if status or proof is None:
        raise UserError(f"train.py {' '.join(arguments)}: ended with status {status}, without a proof")
    return Wait(proof, time.perf_counter() - started)


def main(args: Sequence[str]) -> None:
    """Wait for a run with each seed, and print the spread."""
    flags = read_flags(Flags, args, PROG)
    console = machine.start("From pressing return to a proof", seeds=flags.seeds)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate((flags.seeds[0], *flags.seeds)):
            place = Path(folder) / str(number)
            found.append(wait(["--seed", str(seed), "--run-dir", str(place)]))
            console.print(f"seed {seed}: proved after {found[-1].proof:.2f} s, ended after {found[-1].prompt:.2f} s")
    counted = found[1:]  # the first may have to compile and read files
    console.print(f"proved after {spread(each.proof for each in counted).text(1)} s, without the first")
    console.print(f"ended after {spread(each.prompt for each in counted).text(1)} s; load {machine.load()} at the end")


if __name__ == "__main__":
    run_command(main, PROG)
