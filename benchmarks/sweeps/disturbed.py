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
from selfplay.learning.folder import CHECKPOINT
from selfplay.learning.tensorboard import PREFIX

PROG = "python -m benchmarks.sweeps.disturbed"
Victim: TypeAlias = Literal["a worker", "raylet", "gcs_server", "the sweep itself"]


@dataclass(frozen=True)
class Flags:
    """Kill processes of sweeps at random moments, and compare the results."""

    victims: tuple[Victim, ...] = get_args(Victim)
    """What is killed, each in a sweep of its own."""
    pairs: int = 3
    """Pairs of runs in a sweep, one with a mask and one without."""
    plies: int = 400_000
    """Of a run."""
    kills: int = 10
    """Kills in a sweep."""
    seconds: float = 1.5
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


def victims_of(sweep: int, victim: Victim, folder: Path) -> list[int]:
    """Return the processes of a sweep that can be killed; none while no worker trains."""
    processes = processes_of(sweep)
    workers = [process for process in processes if trains(process, folder)]
    if victim == "a worker" or not workers:
        return sorted(workers)
    if victim == "the sweep itself":
        return [sweep]
    return sorted(process for process, name in processes.items() if name == victim)


def trains(process: int, folder: Path) -> bool:
    """Return whether a process trains a run of the sweep in a folder: whether it is in the folder of one that began."""
    try:
        opened = [path.readlink() for path in Path(f"/proc/{process}/fd").iterdir()]
    except OSError:  # it has ended, or closed a file meanwhile
        return False
    return any(place.parent == folder and (place / CHECKPOINT).exists() for place in opened)


def kill_some(
    sweep: subprocess.Popen[str], folder: Path, victim: Victim, most: int, seconds: float, seed: int
) -> list[float]:
    """Kill processes of a sweep at random moments until it ends, and return the moments."""
    chance = random.Random(seed)
    moments: list[float] = []
    pause = chance.uniform(0, 2 * seconds)
    since = None  # when it began to train, or trained again after a kill
    while sweep.poll() is None:
        time.sleep(0.1)
        if len(moments) == most:
            continue
        victims = victims_of(sweep.pid, victim, folder)
        now = time.perf_counter()
        if victims and since is None:
            since = now
        if victims and since is not None and now - since > pause:
            os.kill(chance.choice(victims), signal.SIGKILL)
            moments.append(now)
            pause = chance.uniform(0, 2 * seconds)
            since = None
    return moments


def disturb(folder: Path, flags: Flags, undisturbed: Mapping[str, Any], victim: Victim) -> Result:
    """Run a sweep, kill a process of it every now and then, resume it whenever it ends, and compare its runs.

    Raises:
        UserError: it ended although nothing was killed that it needs, or before everything was killed.
    """
    kills, starts = 0, 0
    args = arguments(flags, folder)
    while True:
        sweep = start(*args)
        starts += 1
        left = flags.kills - kills
        most = left if victim == "a worker" else min(left, 1)
        moments = kill_some(sweep, folder, victim, most, flags.seconds, seed=starts)
        complaint = sweep.communicate()[1]
        if sweep.returncode == 0 and victim != "a worker" and moments:
            raise UserError(f"the sweep did not notice that {victim} was killed")
        kills += len(moments)
        if sweep.returncode == 0:
            break
        if victim == "a worker" or not moments:
            raise UserError(f"the sweep ended with status {sweep.returncode}: {complaint}")
        args = ["--resume", str(folder), "--checkpoint-interval", "0.2"]
    runs = runs_of(folder)
    resumed = len(list(folder.glob(f"*/{PREFIX}*"))) - len(runs)  # each process in a run's folder writes such a file
    if kills < flags.kills or resumed < kills:
        raise UserError(f"{kills} kills of {victim} made {resumed} runs resume; train more plies")
    return {
        "kills": kills,
        "starts of the sweep": starts,
        "runs resumed": resumed,
        "equal runs": f"{sum(runs.get(name) == run for name, run in undisturbed.items())} of {len(undisturbed)}",
    }


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
            lambda victim, _: disturb(place / victim.replace(" ", "-"), flags, undisturbed, victim),
            f"sweeps of {2 * flags.pairs} runs of {flags.plies:,} plies",
            ["ray"],
            flags.docs,
        )


if __name__ == "__main__":
    run_command(main, PROG)
