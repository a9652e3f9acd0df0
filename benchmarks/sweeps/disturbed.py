"""Kill machines and processes of sweeps at random moments, and compare the reports with that of one left alone.

    python -m benchmarks.sweeps.disturbed --runs 40 --machines 10 --workers 50 --kills 10

A machine is a node of Ray's own test cluster, on this machine over loopback. The sweep has two of one core each, and
the second dies. A worker is a process that trains. Every disturbed sweep must finish all of its runs, with one of its
machines, with new workers, or resumed after a process of Ray or the sweep itself was killed, which must end it within
30 s and with one line. Its report must be the same, byte for byte, but for the folder `times`.
"""

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import harness
from benchmarks.data import Result
from benchmarks.sweeps.processes import WORKER, kill, programs, start, workers
from selfplay.command_line import run_command
from selfplay.errors import UserError
from selfplay.sweep import report_pages, results, state

PROG = "python -m benchmarks.sweeps.disturbed"
UNEQUAL = 1
"""Exit status if a report is another, or a sweep took too long to end."""
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
PATIENCE = 3_600.0
"""Seconds after which a sweep hangs."""
SAME = "the same"
MACHINE = "one of two machines"
SWEEP = "the sweep itself"
SLOWEST = "seconds to the slowest end"
AT_ONCE = 30.0
"""Seconds in which a sweep must end after a process was killed without which it cannot go on."""


@dataclass(frozen=True)
class Flags:
    """Kill machines and workers of sweeps at random moments, and compare the reports."""

    runs: int = 40
    """Runs of a sweep; half of them mask."""
    plies: int = 64_000
    """Of a run."""
    machines: int = 10
    """Sweeps on two machines while one of them dies."""
    workers: int = 50
    """Workers that die, one after the other, in as many sweeps on this machine as it takes."""
    kills: int = 10
    """Kills of Ray's raylet, as many of its gcs_server, and of the sweep itself; after each it is resumed."""
    seed: int = 0
    """Seed of the moments, and of the choice between workers."""


def arguments(flags: Flags) -> list[str]:
    """Return the arguments of `selfplay sweep` for short runs; half of them mask."""
    if flags.runs % 2:
        raise UserError(f"--runs must be even, got {flags.runs}")
    sets = [word for value in (*SHORT, f"total_steps={flags.plies}") for word in ("--set", value)]
    seeds = f"1000..{1000 + flags.runs // 2 - 1}"
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


def compared(place: Path, whole: dict[str, bytes], deaths: int, seconds: float) -> Result:
    """Compare a sweep with the one that was left alone, and remove it if its report is the same."""
    runs, found = state.read(place).runs, reported(place)
    different = sorted(name for name in found.keys() | whole.keys() if found.get(name) != whole.get(name))
    if not different:
        shutil.rmtree(place)
    return {
        "deaths": deaths,
        "runs that went on elsewhere": sum(run.starts > 1 for run in runs),
        "failed": sum(run.state != "done" for run in runs),
        "report": f"NOT the same: {', '.join(different)}" if different else SAME,
        "seconds": seconds,
    }


