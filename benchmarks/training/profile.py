"""Say where the time of a DQN's training goes: the shares of its parts in the time of whole runs.

The table of docs/performance.md:

    python -m benchmarks.training.profile

Each run is `python train.py` with the same flags and seed, from the first ply to the last line printed; starting
Python and importing are left out, and so is what comes only once in a process, such as solving the game. The calls
that training is made of are timed one by one, which costs less than a microsecond each, where a profiler that sees
every function call slows just those parts that make many. Every instant is charged to the innermost timed call that is
running, so that the shares add up to one. Each run is done once more without timers, to say what they cost.
"""

import collections
import contextlib
import functools
import io
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

from selfplay.dqn.adam import Adam
from selfplay.dqn.agent import DQNAgent
from selfplay.dqn.beginnings import Beginnings
from selfplay.dqn.canonical import Canonical
from selfplay.dqn.interleaved import InterleavedAgents
from selfplay.dqn.self_play import DQNLearner

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import in_turns
from selfplay import train
from selfplay.cli.train import present
from selfplay.command_line import run_command
from selfplay.dqn import self_play
from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.training import callbacks, loop
from selfplay.training.callbacks import MetricsLog
from selfplay.training.checkpoint import Checkpoints
from tictactoe import batch

PROG = "python -m benchmarks.training.profile"
REST = "rest"
RUNS = {"python train.py": DQNConfig(), "--preset article": replace(PRESETS["article"], total_steps=20_000)}
"""What is run, by its command; 20,000 plies of the article's are as good as all, which are alike."""
WARM_UP_STEPS = 2_048
PARTS = {
    "act": "the network's values, the greedy or a random cell",
    "step": "one ply on every board, new games and where they begin",
    "observe": "the boards as one-hot planes",
    "canonical image": "of the symmetric images of a position one that all share",
    "remember": "transitions into the replay memory",
    "sample": "a batch out of it, turned and reflected",
    "targets": "a forward pass on what came after, two with double targets",
    "forward and backward": "the values of what was done, loss, gradient",
    "Adam": "a step on the weights",
    "target network": "a step after them",
    "evaluation": "exact, every 3,200 or 5,000 plies, and what it teaches",
    "checkpoint": "networks, memory and boards to disk",
    "record": "TensorBoard, pictures, the player so far",
    REST: "the loop, arrays into tensors, the progress bar, the report",
}
"""What is timed, and what it does."""


@dataclass(frozen=True)
class Flags:
    """Say where the time of a DQN's training goes."""

    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds of each run."""
    shorten: int = 1
    """Divide the length of every training by this; more than 1 only to try the script."""


class Stopwatch:
    """Charge every instant to one part: that of the innermost timed call that is running."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = dict.fromkeys(PARTS, 0.0)
        self.calls: collections.Counter[str] = collections.Counter()
        self._running = [REST]
        self._since = time.perf_counter()

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time charged to a part."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.charge()
            self._running.append(part)
            try:
                return function(*args, **kwargs)
            finally:
                self.charge()
                self._running.pop()
                self.calls[part] += 1

        return call

    def charge(self) -> None:
        """Charge the time since the last call of this."""
        now = time.perf_counter()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now


@contextlib.contextmanager
def timing(stopwatch: Stopwatch) -> Iterator[None]:
    """Time the calls that training is made of.

    Those of `tictactoe.batch` are replaced where self-play looks them up, since an evaluation makes them too.
    """
    calls = [
        ("act", InterleavedAgents, "explore"),
        ("canonical image", Canonical, "image"),
        ("step", Beginnings, "begin"),
        ("remember", InterleavedAgents, "remember"),
        ("sample", DQNAgent, "sample"),
        ("targets", DQNAgent, "targets"),
        ("forward and backward", DQNAgent, "update"),
        ("Adam", Adam, "step"),
        ("target network", DQNAgent, "_follow"),
        ("evaluation", loop, "assess"),
        ("evaluation", loop, "examine"),
        ("checkpoint", DQNLearner, "state"),
        ("checkpoint", Checkpoints, "write"),
        ("record", MetricsLog, "evaluated"),
        ("record", MetricsLog, "show_player"),
        ("record", MetricsLog, "close"),
        ("record", callbacks, "write_tensors"),
    ]
    of_batch = {
        name: stopwatch.timed(part, getattr(batch, name))
        for part, name in (("step", "step"), ("step", "restart"), ("observe", "observe"))
    }
    with contextlib.ExitStack() as stack:
        for part, owner, name in calls:
            stack.enter_context(patch.object(owner, name, stopwatch.timed(part, getattr(owner, name))))
        stack.enter_context(patch.object(self_play, "batch", SimpleNamespace(**{**vars(batch), **of_batch})))
        yield


