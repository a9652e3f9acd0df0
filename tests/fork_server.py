"""What a process that tests fork from loads once. Nobody imports this but the fork server, by `tests.killed`."""

import gc
import tempfile

import torch

import selfplay
from tests.runs import SHORT, without_plots

torch.set_num_threads(1)  # a process that is forked must not have others
without_plots(setattr)
with tempfile.TemporaryDirectory() as folder:
    selfplay.train(**{**SHORT, "total_steps": 96, "run_dir": f"{folder}/dqn"}, progress=False)
    for algorithm in ("minimax-q", "afterstate-q", "td-value", "td-backup"):
        selfplay.train(algorithm, games=9, eval_every=9, run_dir=f"{folder}/{algorithm}", progress=False)
gc.freeze()  # or every process would soon have its own copy of it all
