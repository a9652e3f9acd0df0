"""Train with many settings and seeds: `selfplay sweep [FILE.toml] [flags]`, or `selfplay sweep --resume SWEEP`."""

import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from tyro.conf import Positional, UseAppendAction

from selfplay.cli.flags import offer, parse, say
from selfplay.errors import UserError
from selfplay.files import locked
from selfplay.learning import folder as run_folder
from selfplay.learning.folder import RunFlags
from selfplay.program import command, on_stop_signals, tensorboard
from selfplay.settings import Count, Seconds
from selfplay.sweep import plan as plans, state

ENDS = {
    "proved": "proved",
    "done": "without a proof",
    "failed": "failed",
    "dropped": "dropped by the search",
    "waiting": "to be resumed",
}


@dataclass(frozen=True)
class SweepConfig:
    """Train with every combination of settings and seeds, each a run of `selfplay train` with its own folder.

    A TOML file or flags say what is trained; flags replace what the file says. Settings are those of `selfplay train`,
    as NAME=VALUE: learning_rate=0.006, mask=true, hidden=128x128.
    """

    file: Positional[Path | None] = None
    """TOML file with algorithm, seeds, search, objective, and the tables set, vary and each, like the flags of these
    names; all are optional."""
    algorithm: str | None = None
    """Algorithm of `selfplay train`. Default: dqn."""
    seeds: str | None = None
    """Seeds of every setting, as in 0..99 or 1,2,5. Default: 0..9."""
    set: UseAppendAction[tuple[str, ...]] = ()
    """NAME=VALUE: a setting of all runs."""
    vary: UseAppendAction[tuple[str, ...]] = ()
    """NAME=VALUE,VALUE,...: every combination of these values is trained. In a search also NAME=LOWEST..HIGHEST."""
    each: UseAppendAction[tuple[str, ...]] = ()
    """NAME=VALUE,VALUE,...: each value is trained by itself, and also a setting with none of them."""
    search: int | None = None
    """Number of settings to try, which Optuna samples from --vary, instead of every combination. After one, three,
    nine, ... seeds only the best third of the settings goes on."""
    objective: Literal["steps", "updates"] | None = None
    """What a search minimizes: steps (plies, or games) or updates to the first evaluation from which the proof held. A
    run without a proof counts for more than any with one. Default: steps."""
    dir: Path | None = None
    """Folder of the sweep; it must be new or empty. Default: sweeps/ and the file's name, or algorithm and time."""
    resume: Path | None = None
    """Folder of a sweep to resume: each run from its last checkpoint, and failed runs once more."""
    cpus: Count | None = None
    """Runs side by side, one core each. Default: the number of cores, here or in the cluster."""
    address: str | None = None
    """Ray cluster to train on, as in 10.0.0.1:6379, or auto. Every machine needs this program, and must see the folder
    of the sweep at the same path. Default: only this machine."""
    checkpoint_interval: Seconds = RunFlags.checkpoint_interval
    """Seconds between the checkpoints of a run, which resumes from the last one when a worker or a machine dies."""

    def __post_init__(self) -> None:
        given = {each.name for each in fields(self) if getattr(self, each.name) != each.default}
        if self.resume is not None and given - {"resume", "cpus", "address", "checkpoint_interval"}:
            raise UserError("--resume takes the settings, seeds and folder of the sweep; leave them out")


def main(args: Sequence[str], prog: str = "selfplay sweep") -> None:
    """Train all runs of a sweep, and print their results."""
    config = parse(SweepConfig, args, prog)
    if config.address is None:
        # Ray, once imported, then listens on 127.0.0.1 alone, to those who know this token.
        os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    with on_stop_signals(_interrupt):
        from selfplay.sweep import engine  # before there is a folder: it may not be installed

        sweep = _new(config) if config.resume is None else _resumed(config.resume)
        resume = command("sweep", "--resume", str(sweep.folder))
        with locked(sweep.folder):
            sweep.write()  # so that it can be resumed even if Ray dies
            try:
                with engine.connected(config.cpus, config.address) as answers:
                    ended = engine.train(sweep, config.cpus, config.checkpoint_interval, answers)
            except UserError as error:
                raise UserError(f"{error}; go on with {resume}") from None
            except (KeyboardInterrupt, SystemExit):  # Ray makes the latter of SIGTERM while it starts
                raise KeyboardInterrupt(f"interrupted; go on with {resume}") from None
    _print_results(sweep)
    if not ended:
        raise KeyboardInterrupt(f"interrupted; every run has its checkpoint in {sweep.folder}")


def _interrupt() -> None:
    raise KeyboardInterrupt


def _new(config: SweepConfig) -> state.Sweep:
    """Return a new sweep, whose folder is empty."""
    content = {} if config.file is None else plans.read_file(config.file)
    plan = plans.make(content, {name: getattr(config, name) for name in vars(plans.Plan())})
    name = f"{plan.algorithm}-{time.strftime('%Y%m%d-%H%M%S')}" if config.file is None else config.file.stem
    sweep = state.Sweep(config.dir or run_folder.unused(Path("sweeps") / name), plan, plans.all_runs(plan))
    run_folder.create(sweep.folder, "dir")
    return sweep


def _resumed(folder: Path) -> state.Sweep:
    """Return a sweep whose failed runs wait again, as do those that ran when its process was killed."""
    sweep = state.read(folder)
    run_folder.check_writable(folder, "copy the sweep elsewhere and resume it there")
    for run in sweep.runs:
        if run.state in ("failed", "running"):
            run.state, run.why = "waiting", ""
    return sweep


def _print_results(sweep: state.Sweep) -> None:
    """Print how many runs ended in which way, every failure, and what to do next."""
    ends = sweep.ends()
    words = [f"{ends[end]:,} {word}" for end, word in ENDS.items() if ends[end]]
    say(f"\n{len(sweep.runs):,} runs: {', '.join(words)}.")
    for run in sweep.runs:
        if run.state == "failed":
            say(f"failed: {run.name}: {run.why}")
    say(f"\nThe sweep is in {sweep.folder}. What you can do next:\n")
    folder = str(sweep.folder)
    resume = {"Resume it:": command("sweep", "--resume", folder)} if ends["failed"] or ends["waiting"] else {}
    offer({**resume, "See its results:": command("report", folder), "See all its curves:": tensorboard(sweep.folder)})
