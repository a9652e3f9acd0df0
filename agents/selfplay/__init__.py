"""Agents for tic-tac-toe and its m,n,k family, trained by self-play and evaluated exactly."""

import signal
import sys

# Of `python -m selfplay.play` Python imports this first. Until `run_command` takes over, Ctrl-C is to end the command
# without a traceback; in other programs it is theirs, and where it is ignored, as in a shell's background, it stays so.
if (
    sys.argv[:1] == ["-m"]
    and sys.orig_argv[-len(sys.argv)].removeprefix("-m").startswith("selfplay.")
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from selfplay.agent import Agent, Player
from selfplay.errors import UserError
from selfplay.evaluation import Evaluation, Proof, SeatEvaluation, evaluate
from selfplay.reach import Unfinished, Unproved, evaluate_reach
from selfplay.run_folder import load

__all__ = [
    "Agent",
    "Evaluation",
    "Player",
    "Proof",
    "SeatEvaluation",
    "Unfinished",
    "Unproved",
    "UserError",
    "evaluate",
    "evaluate_reach",
    "load",
]
