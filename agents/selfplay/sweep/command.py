"""Train with many settings and seeds: `selfplay sweep [FILE.toml] [flags]`, or `selfplay sweep --resume SWEEP`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from selfplay.checks import LONGEST_TIME, check_counts, require
from selfplay.command_line import offer, parse, say
from selfplay.errors import UserError
from selfplay.files import locked
from selfplay.program import command, tensorboard
from selfplay.sweep import plan as plans, record
from selfplay.training import folder as run_folder
from selfplay.training.flags import RunFlags

Words = tyro.conf.UseAppendAction[tuple[str, ...]]


@dataclass(frozen=True)
class SweepConfig:
    """Train with every combination of settings and seeds, each a run of `selfplay train` with its own folder.

    What is to be trained stands in a TOML file or in flags, which go over what the file says. Settings are those of
    `selfplay train`, as NAME=VALUE: learning_rate=0.006, mask=true, hidden=128x128.
    """

    file: Annotated[Path | None, tyro.conf.Positional] = None
    """TOML file with any of: algorithm, seeds, search, objective, and tables set, vary and each, which are as the
    flags of these names."""
    algorithm: str | None = None
    """Algorithm of `selfplay train`; dqn, if none is named."""
    seeds: str | None = None
    """Seeds of every setting, as in 0..99 or 1,2,5; 0..9, if none are named."""
    set: Words = ()
    """NAME=VALUE: a setting of all runs."""
    vary: Words = ()
    """NAME=VALUE,VALUE,...: every combination of these values is trained. In a search also NAME=LOWEST..HIGHEST."""
    each: Words = ()
    """NAME=VALUE,VALUE,...: each value is trained by itself, all else as without it, and so is none of them."""
    search: int | None = None
    """Try so many settings that Optuna chooses among those of --vary, in place of every combination; after one
    seed, three seeds, nine and so on only the best third goes on."""
    objective: Literal["steps", "updates"] | None = None
    """What a search makes small: steps (plies, or games) or updates to the first evaluation from which the proof held;
    steps, if nothing is named. A run without a proof counts for more than any with one."""
    dir: Path | None = None
    """Folder of the sweep; it must be new or empty. Default: sweeps/ and the file's name, or algorithm and time."""
    resume: Path | None = None
    """Folder of a sweep to go on with: each run from its last checkpoint, and what failed once more."""
    cpus: int | None = None
    """Runs side by side, one core each; by default as many as there are cores, here or in the cluster."""
    address: str | None = None
    """Ray cluster to train on, as in 10.0.0.1:6379, or auto. Every machine needs this program, and must see the folder
    of the sweep at the same path. Default: this machine alone."""
    checkpoint_interval: float = RunFlags.checkpoint_interval
    """Seconds between the checkpoints of a run, from the last of which it goes on when a worker or a machine dies."""

    def __post_init__(self) -> None:
        if self.cpus is not None:
            check_counts(self, "cpus")
        wanted = f"above 0 and at most {LONGEST_TIME:,.0f} s"
        require(0 < self.checkpoint_interval <= LONGEST_TIME, "checkpoint_interval", wanted, self.checkpoint_interval)
        given = [self.file, self.algorithm, self.seeds, self.search, self.objective, self.dir]
        if self.resume is not None and (
            any(value is not None for value in given) or self.set or self.vary or self.each
        ):
            raise UserError("--resume goes on with the settings, seeds and folder that the sweep has; leave them out")


def main(args: Sequence[str], prog: str = "selfplay sweep") -> None:
    """Train all runs of a sweep, and say what came of them."""
    config = parse(SweepConfig, args, prog)
    sweep = _resumed(config.resume) if config.resume is not None else _new(config)
    from selfplay.sweep import engine  # before there is a folder: it may not be installed

    address = None if config.address is None else engine.find(config.address)  # nor may there be a cluster
    if config.resume is None:
        run_folder.create(sweep.place, "--dir")
    with locked(sweep.place):
        ended = engine.train(sweep, config.cpus, address, config.checkpoint_interval)
    _present(sweep)
    if not ended:
        raise KeyboardInterrupt(f"interrupted; every run has its checkpoint in {sweep.place}")


def _resumed(place: Path) -> record.Sweep:
    """Return a sweep in which what failed, or was at work when its process was killed, waits."""
    sweep = record.read(place)
    run_folder.check_writable(place, "copy the sweep elsewhere and resume it there")
    for row in sweep.rows:
        if row.state in ("failed", "running"):
            row.state, row.why = "waiting", ""
    return sweep


def _new(config: SweepConfig) -> record.Sweep:
    found = plans.read_file(config.file) if config.file is not None else {}
    names = ("algorithm", "seeds", "search", "objective", "set", "vary", "each")
    plan = plans.make(found, {name: getattr(config, name) for name in names})
    sweep = record.Sweep(config.dir or run_folder.unused(_default_place(config.file, plan)), plan)
    if not plan.search:
        sweep.add(plans.runs(plan))
    return sweep


def _default_place(file: Path | None, plan: plans.Plan) -> Path:
    name = file.stem if file is not None else f"{plan.algorithm}-{time.strftime('%Y%m%d-%H%M%S')}"
    return Path("sweeps") / name


def _present(sweep: record.Sweep) -> None:
    """Print what came of a sweep, every failure, and what to do next."""
    proved = sum(row.proved is not None for row in sweep.rows)
    counts = {state: sweep.count(state) for state in ("done", "failed", "dropped", "waiting")}
    ended = f"{proved:,} proved, {counts['done'] - proved:,} without a proof, {counts['failed']:,} failed"
    dropped = f", {counts['dropped']:,} dropped by the search" if counts["dropped"] else ""
    waiting = f", {counts['waiting']:,} to be gone on with" if counts["waiting"] else ""
    say(f"\n{len(sweep.rows):,} runs: {ended}{dropped}{waiting}.")
    for row in sweep.rows:
        if row.state == "failed":
            say(f"failed: {row.name}: {row.why}")
    say(f"\nThe sweep is in {sweep.place}. What you can do next:\n")
    if counts["waiting"] or counts["failed"]:
        offer("Go on with it:", command("sweep", "--resume", str(sweep.place)))
    offer("See what came of it, with intervals and pictures:", command("report", str(sweep.place)))
    offer("Look at all runs in TensorBoard:", tensorboard(sweep.place))
