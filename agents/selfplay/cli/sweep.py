"""Train with many settings and seeds: `selfplay sweep [flags]`, or `selfplay sweep --resume SWEEP`."""

import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.cli.flags import offer, parse
from selfplay.errors import UserError
from selfplay.files import locked
from selfplay.program import command, tensorboard
from selfplay.runs import folder as run_folder
from selfplay.runs.algorithms import settings_of
from selfplay.runs.folder import RunFlags
from selfplay.runs.load import check_part, part_names
from selfplay.settings import Count, Seconds, SettingsError, checked
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import Plan, PlannedRun, Range

if TYPE_CHECKING:
    from selfplay.sweep.sweep_results import SweepResult


@checked
class SweepConfig(Plan):
    """Train with every combination of settings and seeds, each a run of `selfplay train` with its own folder.

    Settings are those of `selfplay train`, as NAME=VALUE: learning_rate=0.006, mask=true, hidden=128x128.
    """

    dir: Path | None = None
    """Folder of the sweep; it must be new or empty. Default: sweeps/ and the algorithm and time."""
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
        super().__post_init__()
        given = {field.name for field in fields(self) if getattr(self, field.name) != field.default}
        if self.resume is not None and given - {"resume", "cpus", "address", "checkpoint_interval"}:
            raise SettingsError("`resume` takes the settings, seeds and folder of the sweep; leave them out")


def main(args: Sequence[str], prog: str = "selfplay sweep", **own: Any) -> None:
    """Train all runs of a sweep, with `own` parts, and print their results. The exit status is 1 if one has failed."""
    config = parse(SweepConfig, args, prog)
    if config.address is None:
        # Ray reads them when it is imported, and then listens on 127.0.0.1 alone, to those who know this token.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    plan = plan_of(config, own)
    runs, space = plans.runs_or_space(plan)
    folder = config.resume or new_folder(config, plan)  # only now: a plan that cannot be carried out leaves no folder
    with locked(folder):
        try:
            results = train_runs(config, plan, runs, space, folder, own)
        except UserError as error:
            raise UserError(f"{error}; continue with {resume_command(folder)}") from None
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted; continue with {resume_command(folder)}") from None
    failed = [result for result in results if result.failed]
    show_results(results, failed, folder)
    if failed:
        sys.exit(1)


def plan_of(config: SweepConfig, own: Mapping[str, Any]) -> Plan:
    """Return the plan of a new sweep, or of the one to resume.

    Raises:
        UserError: there is no plan in that folder, or it names other parts than `own`.
    """
    if config.resume is None:
        names = part_names(**own)
        return replace(config, network=names.get("network", ""), agent=names.get("agent", ""))
    plan = plans.read(config.resume)
    check_part(config.resume, "network", plan.network, own.get("network"))
    check_part(config.resume, "agent", plan.agent, own.get("agent"))
    return plan


def new_folder(config: SweepConfig, plan: Plan) -> Path:
    """Make the folder of a new sweep, with its plan, and return it."""
    folder = config.dir or Path("sweeps") / f"{plan.algorithm}-{time.strftime('%Y%m%d-%H%M%S')}"
    run_folder.create(folder, "dir")
    plans.write(plan, folder)
    return folder


def train_runs(
    config: SweepConfig,
    plan: Plan,
    runs: Sequence[PlannedRun],
    space: Mapping[str, Range | list[str]],
    folder: Path,
    own: Mapping[str, Any],
) -> "list[SweepResult]":
    """Train the runs of a sweep, or those that its search chooses from a space; print and return how each ended."""
    print("Ray starts; then a line is printed for each run that ends.", flush=True)
    from selfplay.sweep import engine
    from selfplay.sweep.bar import Bar
    from selfplay.sweep.sampled_search import SampledSearch

    results = []
    source = SampledSearch(plan, space, folder) if plan.search else engine.Grid(runs)
    of_all = f" of {len(runs):,}" if runs else ""
    with Bar(len(runs) or None) as bar, engine.connected(config.cpus, config.address):
        for result in engine.train_all(folder, source, config.cpus, config.checkpoint_interval, bar.show, **own):
            results.append(result)
            how = f"{result.end} after {result.steps:,} {settings_of(plan.algorithm).unit}"
            print(f"{len(results):,}{of_all}: {result.run}: {how}", flush=True)
    return results


def show_results(results: "Sequence[SweepResult]", failed: "Sequence[SweepResult]", folder: Path) -> None:
    """Print how the runs ended, why some of them failed, and what to do next."""
    numbers = Counter(result.end for result in results)
    print(f"\n{len(results):,} runs: {', '.join(f'{number:,} {end}' for end, number in numbers.items())}")
    for result in failed:
        print(f"failed: {result.run}: {result.why}", file=sys.stderr)
    print(f"\nThe sweep is in {folder}. What you can do next:\n")
    commands = {"Try failed runs once more:": resume_command(folder)} if failed else {}
    commands["See its results:"] = command("report", str(folder))
    commands["See all its curves:"] = tensorboard(folder)
    offer(commands)


def resume_command(folder: Path) -> str:
    """Return the command that resumes a sweep."""
    return command("sweep", "--resume", str(folder))
