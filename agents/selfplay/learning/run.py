"""A run with a folder: which files it writes, in which order, and what happens when it is stopped or resumed."""

import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from selfplay.agent import Player
from selfplay.errors import UserError, one_line, setting_name
from selfplay.files import locked, write_whole
from selfplay.learner import RunLearner
from selfplay.learning import folder as run_folder, loop
from selfplay.learning.callbacks import LatestState, MetricsLog, Snapshots, is_snapshot
from selfplay.learning.checkpoint import Checkpoints
from selfplay.learning.folder import CONFIG, METRICS, MODEL, RunFlags
from selfplay.learning.loop import PROOFS_TO_STOP, Progress
from selfplay.learning.metrics import Metrics, read_metrics
from selfplay.learning.result import Interrupted, Run, earlier_records
from selfplay.learning.screen import Screen
from selfplay.program import command, on_stop_signals
from selfplay.settings import require
from selfplay.tensor_file import write_tensors


def train_in_folder(
    learner: RunLearner,
    flags: RunFlags,
    read_player: Callable[[Path, int | None], Player],
    stop_when: Callable[[], bool] = lambda: False,
    show: bool = True,
) -> Run:
    """Train to the end, or until the run is asked to stop, and leave a run folder behind.

    With `show` the exact score is shown. A run that is asked to stop writes a checkpoint and is `interrupted`.

    `read_player` returns the player that the run in a folder had after some steps, or has at its end for None.

    Raises:
        Interrupted: the program was told to end, by SIGTERM or a second Ctrl-C.
        UserError: the folder or a file cannot be written, another process is in the folder, or a file of an earlier
            process cannot be read.
    """
    config = learner.config
    folder = flags.resume or config.run_dir or run_folder.unused(run_folder.default_run_dir(config))
    if flags.resume:
        run_folder.check_writable(folder, "copy the run elsewhere and resume it there")
    else:
        run_folder.create(folder)
    read = partial(read_player, folder)
    with locked(folder), _disk_errors_in_one_line(folder):
        checkpoints = Checkpoints(folder, config, flags.checkpoint_interval, stop_when)
        progress = _resumed(learner, folder, checkpoints, flags.force) if flags.resume else None
        lines = _earlier_lines(folder, config.unit, progress.evaluations if progress else 0)
        run_folder.write_config(folder, config, learner.notes())
        records = earlier_records(lines, config, read)
        log = MetricsLog(folder, config, lines)
        screen = Screen(learner) if show else None
        live = (screen and screen.live) or contextlib.nullcontext()
        snapshots = Snapshots(folder, learner.steps, [each.steps for each in records if not is_snapshot(each.number)])
        callbacks = [log, *([screen] if screen else []), snapshots, LatestState(folder)]
        if progress is None:
            # Without it a record alone would not say whether the run was killed early or its checkpoints are gone.
            progress = Progress(config.eval_every)
            checkpoints.write(learner.state(), progress)
        stopping = again = False
        try:
            with on_stop_signals(checkpoints.stop) as received, live:
                for record in loop.train(learner, progress, callbacks, checkpoints):
                    records.append(replace(record, get_player=partial(read, record.steps)))
                stopping = checkpoints.stopping
                if not stopping:
                    last = replace(records[-1], get_player=learner.player)
                    for callback in callbacks:
                        callback.ended(last)
                    run_folder.write_evaluation(folder, records[-1].evaluation)
                    learner.write_report(folder)
        except KeyboardInterrupt:
            stopping = again = True
        finally:
            log.close()
        if stopping:
            write_tensors(folder / MODEL, learner.player().tensors())
            run = Run(config, folder, read, records, interrupted=True)
            if again or signal.SIGTERM in received:
                raise Interrupted(run)
            return run
        # Last of all: until then a run that is killed is resumed, and writes all of it again.
        run_folder.write_config(folder, config, learner.notes(), finished=True)
        return Run(config, folder, read, records)


def _resumed(learner: RunLearner, folder: Path, checkpoints: Checkpoints, force: bool) -> Progress | None:
    """Restore the learner from the last checkpoint and return the progress of the run, None if it begins again.

    Raises:
        UserError: there is no checkpoint although there are results, or the run is finished.
    """
    config = learner.config
    checkpoint = checkpoints.read(learner.state().tensors if learner.fixed_state else None)
    if checkpoint is None:
        metrics = folder / METRICS
        if not force and ((folder / MODEL).exists() or (metrics.exists() and metrics.stat().st_size)):
            way_out = f"put it back, or begin the run again with {setting_name('force', True)}"
            raise UserError(f"{folder}: has results but no checkpoint (the disk was full, or it is gone); {way_out}")
        print(one_line(f"{folder}: holds no checkpoint yet; the run begins again"), file=sys.stderr)
        return None
    state, progress, settings = checkpoint
    learner.restore(state, settings)
    finished, length, name = run_folder.is_finished(folder), config.length, config.length_setting
    if settings.get("stop", config.stop) != config.stop:
        progress.proofs = 0
    elif finished and progress.proofs == PROOFS_TO_STOP:
        goes_on = f"{setting_name('stop', 'never')} {setting_name('force', True)} continues it"
        raise UserError(f"{folder}: is finished: {setting_name('stop', config.stop)} is proved; {goes_on}")
    if finished and settings == json.loads(json.dumps(run_folder.settings(config))):
        raise UserError(f"{folder}: is finished; {setting_name(name)} above {length} continues it")
    # By force a run could be made shorter than it is, and its state at that length is no longer known.
    possible = learner.steps < length or settings[name] == length
    require(possible, name, f"above what has been played, {learner.steps:,}", length)
    return progress


def _earlier_lines(folder: Path, unit: str, count: int) -> list[Metrics]:
    """Return the first lines of metrics.jsonl, those that a checkpoint counts, and cut off the rest.

    Raises:
        UserError: it has fewer, or they are not what a run writes.
    """
    path = folder / METRICS
    lines = list(islice(read_metrics(path, unit), count))
    if len(lines) < count:
        wanted = f"must have {count:,} whole lines, as its checkpoint counts"
        raise UserError(f"{path}: {wanted}, but has {len(lines):,}; restore it")
    if path.exists():
        write_whole(path, "".join(json.dumps(line) + "\n" for line in lines).encode())
    return lines


@contextlib.contextmanager
def _disk_errors_in_one_line(folder: Path) -> Iterator[None]:
    """Say in one line which file the disk refuses, and how the run goes on once it takes it.

    Raises:
        UserError: a file cannot be written or read.
    """
    try:
        yield
    except BrokenPipeError:  # nobody reads our output any more
        raise
    except OSError as error:
        path = error.filename or "the output"
        read = error.filename is not None and folder not in Path(path).parents  # a font, or a library
        what = f"{path}: cannot be {'read' if read else 'written'} ({error.strerror or error})"
        if not (folder / CONFIG).exists():
            choose = f"or choose another {setting_name('run_dir')} now"
            raise UserError(f"{what}; once it can, start the run again, {choose}") from None
        words = run_folder.way_on(folder)
        result = "begins it again" if "--force" in words else "continues it from the last checkpoint"
        raise UserError(f"{what}; once it can, {command(*words)} {result}") from None
