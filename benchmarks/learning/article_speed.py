"""Measure the published DQN and a CleanRL-style loop at the same settings: steps per second.

The figures of docs/results.md:

    python -m benchmarks.learning.article_speed --docs docs

Ours is `python train.py --preset article`, theirs the loop of `benchmarks/peers/cleanrl_dqn.py`; both play the same
game on one board and do one update per step, on one core. They take turns, and each pair gives one ratio. Seconds are
those on the processor. The preset does double DQN, as published, one more forward pass per update than theirs. Theirs
writes the TensorBoard scalars that CleanRL writes.
"""

import itertools
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import gymnasium
import tyro
from torch.utils.tensorboard import SummaryWriter

import selfplay
from benchmarks import harness
from benchmarks.data import Result, Seats
from benchmarks.peers import cleanrl_dqn
from selfplay.dqn.config import PRESETS

TITLE, ROW = "Speed of the published DQN", "ours; theirs"
WARM_UP_STEPS = 500
PUBLISHED = cleanrl_dqn.Settings(
    hidden=(27, 27, 27),
    learning_rate=1e-3,
    batch_size=32,
    memory_size=50_000,
    tau=1e-2,
    warmup=100,
    train_every=1,
    target_every=1,
    epsilon=0.2,
    final_epsilon=0.2,
)
"""Those of the preset."""


def ours(seed: int, steps: int) -> float:
    """Return the seconds of training the preset, with one evaluation at the end."""
    config = replace(PRESETS["article"], seed=seed, total_steps=steps, eval_every=steps, stop="never", device="cpu")
    started = time.process_time()
    for _ in selfplay.training(config):
        pass
    return time.process_time() - started


def theirs(seed: int, steps: int) -> float:
    """Return the seconds of training the CleanRL-style loop."""
    learner = cleanrl_dqn.CleanRL(PUBLISHED, seed, lambda: gymnasium.make("tictactoe:TicTacToe-v0", rewards="article"))
    with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        started = time.process_time()
        for _ in itertools.islice(learner.learn(writer), steps):
            pass
        return time.process_time() - started


def main(
    steps: int = PRESETS["article"].total_steps, seeds: tuple[int, ...] = (0, 1, 2), docs: Path | None = None
) -> None:
    """Measure the published DQN and a CleanRL-style loop in turns.

    Args:
        steps: Steps of each run; by default the published ones.
        seeds: Seeds; each gives one pair of runs.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    for train in (ours, theirs):
        train(0, WARM_UP_STEPS)  # what is slow only once in a process

    def measure(_: str, seed: int) -> Result:
        seconds = Seats(ours(seed, steps), theirs(seed, steps))
        rates = Seats(*(steps / each for each in seconds))
        ratio = seconds.second / seconds.first
        return {"steps": steps, "steps/s": rates, "seconds": seconds, "ratio": ratio}

    note = f"pairs of {steps:,} steps"
    harness.run(TITLE, [ROW], seeds, measure, note, ["tensorboard"], docs)


if __name__ == "__main__":
    tyro.cli(main)
