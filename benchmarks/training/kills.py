"""Kill runs at random moments, let each go on until it ends, and compare its bits with those of a run left alone.

The table of docs/training.md (about twenty minutes):

    python -m benchmarks.training.kills --markdown table.md

Ten settings differ in what their checkpoints hold. Each run is killed (SIGKILL) and resumed, killed and resumed, as
chance has it: every moment is drawn uniformly over the time that the whole run takes, from the making of its folder
over checkpoints and pictures to the last line printed. The seed gives the same moments again, but how far a process has
come by then is the machine's affair.

Everything that the run has left must be the same, times left out, as `left_behind.py` describes. A folder that cannot
go on by `--resume`, or by the same command again where no settings were written yet, is counted and its message shown.
The exit status is 1 if anything is not as it should be. A process is forked, not started, as `lives.py` describes, and
writes checkpoints more often than a run does by itself.
"""

import logging
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from rich.console import Console

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import check_known, read_flags
from benchmarks.training.lives import Life, live, unkilled
from selfplay.command_line import run_command
from selfplay.errors import UserError

PROG = "python -m benchmarks.training.kills"
UNEQUAL = 1
"""Exit status if a killed run has not come to what it should."""
EVALUATIONS = 3
"""In a run."""
TIMED = 3
"""Whole runs whose median is the time over which moments are drawn."""
HEADER = (
    "`python train.py`",
    "run, s",
    "runs",
    "kills",
    "nothing kept",
    "writing",
    "started again",
    "resumed",
    "had ended",
    "same bits",
    "stuck",
    "complaints",
)


