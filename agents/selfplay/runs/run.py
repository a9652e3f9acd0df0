"""The folder of a run while it is trained: opened new or at its checkpoint, recorded into, and closed."""

import contextlib
import copy
import json
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from selfplay.errors import UserError
from selfplay.files import append, locked, make_inside, write_whole
from selfplay.learner import Learner, restore
from selfplay.program import on_stop_signals
from selfplay.protocols import AnyAgent
from selfplay.runs import folder as run_folder, loop
from selfplay.runs.checkpoint import Kept, read_checkpoint, write_checkpoint
from selfplay.runs.folder import CHECKPOINT, METRICS, MODEL, PROGRESS, SNAPSHOTS, RunFlags
from selfplay.runs.load import snapshot_steps
from selfplay.runs.loop import PROOFS_TO_STOP, Counters, Record, Recorder, learner_policy, worth
from selfplay.runs.metrics import Metrics, read_metrics
from selfplay.runs.result import FINISHED, INTERRUPTED, TERMINATED, Interrupted, Run, earlier_records
from selfplay.runs.screen import Screen
from selfplay.settings import CustomConfig, RunSettings, to_json
from selfplay.tensor_file import write_state, write_tensors
from tictactoe import batch

LARGEST = 1 << 26
"""Most bytes of all snapshots together; a player that does not fit is not saved as a snapshot."""
LARGEST_SHARE = 0.02
"""Largest fraction of the time for checkpoints: after a slow one the next one comes later than the interval."""
SECONDS_WITHOUT_EVENTS = 10.0
"""Importing TensorBoard's writer takes about a second, so that a short run writes all its events at its end."""


