"""A run with a folder: open it, train and record, close it."""

import contextlib
import json
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from selfplay.errors import UserError
from selfplay.files import locked, write_whole
from selfplay.learner import Learner
from selfplay.program import on_stop_signals
from selfplay.runs import folder as run_folder, loop
from selfplay.runs.checkpoint import read_checkpoint
from selfplay.runs.folder import CHECKPOINT, METRICS, MODEL, RunFlags
from selfplay.runs.loop import PROOFS_TO_STOP, Progress
from selfplay.runs.metrics import Metrics, read_metrics
from selfplay.runs.recorder import FolderRecorder
from selfplay.runs.result import Interrupted, Run, earlier_records
from selfplay.runs.screen import Screen
from selfplay.settings import RunSettings, flat, require


class StopRequest:
    """Whether a run was asked to stop, by `stop_when` or by a signal; it then ends after its next checkpoint."""

    def __init__(self, stop_when: Callable[[], bool]) -> None:
        self._stop_when = stop_when
        self.made = False

    def __call__(self) -> bool:
        """Return whether the run is to stop."""
        self.made = self.made or self._stop_when()
        return self.made

    def on_signal(self) -> None:
        """Ask the run to stop.

        Raises:
            KeyboardInterrupt: it was asked before, and ends at once.
        """
        if self.made:
            raise KeyboardInterrupt
        self.made = True


@dataclass(frozen=True)
class Training:
    """What a run trains, and how a process handles it."""

    learner: Learner
    config: RunSettings
    flags: RunFlags
    network: Any = None
    """What makes its custom network, if it has one."""
    custom_learner: Any = None
    """Its custom learner, or what makes it, if it has one."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What config.json says beside the settings."""


def train_in_folder(training: Training, stop_when: Callable[[], bool], show: bool) -> Run:
    """Train to the end, or until the run is asked to stop, and leave a run folder behind.

    With `show` the exact score is shown. A run that is asked to stop writes a checkpoint and is `interrupted`.

    Raises:
        Interrupted: the program was told to end, by SIGTERM or a second Ctrl-C.
        UserError: the folder cannot be used, another process is in it, or a file of an earlier process cannot be read.
    """
    learner, config, flags = training.learner, training.config, training.flags
    folder = _open_folder(config, flags)
    with locked(folder):
        progress = _resumed(learner, config, folder, flags.force) if flags.resume else None
        lines = _earlier_lines(folder, config.unit, progress.evaluations if progress else 0)
        run_folder.write_config(folder, config, training.notes)
        records = earlier_records(lines, config)
        run = Run(config, folder, records, network=training.network, learner=training.custom_learner)
        recorder = FolderRecorder(folder, learner, config, lines, flags.checkpoint_interval)
        if progress is None:
            progress = Progress(config.eval_every)
            # Without it a record alone would not say whether the run was killed early or its checkpoint is gone.
            recorder.write_checkpoint(learner.state(), progress)
        stop = StopRequest(stop_when)
        screen = Screen(learner, config) if show else None
        ended_at_once = False
        try:
            with on_stop_signals(stop.on_signal) as signals, screen or contextlib.nullcontext():
                for record in loop.train(learner, config, progress, recorder, stop):
                    records.append(replace(record, player=None))
                    if screen:
                        screen.show(record)
        except KeyboardInterrupt:
            ended_at_once = True
        if stop.made:
            recorder.save_model()
            recorder.close()
            run = replace(run, interrupted=True)
            if ended_at_once or signal.SIGTERM in signals:
                raise Interrupted(run)
            return run
        if screen:
            screen.print_last()
        recorder.save_last()
        run_folder.write_evaluation(folder, records[-1].verdict)
        if hasattr(learner, "write_report"):
            learner.write_report(folder)
        recorder.close()
        # Last of all: until then a run that is killed is resumed, and writes all of it again.
        run_folder.write_config(folder, config, training.notes, finished=True)
        return run


def _open_folder(config: RunSettings, flags: RunFlags) -> Path:
    """Return the folder of a run, which is made if the run is new.

    Raises:
        UserError: it cannot be used.
    """
    if flags.resume:
        run_folder.check_writable(flags.resume, "copy the run elsewhere and resume it there")
        return flags.resume
    folder = run_folder.new_run_dir(config, flags)
    run_folder.create(folder, flags.named_by)
    return folder


def _resumed(learner: Learner, config: RunSettings, folder: Path, force: bool) -> Progress | None:
    """Restore the learner from the checkpoint and return the progress of the run, None if it begins again.

    Raises:
        UserError: there is no checkpoint although there are results, it does not fit, or the run ended with a proof.
    """
    checkpoint = read_checkpoint(folder)
    if checkpoint is None:
        metrics = folder / METRICS
        has_results = (folder / MODEL).exists() or (metrics.exists() and metrics.stat().st_size > 0)
        if has_results and not force:
            raise UserError(f"{folder}: has results but no checkpoint; put it back, or begin the run again with force")
        print(f"{folder}: holds no checkpoint yet; the run begins again", file=sys.stderr)
        return None
    progress, settings = checkpoint.progress, checkpoint.settings
    try:
        learner.restore(checkpoint.state)
    except UserError as error:
        now = json.loads(json.dumps(flat(config)))
        changed = ", ".join(name for name, value in settings.items() if now.get(name) != value) or "none"
        raise UserError(f"{folder / CHECKPOINT}: {error}; settings that have changed since: {changed}") from None
    if progress.due <= learner.steps:
        raise UserError(f"{folder / CHECKPOINT}: is damaged: its evaluation at {progress.due} steps is overdue")
    proved = progress.proofs == PROOFS_TO_STOP and settings.get("stop", config.stop) == config.stop
    if proved and run_folder.is_finished(folder):
        raise UserError(f"{folder}: is finished: stop {config.stop} is proved; stop never with force continues it")
    # By force a run could be made shorter than it is, and its state at that length is no longer known.
    length, name = config.length, config.length_setting
    possible = learner.steps < length or settings.get(name) == length
    require(possible, name, f"above what has been played, {learner.steps:,}", length)
    if settings.get("stop", config.stop) != config.stop:
        progress.proofs = 0
    return progress


def _earlier_lines(folder: Path, unit: str, count: int) -> list[Metrics]:
    """Return the first lines of metrics.jsonl, those that a checkpoint counts, and cut off the rest.

    Raises:
        UserError: it has fewer, or they are not what a run writes.
    """
    path = folder / METRICS
    lines = list(islice(read_metrics(path, unit), count)) if count else []
    if len(lines) < count:
        wanted = f"must have {count:,} whole lines, as its checkpoint counts"
        raise UserError(f"{path}: {wanted}, but has {len(lines):,}; restore it")
    if path.exists():
        write_whole(path, "".join(json.dumps(line) + "\n" for line in lines).encode())
    return lines
