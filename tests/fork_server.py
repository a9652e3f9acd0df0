"""What a process that tests fork from loads once: everything that `train.py` imports, compiles and draws with.

Nobody imports this but the fork server, by `tests.children`.
"""

import contextlib
import gc
import io
import tempfile

import torch

from selfplay.cli import arena, play, prove, train
from selfplay.learning.api import ALGORITHMS
from tests.runs import SMALL, without_plots

torch.set_num_threads(1)  # a process that is forked must not have others
without_plots(setattr)
with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
    train.main([*SMALL, "--total-steps", "96", "--run-dir", f"{folder}/dqn"])
    for algorithm in set(ALGORITHMS) - {"dqn"}:
        train.main([algorithm, "--games", "9", "--eval-every", "9", "--run-dir", f"{folder}/{algorithm}"])
COMMANDS = {"train": train, "prove": prove, "play": play, "arena": arena}
gc.freeze()  # or every process would soon have its own copy of it all
