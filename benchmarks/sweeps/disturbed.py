"""Kill machines and processes of sweeps at random moments, and compare the reports with that of one left alone.

    python -m benchmarks.sweeps.disturbed --docs docs

A machine is a node of Ray's own test cluster, on this machine over loopback. The sweep has two of one core each, and
the second dies. A worker is a process that trains. Every disturbed sweep must finish all of its runs, with one of its
machines, with new workers, or resumed after a process of Ray or the sweep itself was killed, which must end it with one
line. The table says how long that took, and whether the report is the same, byte for byte, but for the folder `times`.
"""

import itertools
import math
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from benchmarks import harness
from benchmarks.data import Result
from benchmarks.sweeps.processes import WORKER, kill, programs, start, workers
from selfplay.cli.flags import run_command
from selfplay.errors import UserError
from selfplay.sweep import report_pages, results, state

PROG = "python -m benchmarks.sweeps.disturbed"
TITLE = "Disturbed sweeps"
SHORT = (
    "hidden=32",
    "num_envs=32",
    "batch_size=64",
    "memory_size=2000",
    "warmup=256",
    "eval_every=3200",
    "device=cpu",
)
"""Settings of a short run."""
MACHINE = "one of two machines"
SWEEP = "the sweep itself"
SAME = "same report"
Victim: TypeAlias = Literal["one of two machines", "ray::train_run", "raylet", "gcs_server", "the sweep itself"]
SLOWEST = "seconds to the slowest end"


@dataclass(frozen=True)
class Flags:
    """Kill machines and processes of sweeps at random moments, and compare the reports."""

    victims: tuple[Victim, ...] = get_args(Victim)
    """What is killed, each in sweeps of its own."""
    pairs: int = 5
    """Pairs of runs in a sweep, one with a mask and one without."""
    plies: int = 32_000
    """Of a run."""
    kills: int = 10
    """Kills in a sweep; only one of a machine."""
    seeds: tuple[int, ...] = (0,)
    """Seeds of the moments, and of the choice between workers, each for a sweep of every victim."""
    docs: Path | None = None
    """Folder of the pages, in whose data file the results are saved."""


def arguments(flags: Flags) -> list[str]:
    """Return the arguments of `selfplay sweep` for short runs, with a mask and without."""
    sets = [word for value in (*SHORT, f"total_steps={flags.plies}") for word in ("--set", value)]
    seeds = f"1000..{999 + flags.pairs}"
    return [*sets, "--seeds", seeds, "--vary", "mask=true,false", "--checkpoint-interval", "0.2"]


def check_end(process: subprocess.Popen[str]) -> None:
    """Refuse a sweep that has not trained all of its runs, or has complained.

    Raises:
        UserError: it is one.
    """
    output, complaint = process.communicate()
    if process.returncode or complaint:
        raise UserError(f"the sweep ended with status {process.returncode}: {complaint or output}")


def reported(place: Path) -> dict[str, bytes]:
    """Make the report of a sweep and return its files but for those of times and hosts."""
    sweep = state.read(place)
    report_pages.write(sweep, results.read(sweep), place / report_pages.REPORT)
    return {path.name: path.read_bytes() for path in (place / report_pages.REPORT).iterdir() if path.is_file()}


def disturb(place: Path, flags: Flags, whole: Mapping[str, bytes], pause: float, victim: Victim, seed: int) -> Result:
    """Run a sweep, kill a process of it every now and then, resume it if it ends, and compare its report.

    Raises:
        UserError: it ends for another reason, or with more than a line.
    """
    most, survives = 1 if victim == MACHINE else flags.kills, victim in (MACHINE, WORKER)
    chance, began, deaths, ends = random.Random(seed), time.perf_counter(), 0, [0.0]
    cluster, args = None, [*arguments(flags), "--dir", str(place)]
    if victim == MACHINE:
        from ray.cluster_utils import Cluster  # noqa: PLC0415 (Ray looks at its variables first, which the engine sets)

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        other, args = cluster.add_node(num_cpus=1), [*args, "--address", cluster.address]

    def strike(sweep: int) -> bool:
        if cluster is not None:
            cluster.remove_node(other, allow_graceful=False)
            return True
        found = [sweep] if victim == SWEEP else sorted(programs(sweep, victim))
        trains = victim == SWEEP or bool(workers(sweep))  # Ray waits a minute for a gcs_server that dies before
        return trains and bool(found) and kill(chance.choice(found))

    pauses = (2 * pause * chance.random() for _ in itertools.count())
    try:
        while True:
            process = start(*args)
            moments = kill_some(process, place, strike, most - deaths if survives else min(1, most - deaths), pauses)
            deaths += len(moments)
            if survives or not moments or not process.returncode:
                check_end(process)
                break
            ends.append(time.perf_counter() - moments[-1])
            _, complaint = process.communicate()
            if complaint.count("\n") > 1:
                raise UserError(f"the sweep said more than a line: {complaint}")
            args = ["--resume", str(place)]
    finally:
        if cluster is not None:
            cluster.shutdown()
    runs = state.read(place).runs
    return {
        "kills": deaths,
        "runs that went on elsewhere": sum(run.starts > 1 for run in runs),
        "failed": sum(run.state != "done" for run in runs),
        SAME: reported(place) == whole,
        "seconds": time.perf_counter() - began,
        **({} if survives else {SLOWEST: max(ends)}),
    }


def kill_some(
    process: subprocess.Popen[str],
    place: Path,
    strike: Callable[[int], bool],
    most: int,
    pauses: Iterator[float],
) -> list[float]:
    """Strike a sweep from its first run on, some times at most, until it ends; return when that killed something."""
    moments: list[float] = []
    due = math.inf
    while process.poll() is None:
        time.sleep(0.05)
        now = time.perf_counter()
        if math.isinf(due) and (place / state.FILE).exists():
            due = now + next(pauses) if any(run.state == "running" for run in state.read(place).runs) else due
        if len(moments) < most and now > due and strike(process.pid):
            moments.append(now)
            due = now + next(pauses)
    return moments


def main(args: Sequence[str]) -> None:
    """Disturb sweeps, and print the results."""
    flags = harness.read_flags(Flags, args, PROG)
    from selfplay.sweep import engine  # noqa: PLC0415 (before any other module imports Ray)

    del engine
    with tempfile.TemporaryDirectory() as folder:
        place, began = Path(folder), time.perf_counter()
        check_end(start(*arguments(flags), "--dir", str(place / "whole")))
        pause = (time.perf_counter() - began) / 10  # a run is given up after its workers have died eleven times
        whole = reported(place / "whole")
        harness.run(
            TITLE,
            flags.victims,
            flags.seeds,
            lambda victim, seed: disturb(
                place / f"{victim.partition(':')[0]}-{seed}", flags, whole, pause, victim, seed
            ),
            f"sweeps of {2 * flags.pairs} runs of {flags.plies:,} plies, which take {10 * pause:.0f} s if left alone",
            ["ray", "scipy"],
            flags.docs,
        )


if __name__ == "__main__":
    run_command(main, PROG)