class Setting(NamedTuple):
    """Say what is trained, and how long."""

    flags: str
    length: int
    """Plies of a DQN, games of a tabular learner: for about half a second, checkpoints included."""

    def args(self, seed: int, shorten: int) -> list[str]:
        """Return the arguments of `python train.py` that are settings of the run."""
        length = self.length // shorten
        counted = ["--device", "cpu", "--total-steps"] if self._is_dqn else ["--games"]
        spacing = ["--eval-every", str(length // EVALUATIONS)]
        return [*self.flags.split(), *counted, str(length), *spacing, "--seed", str(seed)]

    def often(self, shorten: int) -> list[str]:
        """Return the arguments with which checkpoints take about as much time as learning does."""
        return ["--checkpoint-interval", str(0.05 / shorten) if self._is_dqn else "1e-9"]

    @property
    def _is_dqn(self) -> bool:
        """Tell whether the flags are a DQN's, which name no algorithm."""
        return not self.flags or self.flags.startswith("-")


SETTINGS = MappingProxyType(
    {
        "default": Setting("", 30_720),
        "mask": Setting("--mask --counterexamples 0.5", 30_720),
        "separate": Setting("--networks separate", 15_360),
        "article": Setting("--preset article", 800),
        "convolution": Setting("--convolution 32", 12_288),
        "4x4x4": Setting("--rows 4 --cols 4 --k 4 --mask --hidden 64", 15_360),
        "minimax-q": Setting("minimax-q", 4_500),
        "afterstate-q": Setting("afterstate-q", 4_500),
        "td-value": Setting("td-value", 4_500),
        "td-backup": Setting("td-backup --greedy-games 300", 4_500),
    }
)
"""What is trained, by name."""


@dataclass(frozen=True)
class Flags:
    """Kill runs at random moments, let each go on, and compare its bits with those of a run left alone."""

    settings: tuple[str, ...] = tuple(SETTINGS)
    """What to train, by name."""
    kills: int = 100
    """Of each."""
    seed: int = 0
    """Of the moments, and of the runs."""
    markdown: Path | None = None
    """File to write the table to, as Markdown."""
    shorten: int = 1
    """Divide the length of every run by this; more than 1 only to try the script."""


class Tally(NamedTuple):
    """Hold the lives of all runs of a setting."""

    name: str
    seconds: float
    """That the whole run took."""
    lives: list[Life]

    @property
    def faults(self) -> list[str]:
        """Return a line for everything that is not as it should be."""
        found = []
        for number, life in enumerate(self.lives, 1):
            lines = [f"is another: {', '.join(life.different)}"] if life.different else []
            lines += [f"cannot go on, {life.stuck}"] if life.stuck else []
            lines += [f"complains: {line}" for line in life.complaints]
            found += [f"{self.name}, run {number}, {line}" for line in lines]
        return found

    def cells(self) -> list[str]:
        """Return the fields of `HEADER`."""
        flags = SETTINGS[self.name].flags
        kills = [kill for life in self.lives for kill in life.kills]
        unequal = sum(bool(life.different) for life in self.lives)
        counts = (
            len(self.lives),
            len(kills),
            sum(not kill.kept for kill in kills),
            sum(kill.writing for kill in kills),
            sum(not kill.begun for kill in kills),
            sum(kill.begun and not kill.ended for kill in kills),
            sum(kill.ended for kill in kills),
        )
        return [
            f"`{flags}`" if flags else "no flags",
            f"{self.seconds:.1f}",
            *map(str, counts),
            f"NO ({unequal})" if unequal else "yes",
            str(sum(bool(life.stuck) for life in self.lives)),
            str(sum(len(life.complaints) for life in self.lives)),
        ]


def measure(name: str, flags: Flags) -> Tally:
    """Kill runs of a setting until there are as many kills as wanted."""
    setting, chance = SETTINGS[name], random.Random(f"{flags.seed} {name}")
    lives: list[Life] = []
    left = flags.kills
    with tempfile.TemporaryDirectory() as folder:
        whole = unkilled(setting.args(flags.seed, flags.shorten), setting.often(flags.shorten), Path(folder), TIMED)
        seconds = whole.seconds
        while left > 0:
            life = live(whole, Path(folder), uniform(seconds, chance), left)
            seconds = seconds if life.kills else life.seconds  # others may have slowed the machine when it was timed
            lives.append(life)
            left -= max(len(life.kills), bool(life.stuck))  # or a run that fails by itself would be begun for ever
    return Tally(name, whole.seconds, lives)


def uniform(seconds: float, chance: random.Random) -> Iterator[float]:
    """Yield moments without end, uniformly over this time."""
    while True:
        yield seconds * chance.random()


def present(console: Console, tallies: Sequence[Tally], flags: Flags) -> None:
    """Print the table, and write it in Markdown if a file for it was named."""
    kills = sum(len(life.kills) for tally in tallies for life in tally.lives)
    faults = sum(len(tally.faults) for tally in tallies)
    note = (
        f"{kills:,} kills, {faults:,} faults; seed {flags.seed}; load {machine.load()} at the end\n"
        "nothing kept: killed before the first checkpoint; writing: while one was written or removed, of which a part "
        "was left; started again: no settings were written yet; had ended: killed after everything was written; "
        "stuck: folders that could not go on; complaints: lines that no process should print, of damage above all"
    )
    tables.present(console, HEADER, [tally.cells() for tally in tallies], note, flags.markdown)


def main(args: Sequence[str]) -> None:
    """Kill the runs of each setting, print what came of them, and exit with `UNEQUAL` if anything is wrong."""
    flags = read_flags(Flags, args, PROG)
    check_known("--settings", flags.settings, SETTINGS)
    if "fork" not in multiprocessing.get_all_start_methods():
        raise UserError("this system cannot fork a process; run it on Linux")
    logging.getLogger("tensorboard").setLevel(logging.ERROR)  # it tells of all that a resumed run takes back
    console = machine.start("Runs killed at random moments", ["safetensors", "tensorboard", "numba"], [flags.seed])
    started, tallies = time.perf_counter(), []
    for name in flags.settings:
        tallies.append(measure(name, flags))
        cells = zip(HEADER[1:], tallies[-1].cells()[1:], strict=True)
        console.print(f"{name}: {', '.join(f'{title} {cell}' for title, cell in cells)}", soft_wrap=True)
        for fault in tallies[-1].faults:
            console.print(fault, soft_wrap=True)
    present(console, tallies, flags)
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(each.ru_utime + each.ru_stime for each in spent)
    minutes = (time.perf_counter() - started) / 60
    console.print(f"{minutes:.1f} minutes, {processor / 60:.1f} of them of the processor", soft_wrap=True)
    if any(tally.faults for tally in tallies):
        sys.exit(UNEQUAL)


if __name__ == "__main__":
    run_command(main, PROG)