class RunFolder(Recorder):
    """The folder of a run in which a learner is trained: new, or as its checkpoint left it.

    The player is saved at evaluations 1, 2, 4, 8, ..., in between as the loop asks, and at the end: as the run's model,
    and as a snapshot. At the end the model is the last player that was proved, if there is one.
    """

    def __init__(self, run: Run, learner: Learner, flags: RunFlags, notes: Mapping[str, str]) -> None:
        self._run, self._learner, self._notes = run, learner, notes
        self._config, self._folder = run.config, run.folder
        self._kept: Kept | None = None
        self._needed = 1
        """The least `worth` of a player that is kept."""
        self._interval = flags.checkpoint_interval
        self._next_checkpoint = time.perf_counter() + self._interval
        self._events: Any = None
        self._events_due = time.perf_counter() + SECONDS_WITHOUT_EVENTS
        self.progress = Counters(due=self._config.eval_every)
        """The counters of the run."""
        is_new = not (flags.resume and self._restore())
        lines = self._earlier_lines(0 if is_new else self.progress.evaluations)
        run_folder.write_config(self._folder, self._config, notes)
        run.records.extend(earlier_records(lines, self._config))
        if self._kept is not None:
            [record] = [each for each in run.records if each.steps == self._kept.steps]
            self._needed = max(1, worth(record.verdict, self._config.stop))
        make_inside(self._folder / SNAPSHOTS)
        self._drop_snapshots()
        if is_new:
            # Without it a record alone would not say whether the run was killed early or its checkpoint is gone.
            self.checkpoint(self.progress, now=True)

    # Recording

    def record(self, record: Record) -> None:
        """Write the numbers of an evaluation, keep a proved player, and save some players."""
        line = {self._config.unit: record.steps, **record.metrics}
        self._run.records.append(replace(record, player=None))
        append(self._folder / METRICS, (json.dumps(line) + "\n").encode())
        proved = worth(record.verdict, self._config.stop)
        if proved >= self._needed:
            self._needed = proved
            self._kept = Kept(record.steps, copy.deepcopy(self._tensors(record.player)))
        if is_snapshot(record.number):
            self._save(record.player, LARGEST)
        if time.perf_counter() >= self._events_due:
            self._write_events()

    def snapshot(self, player: AnyAgent) -> None:
        """Save the player between evaluations; it leaves the second half of the room to the players of evaluations."""
        self._save(player, LARGEST // 2)

    def checkpoint(self, progress: Counters, now: bool) -> None:
        """Write what the run needs to continue, if it is time or `now`."""
        started = time.perf_counter()
        if now or started >= self._next_checkpoint:
            write_checkpoint(self._folder, self._learner.state(), self._kept, progress, self._config)
            ended = time.perf_counter()
            self._next_checkpoint = ended + max(self._interval, (ended - started) / LARGEST_SHARE)

    # Closing

    def save(self, ended: str) -> Run:
        """Save the player that is kept and, of a finished run, its evaluation; return the run."""
        kept_steps = None if self._kept is None else self._kept.steps
        run = replace(self._run, ended=ended, kept_steps=kept_steps)
        if ended == FINISHED:
            self._save(self._learner.player(), LARGEST)
            run_folder.write_evaluation(self._folder, run.verdict)
        kept = self._tensors(self._learner.player()) if self._kept is None else self._kept.tensors
        self._write(MODEL, kept)
        return run

    def close(self, run: Run) -> None:
        """Write what takes longest: pictures, TensorBoard's events, and what the learner reports at its end."""
        is_finished = run.ended == FINISHED
        if is_finished and hasattr(self._learner, "write_report"):
            self._learner.write_report(self._folder)
        if run.records:
            from selfplay import plot_style

            write_whole(self._folder / PROGRESS, plot_style.png(run.plot()))
            self._write_events()
            self._write_last_events()
        # Last of all: until then a run that is killed is resumed, and writes all of it again.
        run_folder.write_config(self._folder, self._config, self._notes, is_finished, run.kept_steps)

    def _write_events(self) -> None:
        """Write for TensorBoard the evaluations that it does not have yet: in each process first all earlier ones."""
        if self._events is None:
            from selfplay.runs.tensorboard import Events

            self._events = Events(self._folder, self._config)
        self._events.evaluations(self._run.records)

    def _write_last_events(self) -> None:
        """Write for TensorBoard the settings, the values of the opening, if there are any, and a game of the player."""
        self._events.hparams()
        player, rules = self._learner.player(), self._config.rules
        if hasattr(player, "q_values"):
            from selfplay import plot_style
            from selfplay.runs import run_plots

            opening = batch.observe(rules, batch.reset(rules, 1, np), "mover")
            values = np.asarray(player.q_values(opening))[0].reshape(rules.rows, rules.cols)
            title = f"Values of the opening, {self._learner.steps:,} {self._config.unit}"
            self._events.picture(
                "q/opening", plot_style.png(run_plots.value_figure(values, title, self._config.algorithm))
            )
        policy = learner_policy(self._learner, player)
        if not policy.samples:
            from selfplay.judge.example_games import self_play_game

            self._events.text("game/self_play", self_play_game(policy))

    # Players

    def _save(self, player: Any, room: int) -> None:
        tensors, name = self._tensors(player), f"{self._learner.steps}.safetensors"
        self._write(MODEL, tensors)
        # A killed run may have left a part of this very file, which writing it replaces.
        others = [other for other in (self._folder / SNAPSHOTS).iterdir() if not other.name.startswith(name)]
        if sum(other.stat().st_size for other in others) + (self._folder / MODEL).stat().st_size <= room:
            self._write(f"{SNAPSHOTS}/{name}", tensors)

    def _tensors(self, player: Any) -> Mapping[str, Any]:
        """Return the tensors of a player or, for a custom learner, its state, which makes the player again."""
        tensors: Mapping[str, Any] = player.tensors() if self._is_ours else self._learner.state()
        return tensors

    def _write(self, name: str, tensors: Mapping[str, Any]) -> None:
        if self._is_ours:
            write_tensors(self._folder / name, tensors)
        else:
            write_state(self._folder / name, tensors)

    @property
    def _is_ours(self) -> bool:
        return not isinstance(self._config, CustomConfig)

    # Opening

    def _restore(self) -> bool:
        """Restore the learner, the counters and the player that is kept; return False if the run begins again.

        Raises:
            UserError: its checkpoint is deleted or does not fit, or the run ended with a proof.
        """
        folder, config, learner = self._folder, self._config, self._learner
        checkpoint = read_checkpoint(folder)
        if checkpoint is None:
            if (folder / MODEL).exists():
                raise UserError(f"{folder}: has a player but no checkpoint; put it back, or begin a new run")
            print(f"{folder}: holds no checkpoint yet; the run begins again", file=sys.stderr)
            return False
        progress, settings = checkpoint.progress, checkpoint.settings
        try:
            restore(learner, checkpoint.state)
        except UserError as error:
            now = to_json(config)
            changed = ", ".join(name for name, value in settings.items() if now.get(name) != value) or "none"
            raise UserError(f"{folder / CHECKPOINT}: {error}; settings that have changed since: {changed}") from None
        same_stop = settings.get("stop", config.stop) == config.stop
        if progress.proofs == PROOFS_TO_STOP and same_stop and self._run.ended == FINISHED:
            raise UserError(f"{folder}: is finished: stop {config.stop} is proved; stop never with force continues it")
        if not same_stop:
            progress.proofs = 0
        self.progress, self._kept = progress, checkpoint.kept
        return True

    def _earlier_lines(self, count: int) -> list[Metrics]:
        """Return the first lines of metrics.jsonl, those that a checkpoint counts, and cut off the rest.

        Raises:
            UserError: it has fewer, or they are not what a run writes.
        """
        path = self._folder / METRICS
        lines = list(islice(read_metrics(path, self._config.unit), count)) if count else []
        if len(lines) < count:
            wanted = f"must have {count:,} whole lines, as its checkpoint counts"
            raise UserError(f"{path}: {wanted}, but has {len(lines):,}; restore it")
        if path.exists():
            write_whole(path, "".join(json.dumps(line) + "\n" for line in lines).encode())
        return lines

    def _drop_snapshots(self) -> None:
        """Delete the snapshots of an earlier process that this one will save again."""
        for steps in snapshot_steps(self._folder):
            if steps > self._learner.steps:
                (self._folder / SNAPSHOTS / f"{steps}.safetensors").unlink()


def train_in_folder(
    run: Run,
    learner: Learner,
    flags: RunFlags,
    notes: Mapping[str, str],
    stop_when: Callable[[], bool],
    show: bool,
) -> Run:
    """Train until the run ends, and return it, while other processes are kept out of its folder.

    A `run` that is new has no records; one that is resumed has none either, and `ended` says how it ended before.
    `notes` are what config.json says besides the settings. With `show` the exact score is shown. A run that is asked to
    stop writes a checkpoint and is `interrupted`.

    Raises:
        Interrupted: the program was told to end, by SIGTERM or a second Ctrl-C.
        UserError: the folder cannot be used, another process is in it, or a file of an earlier process cannot be read.
    """
    screen = Screen(learner, run.config) if show else None
    if flags.resume:
        run_folder.check_writable(run.folder, "copy the run elsewhere and resume it there")
    else:
        run_folder.create(run.folder, flags.named_by)
    with locked(run.folder):
        folder = RunFolder(run, learner, flags, notes)
        ended = _train_to_end(run.config, learner, folder, StopRequest(stop_when), screen)
        run = folder.save(ended)
        if screen:
            screen.show_end(run)
        folder.close(run)
    if run.ended == TERMINATED:
        raise Interrupted(run)
    return run


def _train_to_end(
    config: RunSettings, learner: Learner, folder: RunFolder, stop: "StopRequest", screen: Screen | None
) -> str:
    """Train until the run ends, and return how it ended."""
    watch = screen.watch if screen else lambda: None
    try:
        with on_stop_signals(stop.on_signal) as signals, screen or contextlib.nullcontext():
            for record in loop.train(learner, config, folder.progress, folder, stop, watch):
                if screen:
                    screen.show(record)
    except KeyboardInterrupt:
        return TERMINATED
    if not stop.made:
        return FINISHED
    return TERMINATED if signal.SIGTERM in signals else INTERRUPTED


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


def is_snapshot(number: int) -> bool:
    """Return whether a run saves the player of this evaluation as a snapshot; the first evaluation has number 1."""
    return number & (number - 1) == 0
