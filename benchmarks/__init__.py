"""Measure what the README claims; each script says in its docstring which figures it makes."""

import signal
import sys

# As in `selfplay/__init__.py`: Ctrl-C ends the imports of `python -m benchmarks.environment.speed` without a traceback.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
