"""Measure how long importing `tictactoe` takes once NumPy and Gymnasium are loaded, which whoever uses it has.

python -m benchmarks.environment.import_time     print it in milliseconds
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.measuring import machine
from benchmarks.measuring.fresh import run_fresh
from benchmarks.measuring.spread import Spread, spread
from selfplay.checks import check_counts
from selfplay.command_line import parse, run_command

PROG = "python -m benchmarks.environment.import_time"

HEAVY = ("torch", "pygame", "matplotlib")
"""What `import tictactoe` must not bring with it."""
SCRIPT = """
import sys, time
import gymnasium, numpy
started = time.perf_counter()
import {module}
milliseconds = 1_000 * (time.perf_counter() - started)
heavy = {{*{heavy}}} & set(sys.modules)
sys.exit(f"imports {{', '.join(sorted(heavy))}}") if heavy else print(milliseconds)
"""


def import_once(module: str) -> float:
    """Return the milliseconds of importing a module in a fresh interpreter, after NumPy and Gymnasium.

    Raises:
        RuntimeError: the import failed, or that of tictactoe brought torch, pygame or matplotlib with it.
    """
    heavy = HEAVY if module == "tictactoe" else ()
    try:
        return run_fresh(SCRIPT.format(module=module, heavy=heavy))
    except RuntimeError as error:
        raise RuntimeError(f"import {module}: {error}") from None


def import_milliseconds(times: int = 7) -> Spread:
    """Return the milliseconds of importing tictactoe so many times, after one that is not counted.

    Raises:
        RuntimeError: the import failed, or brought torch, pygame or matplotlib with it.
    """
    measured = [import_once("tictactoe") for _ in range(1 + times)]  # the first may have to compile and read files
    return spread(measured[1:])


@dataclass(frozen=True)
class Flags:
    """Measure how long importing `tictactoe` takes."""

    times: int = 7
    """Imports, each in an interpreter of its own."""


def main(args: Sequence[str]) -> None:
    """Measure and print."""
    flags = parse(Flags, args, PROG)
    check_counts(flags, "times")
    machine.start("Import time").print(f"import tictactoe: {import_milliseconds(flags.times).text(1)} ms")


if __name__ == "__main__":
    run_command(main, PROG)
