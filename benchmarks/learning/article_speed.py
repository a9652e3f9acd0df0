"""Measure the published DQN beside a CleanRL-style loop at the same settings: steps per second.

The figures of docs/speed.md:

    python -m benchmarks.learning.article_speed --docs docs

Ours is `python train.py --preset article`, theirs `benchmarks/dqn.py`; both play the same game on one board and do one
update per step, on one core. They take turns, and each pair gives one ratio. Seconds are those on the processor. The
preset does double DQN, as published, one more forward pass per update than theirs. Theirs writes the TensorBoard
scalars that CleanRL writes.
"""

import itertools
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import gymnasium
from torch.utils.tensorboard import SummaryWriter

import selfplay
from benchmarks import dqn, harness
from benchmarks.data import Result, Seats
from selfplay.cli.flags import run_command
from selfplay.dqn.config import PRESETS

PROG = "python -m benchmarks.learning.article_speed"
TITLE, ROW = "Speed of the published DQN", "ours; theirs"
WARM_UP_STEPS = 500


@dataclass(frozen=True)
class Flags:
    """Measure the published DQN beside a CleanRL-style loop: steps per second."""

    steps: int = PRESETS["article"].total_steps
    """Steps of each run; by default the published ones."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds; each gives one pair of runs."""
    docs: Path | None = None
    """Folder of the pages, in whose data file the results are saved."""


def ours(seed: int, steps: int) -> float:
    """Return the seconds of training the preset, with one evaluation at the end."""
    config = replace(PRESETS["article"], seed=seed, total_steps=steps, eval_every=steps, stop="never", device="cpu")
    started = time.process_time()
    for _ in selfplay.training(config):
        pass
    return time.process_time() - started


def theirs(seed: int, steps: int) -> float:
    """Return the seconds of training the CleanRL-style loop."""
    learner = dqn.CleanRL(dqn.Settings(), seed, lambda: gymnasium.make("tictactoe:TicTacToe-v0", rewards="article"))
    with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        started = time.process_time()
        for _ in itertools.islice(learner.learn(writer), steps):
            pass
        return time.process_time() - started


def main(args: Sequence[str]) -> None:
    """Measure, and print each run as it comes and the table at the end."""
    flags = harness.read_flags(Flags, args, PROG)
    for train in (ours, theirs):
        train(0, WARM_UP_STEPS)  # what is slow only once in a process

    def measure(_: str, seed: int) -> Result:
        seconds = Seats(ours(seed, flags.steps), theirs(seed, flags.steps))
        rates = Seats(*(flags.steps / each for each in seconds))
        ratio = seconds.second / seconds.first
        return {"steps": flags.steps, "steps/s": rates, "seconds": seconds, "ratio": ratio}

    note = f"pairs of {flags.steps:,} steps"
    harness.run(TITLE, [ROW], flags.seeds, measure, note, ["tensorboard"], flags.docs)


if __name__ == "__main__":
    run_command(main, PROG)
