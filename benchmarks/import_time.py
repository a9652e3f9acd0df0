"""Measure how long importing `tictactoe` takes once NumPy and Gymnasium are loaded, which whoever uses it has.

python -m benchmarks.import_time     print it in milliseconds
"""

import subprocess
import sys

from benchmarks import machine
from benchmarks.spread import Spread, spread

SCRIPT = """
import sys, time
import gymnasium, numpy
started = time.perf_counter()
import tictactoe
milliseconds = 1_000 * (time.perf_counter() - started)
heavy = {"torch", "pygame", "matplotlib"} & set(sys.modules)
sys.exit(f"imports {', '.join(sorted(heavy))}") if heavy else print(milliseconds)
"""


def import_milliseconds(times: int = 7) -> Spread:
    """Return the milliseconds of importing it in so many fresh interpreters, after one that is not counted.

    Raises:
        RuntimeError: the import failed, or brought torch, pygame or matplotlib with it.
    """
    measured = []
    for _ in range(1 + times):  # the first one may have to compile and read files
        finished = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
        if finished.returncode:
            raise RuntimeError(f"import tictactoe: {finished.stderr.strip()}")
        measured.append(float(finished.stdout))
    return spread(measured[1:])


if __name__ == "__main__":
    machine.start("Import time").print(f"import tictactoe: {import_milliseconds().text(1)} ms")
