"""Kill processes of sweeps at random moments, resume them, and compare every run with that of a sweep left alone.

    python -m benchmarks.sweeps.disturbed --docs docs

The runs are DQNs with default settings, on the default device, and write checkpoints as often as they can. A process is
killed only while a worker trains. A run is the same if its model is, to the byte, and all its evaluations are, except
for their times. It works on Linux, where `/proc` lists the processes of a sweep and the files that they have open.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from benchmarks import harness
from benchmarks.data import Result
from selfplay.cli.flags import parse, run_command
from selfplay.errors import UserError
from selfplay.learning.folder import is_finished
from selfplay.learning.tensorboard import PREFIX

PROG = "python -m benchmarks.sweeps.disturbed"
Victim: TypeAlias = Literal["a worker", "raylet", "gcs_server", "the sweep itself"]


@dataclass(frozen=True)
class Flags:
    """Kill processes of sweeps at random moments, and compare the results."""

    victims: tuple[Victim, ...] = get_args(Victim)
    """What is killed, each in sweeps of its own."""
    pairs: int = 2
    """Pairs of runs in a sweep, one with a mask and one without."""
    plies: int = 200_000
    """Of a run."""
    kills: int = 10
    """Kills of each; sweeps are repeated until there were as many."""
    seconds: float = 1.0
    """Mean time from the beginning of the training, or from a kill, to the next kill."""
    docs: Path | None = None
    """Folder of the pages, in whose data file the results are saved."""


def start(*args: str) -> subprocess.Popen[str]:
    """Start `selfplay sweep` with these arguments."""
    command = [sys.executable, "-m", "selfplay", "sweep", *args]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def arguments(flags: Flags, folder: Path) -> list[str]:
    """Return the arguments of a new sweep of runs of equal length, with a mask and without."""
    args = ["--seeds", f"1000..{999 + flags.pairs}", "--vary", "mask=true,false"]
    args += ["--set", "stop=never", "--set", f"total_steps={flags.plies}"]
    return [*args, "--checkpoint-interval", "0.2", "--dir", str(folder)]


def processes_of(sweep: int) -> dict[int, str]:
    """Return the processes that a sweep has started, and these have, by number, with what each calls itself."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = os.fsdecode((folder / "cmdline").read_bytes())
        except OSError:  # it has ended meanwhile
            continue
        parents[int(folder.name)] = parent
        names[int(folder.name)] = Path(command.partition("\0")[0]).name
    found = {sweep}
    size = 0
    while len(found) > size:
        size = len(found)
        found |= {process for process, parent in parents.items() if parent in found}
    return {process: names[process] for process in found - {sweep}}


def processes_at_work(sweep: int, folder: Path, before: Mapping[Path, int]) -> dict[int, Path]:
    """Return the processes of a sweep that train, each with the folder of its run, which it keeps open.

    A process trains from when the run has more files of events than `before`, until the run is finished.
    """
    found = {}
    for process in processes_of(sweep):
        try:
            opened = [path.readlink() for path in Path(f"/proc/{process}/fd").iterdir()]
        except OSError:  # it has ended, or closed a file meanwhile
            continue
        for run in opened:
            if run.parent == folder and number_of_events(run) > before.get(run, 0) and not is_finished(run):
                found[process] = run
    return found


def number_of_events(run: Path) -> int:
    """Return the number of processes that have trained a run: each writes a file of events."""
    return len(list(run.glob(f"{PREFIX}*")))


