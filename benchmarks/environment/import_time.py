"""Measure how long importing `tictactoe` takes once NumPy and Gymnasium are loaded, which whoever uses it has."""

from benchmarks.measuring.fresh import run_fresh
from benchmarks.measuring.spread import Spread, spread

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