def lose_a_machine(place: Path, flags: Flags, whole: dict[str, bytes], seconds: float, chance: random.Random) -> Result:
    """Run a sweep on two machines; one of them dies at a random moment in about the time that a sweep takes."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415 (Ray looks at its variables first, which the engine sets)

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    other: Any = cluster.add_node(num_cpus=1)

    def strike() -> bool:
        cluster.remove_node(other, allow_graceful=False)
        return True

    began = time.perf_counter()
    try:
        process = start(*arguments(flags), "--dir", str(place), "--address", cluster.address)
        moments = kill_some(process, place, strike, 1, seconds / 2, chance)
    finally:
        cluster.shutdown()
    check_end(process)
    return compared(place, whole, len(moments), time.perf_counter() - began)


def lose_processes(
    place: Path, flags: Flags, whole: dict[str, bytes], victim: str, most: int, seconds: float, chance: random.Random
) -> Result:
    """Run a sweep on this machine, kill a process of it every now and then, `most` in all, and resume it if it ends.

    Raises:
        UserError: it ends for another reason, or with more than a line.
    """
    # About ten in the time of a sweep; a run's workers may die ten times before it is given up.
    deaths, slowest, pause = 0, 0.0, seconds / 10
    began, args = time.perf_counter(), [*arguments(flags), "--dir", str(place)]
    while True:
        process = start(*args)

        def strike(sweep: int = process.pid) -> bool:
            found = [sweep] if victim == SWEEP else sorted(programs(sweep, victim))
            trains = victim == SWEEP or bool(workers(sweep))  # Ray waits a minute for a gcs_server that dies before
            return trains and bool(found) and kill(chance.choice(found))

        moments = kill_some(
            process, place, strike, most - deaths if victim == WORKER else min(1, most - deaths), pause, chance
        )
        deaths += len(moments)
        if not moments or victim == WORKER or not process.returncode:
            check_end(process)
            break
        slowest = max(slowest, time.perf_counter() - moments[-1])
        _, complaint = process.communicate()
        if complaint.count("\n") > 1:
            raise UserError(f"the sweep said more than a line: {complaint}")
        args = ["--resume", str(place)]
    found = compared(place, whole, deaths, time.perf_counter() - began)
    return found if victim == WORKER else {**found, SLOWEST: slowest}


def at_work(place: Path) -> bool:
    """Tell whether a sweep has begun to train, or to train again."""
    return (place / state.FILE).exists() and any(run.state == "running" for run in state.read(place).runs)


def kill_some(
    process: subprocess.Popen[str],
    place: Path,
    strike: Callable[[], bool],
    most: int,
    pause: float,
    chance: random.Random,
) -> list[float]:
    """Strike a sweep from its first run on, some times at most, until it ends; return when that killed something.

    Raises:
        UserError: it hangs.
    """
    moments: list[float] = []
    started, due = time.perf_counter(), float("inf")
    while process.poll() is None:
        time.sleep(0.05)
        now = time.perf_counter()
        if due == float("inf") and at_work(place):
            due = now + pause * 2 * chance.random()
        if len(moments) < most and now > due and strike():
            moments.append(now)
            due = now + pause * 2 * chance.random()
        if now - started > PATIENCE:
            process.kill()
            raise UserError(f"the sweep has not ended after {PATIENCE:,.0f} s")
    return moments


def main(args: Sequence[str]) -> None:
    """Disturb sweeps, print the results, and exit with `UNEQUAL` if anything is wrong."""
    flags = harness.read_flags(Flags, args, PROG)
    from selfplay.sweep import engine  # noqa: PLC0415 (before any other module imports Ray)

    del engine
    console = harness.start("Sweeps whose machines and workers die", ["ray", "scipy"], [flags.seed])
    chance = random.Random(flags.seed)
    results: dict[str, list[Result]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        began = time.perf_counter()
        check_end(start(*arguments(flags), "--dir", str(place / "whole")))
        seconds = time.perf_counter() - began
        whole = reported(place / "whole")
        console.print(f"left alone: {flags.runs} runs in {seconds:.0f} s, {len(whole)} files in its report")
        numbers = {MACHINE: flags.machines, WORKER: flags.workers}
        for victim in (MACHINE, WORKER, "raylet", "gcs_server", SWEEP):
            of_victim = results[victim] = []
            while (left := numbers.get(victim, flags.kills) - sum(result["deaths"] for result in of_victim)) > 0:
                own = place / f"{len(of_victim)}-{victim.partition(':')[0]}"
                if victim == MACHINE:
                    of_victim.append(lose_a_machine(own, flags, whole, seconds, chance))
                else:
                    of_victim.append(lose_processes(own, flags, whole, victim, left, seconds, chance))
                console.print(f"{victim}: {of_victim[-1]}", soft_wrap=True)
    note = f"{flags.runs} runs of {flags.plies:,} plies a sweep; seed {flags.seed}"
    table = harness.summary(results)
    harness.present(console, table, note)
    every = [result for of_victim in results.values() for result in of_victim]
    if any(each["report"] != SAME or each["failed"] or each.get(SLOWEST, 0) > AT_ONCE for each in every):
        sys.exit(UNEQUAL)


if __name__ == "__main__":
    run_command(main, PROG)
