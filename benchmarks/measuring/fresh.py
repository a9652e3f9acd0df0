"""Run Python in a fresh interpreter, and measure there what a process has only once: imports and peak memory."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

PEAK_MEGABYTES = """
try:
    with open("/proc/self/status") as status:
        kilobytes = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
except OSError:
    import resource, sys
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1_024 if sys.platform == "darwin" else 1)
print(kilobytes / 1_024)
"""
"""Prints the most memory that the interpreter has had in use, in MB of 2**20 bytes; on Linux and macOS.

On Linux `ru_maxrss` would not do: it counts what the parent had in use when it started the interpreter.
"""


def run_fresh(statements: str) -> float:
    """Run statements in a fresh interpreter, in the root of the repository, and return the number they print last.

    Raises:
        RuntimeError: they failed; it holds what they said.
    """
    command = [sys.executable, "-c", statements]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise RuntimeError(finished.stderr.strip())
    return float(finished.stdout.split()[-1])


def peak_megabytes(statements: str) -> float:
    """Return the most memory that a fresh interpreter has in use until it has run the statements, in MB."""
    return run_fresh(f"{statements}\n{PEAK_MEGABYTES}")
