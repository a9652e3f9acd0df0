"""Measure what a sweep gains over its runs one after another, and what its engine costs beside plain processes.

    python -m benchmarks.sweeps.speed --runs 40

The same short runs are trained by `selfplay train`, one process after the other; by as many processes side by side as
there are cores; and by `selfplay sweep`. All train the same models.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks import harness
from benchmarks.harness import Result
from benchmarks.sweeps import disturbed
from benchmarks.sweeps.processes import descendants, megabytes, start, workers
from selfplay.command_line import run_command
from selfplay.errors import UserError
from selfplay.sweep import plan as plans, state

PROG = "python -m benchmarks.sweeps.speed"


@dataclass(frozen=True)
class Flags:
    """Measure what a sweep gains, and what its engine costs."""

    runs: int = 40
    """Runs of a sweep; half of them mask."""
    plies: int = 64_000
    """Of a run."""
    rounds: int = 3
    """Times that everything is measured, in turns."""
    markdown: Path | None = None
    """File to write the table to, as Markdown."""


def plain(place: Path, runs: Sequence[plans.Run], plies: int, together: int) -> Result:
    """Train the runs by processes of `selfplay train`, some side by side."""

    def train(run: plans.Run) -> None:
        words = ["--mask" if run.values["mask"] else "--no-mask", "--checkpoint-interval", "0.2"]
        for name, value in (setting.split("=") for setting in (*disturbed.SHORT, f"total_steps={plies}")):
            words += [f"--{name.replace('_', '-')}", value]
        words += ["--seed", str(run.seed), "--run-dir", str(place / run.name)]
        command = [sys.executable, "-m", "selfplay", "train", *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    started = time.perf_counter()
    with ThreadPoolExecutor(together) as pool:
        list(pool.map(train, runs))
    return {"seconds": time.perf_counter() - started}


def swept(place: Path, arguments: Sequence[str]) -> Result:
    """Train the runs by a sweep, and look at its memory all the while."""
    engine = training = 0.0
    looked = 0.0
    process = start(*arguments, "--dir", str(place))

    def look() -> None:
        nonlocal engine, training, looked
        if time.perf_counter() < looked + 1:
            return
        at_work = set(workers(process.pid))
        others = {process.pid, *descendants(process.pid)} - at_work
        engine = max(engine, sum(map(megabytes, others)))
        training = max(training, sum(map(megabytes, at_work)))
        looked = time.perf_counter()

    seconds = disturbed.wait(process, look)
    return {"seconds": seconds, "MB of what does not train": engine, "MB of what trains": training}


def main(args: Sequence[str]) -> None:
    """Measure, and print a table."""
    flags = harness.read_flags(Flags, args, PROG)
    console = harness.start("A sweep beside plain processes", ["ray"])
    arguments = disturbed.arguments(disturbed.Flags(runs=flags.runs, plies=flags.plies))
    ways: dict[str, list[Result]] = {"one after another": [], "side by side": [], "selfplay sweep": []}
    for number in range(flags.rounds):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            ways["selfplay sweep"].append(swept(place / "sweep", arguments))
            runs = plans.all_runs(state.read(place / "sweep").plan)
            for name, together in (("one after another", 1), ("side by side", harness.cores())):
                ways[name].append(plain(place / name, runs, flags.plies, together))
                check_same(place / "sweep", place / name, runs)
                shutil.rmtree(place / name)
        base = ways["one after another"][-1]["seconds"]
        for results in ways.values():
            seconds = results[-1]["seconds"]
            results[-1] |= {"of one after another": base / seconds, "seconds a run": seconds / flags.runs}
        console.print(f"round {number + 1}: {[results[-1] for results in ways.values()]}", soft_wrap=True)
    note = f"{flags.runs} runs of {flags.plies:,} plies, {flags.rounds} rounds"
    harness.present(console, harness.summary(ways), note, flags.markdown)


def check_same(sweep: Path, other: Path, runs: Sequence[plans.Run]) -> None:
    """Refuse runs whose models differ from the sweep's.

    Raises:
        UserError: One differs.
    """
    for run in runs:
        ours, theirs = ((folder / run.name / "model.safetensors").read_bytes() for folder in (sweep, other))
        if ours != theirs:
            raise UserError(f"{run.name}: a process of its own has trained another model than the sweep")


if __name__ == "__main__":
    run_command(main, PROG)