def kill_some(
    sweep: subprocess.Popen[str], folder: Path, victim: Victim, most: int, flags: Flags, before: dict[Path, int]
) -> int:
    """Kill processes of a sweep at random moments while it trains, until it ends, and return the number of kills.

    `before` is kept up to date: how many processes had trained a run when one of them was killed.
    """
    chance = random.Random(sum(before.values()))
    kills = 0
    pause = chance.uniform(0, 2 * flags.seconds)
    since = None  # when it began to train, or trained again after a kill
    while sweep.poll() is None:
        time.sleep(0.1)
        at_work = processes_at_work(sweep.pid, folder, before) if kills < most else {}
        if not at_work:
            continue
        now = time.perf_counter()
        since = since or now
        if now - since < pause:
            continue
        if victim == "a worker":
            process = chance.choice(sorted(at_work))
            interrupted = {at_work[process]}
        else:
            names = {sweep.pid: "the sweep itself", **processes_of(sweep.pid)}
            process = next(number for number, name in names.items() if name == victim)
            interrupted = set(at_work.values())
        os.kill(process, signal.SIGKILL)
        kills += 1
        before.update({run: number_of_events(run) for run in interrupted})
        pause = chance.uniform(0, 2 * flags.seconds)
        since = None
    return kills


def disturb(place: Path, flags: Flags, undisturbed: Mapping[str, Any], victim: Victim) -> Result:
    """Disturb sweeps, one after the other, until there were enough kills, and compare all their runs.

    Raises:
        UserError: a sweep ended although nothing was killed that it needs, or before anything was killed.
    """
    kills = starts = sweeps = resumed = equal = 0
    while kills < flags.kills:
        folder = place / f"{victim.replace(' ', '-')}-{sweeps}"
        sweeps += 1
        killed, started = disturb_one(folder, flags, victim, flags.kills - kills)
        if not killed:
            raise UserError("a sweep ended before anything was killed: train more plies")
        kills, starts = kills + killed, starts + started
        runs = runs_of(folder)
        resumed += len(list(folder.glob(f"*/{PREFIX}*"))) - len(runs)
        equal += sum(runs.get(name) == run for name, run in undisturbed.items())
    return {
        "kills": kills,
        "sweeps": sweeps,
        "starts of them": starts,
        "runs resumed": resumed,
        "equal runs": f"{equal} of {sweeps * len(undisturbed)}",
    }


def disturb_one(folder: Path, flags: Flags, victim: Victim, most: int) -> tuple[int, int]:
    """Run a sweep, kill a process of it every now and then, resume it whenever it ends; return the kills and starts.

    Raises:
        UserError: it ended although nothing was killed that it needs.
    """
    kills, starts = 0, 0
    before: dict[Path, int] = {}
    args = arguments(flags, folder)
    while True:
        sweep = start(*args)
        starts += 1
        left = most - kills
        killed = kill_some(sweep, folder, victim, left if victim == "a worker" else min(left, 1), flags, before)
        kills += killed
        complaint = sweep.communicate()[1]
        if sweep.returncode == 0:
            return kills, starts
        if victim == "a worker" or not killed:
            raise UserError(f"the sweep ended with status {sweep.returncode}: {complaint}")
        args = ["--resume", str(folder), "--checkpoint-interval", "0.2"]


def runs_of(folder: Path) -> dict[str, tuple[bytes, list[dict[str, float]]]]:
    """Return the model and the evaluations, without times, of each run in the folder of a sweep."""
    runs = {}
    for path in folder.glob("*/model.safetensors"):
        lines = []
        for text in (path.parent / "metrics.jsonl").read_text().splitlines():
            line = json.loads(text)
            lines.append({tag: line[tag] for tag in line if tag == "time/updates" or not tag.startswith("time/")})
        runs[path.parent.name] = path.read_bytes(), lines
    return runs


def main(args: Sequence[str]) -> None:
    """Disturb sweeps, and print the results."""
    flags = parse(Flags, args, PROG)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        sweep = start(*arguments(flags, place / "undisturbed"))
        complaint = sweep.communicate()[1]
        if sweep.returncode != 0:
            raise UserError(f"the sweep ended with status {sweep.returncode}: {complaint}")
        undisturbed = runs_of(place / "undisturbed")
        harness.run(
            "Disturbed sweeps",
            flags.victims,
            [0],
            lambda victim, _: disturb(place, flags, undisturbed, victim),
            f"sweeps of {2 * flags.pairs} runs of {flags.plies:,} plies",
            ["ray"],
            flags.docs,
        )


if __name__ == "__main__":
    run_command(main, PROG)
