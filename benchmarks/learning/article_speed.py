"""Measure the published DQN beside a loop in CleanRL's manner at the same settings: steps per second.

The figures of docs/results.md:

    python -m benchmarks.learning.article_speed

Ours is `python train.py --preset article`, theirs `benchmarks/dqn.py`; both play the same game on one board and do one
update per step, on one core, without evaluation. They take turns, and each pair gives one ratio. The preset does double
DQN, as published, one more forward pass per update than theirs. Theirs writes the TensorBoard scalars that CleanRL
writes; `--no-scalars` leaves them out, for a ratio of the algorithms alone.
"""

import contextlib
import itertools
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import gymnasium
from torch.utils.tensorboard import SummaryWriter

import selfplay
from benchmarks import dqn, harness
from benchmarks.harness import Result
from selfplay.command_line import run_command
from selfplay.dqn.config import PRESETS

PROG = "python -m benchmarks.learning.article_speed"
WARM_UP_STEPS = 500


@dataclass(frozen=True)
class Flags:
    """Measure the published DQN beside a loop in CleanRL's manner: steps per second."""

    steps: int = PRESETS["article"].total_steps
    """Steps of each run; by default the published ones."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds; each gives one pair of runs."""
    scalars: bool = True
    """Let the loop in CleanRL's manner write its TensorBoard scalars."""


def ours(seed: int, steps: int) -> float:
    """Return the seconds of training the preset, without evaluation."""
    config = replace(PRESETS["article"], seed=seed, total_steps=steps, eval_every=steps, stop="never", device="cpu")
    *_, last = selfplay.training(config)
    return last.metrics["time/training_s"]


def theirs(seed: int, steps: int, *, scalars: bool) -> float:
    """Return the seconds of training the loop in CleanRL's manner."""
    learner = dqn.CleanRL(dqn.Settings(), seed, lambda: gymnasium.make("tictactoe:TicTacToe-v0", rewards="article"))
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        writer = stack.enter_context(SummaryWriter(folder)) if scalars else None
        started = time.perf_counter()
        for _ in itertools.islice(learner.learn(writer), steps):
            pass
        return time.perf_counter() - started


def main(args: Sequence[str]) -> None:
    """Measure, and print each run as it comes and the table at the end."""
    flags = harness.read_flags(Flags, args, PROG)
    console = harness.start("Speed of the published DQN", ["tensorboard"], flags.seeds)

    def seconds(row: str, seed: int, steps: int) -> float:
        return ours(seed, steps) if row == "ours" else theirs(seed, steps, scalars=flags.scalars)

    def measure(row: str, seed: int) -> Result:
        found = seconds(row, seed, flags.steps)
        return {"steps/s": flags.steps / found, "seconds": found}

    rows = ("ours", "theirs")
    for row in rows:
        seconds(row, 0, WARM_UP_STEPS)  # what is slow only once in a process
    results = harness.in_turns(console, dict.fromkeys(rows, flags.seeds), measure)
    pairs = zip(results["ours"], results["theirs"], strict=True)
    results["ratio"] = [{"steps/s": one["steps/s"] / other["steps/s"]} for one, other in pairs]
    note = f"median (least to most) over {len(flags.seeds)} pairs of {flags.steps:,} steps; ratio pair by pair"
    harness.present(console, harness.summary(results), note)


if __name__ == "__main__":
    run_command(main, PROG)