class Profile(NamedTuple):
    """Hold where the time of one run went."""

    name: str
    seed: int
    seconds: dict[str, float]
    """Of each part."""
    calls: Mapping[str, int]
    untimed_seconds: float
    """Of the same run without timers."""

    @property
    def steps(self) -> int:
        """Return the number of steps of all boards."""
        return self.calls["act"]

    @property
    def total(self) -> float:
        """Return the seconds of all parts."""
        return sum(self.seconds.values())

    def text(self) -> str:
        """Return the run as a line."""
        return (
            f"{self.name}, seed {self.seed}: {self.steps:,} steps, {self.calls['sample']:,} updates, "
            f"{self.total:.2f} s; without timers {self.untimed_seconds:.2f} s"
        )


def run(config: DQNConfig) -> float:
    """Train as `python train.py` does, in a folder that is removed, in silence, and return the seconds."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        started = time.perf_counter()
        present(train(replace(config, run_dir=Path(folder) / "run", device="cpu")))
        return time.perf_counter() - started


def profile(name: str, seed: int, shorten: int = 1) -> Profile:
    """Do one run without timers and the same one with them."""
    config = shortened(replace(RUNS[name], seed=seed), shorten)
    untimed_seconds = run(config)
    stopwatch = Stopwatch()
    with timing(stopwatch):
        run(config)
        stopwatch.charge()
    return Profile(name, seed, stopwatch.seconds, stopwatch.calls, untimed_seconds)


def shortened(config: DQNConfig, shorten: int) -> DQNConfig:
    """Return the settings of a run that is so much shorter, but for its warm-up."""
    return replace(config, total_steps=max(config.total_steps // shorten, config.warmup))


def share(profiles: Sequence[Profile], part: str) -> float:
    """Return the part of all runs' time that went there."""
    return sum(each.seconds[part] for each in profiles) / sum(each.total for each in profiles)


def table_rows(profiles: Mapping[str, Sequence[Profile]]) -> Iterator[list[str]]:
    """Return for each part its share in percent, of all runs and from the least to the most, and its time per step."""
    for part, meaning in PARTS.items():
        cells = []
        for of_run in profiles.values():
            each = spread(100 * share([one], part) for one in of_run)
            microseconds = 1e6 * sum(one.seconds[part] for one in of_run) / sum(one.steps for one in of_run)
            cells += [f"{100 * share(of_run, part):.1f} ({each.least:.1f} to {each.most:.1f})", f"{microseconds:,.0f}"]
        yield [part, *cells, meaning]


def main(args: Sequence[str]) -> None:
    """Profile every run with every seed, and print the table."""
    flags = read_flags(Flags, args, PROG)
    console = machine.start("Where the time of training goes", ["tensorboard"], flags.seeds)
    for config in RUNS.values():
        run(shortened(replace(config, seed=flags.seeds[0], total_steps=WARM_UP_STEPS), flags.shorten))
    done = in_turns(console, flags.seeds, list(RUNS), lambda name, seed: profile(name, seed, flags.shorten))
    profiles = {name: [each for each in done if each.name == name] for name in RUNS}
    header = ["part", *(column for name in RUNS for column in (f"`{name}`, %", "µs per step")), "what it is"]
    note = f"share of all seeds' time (least to most of one seed); load {machine.load()} at the end"
    tables.present(console, header, table_rows(profiles), note)
    for name, of_run in profiles.items():
        ratios = spread(each.total / each.untimed_seconds for each in of_run)
        console.print(f"{name}: with timers {ratios.text(3)} times as long as without")


if __name__ == "__main__":
    run_command(main, PROG)
