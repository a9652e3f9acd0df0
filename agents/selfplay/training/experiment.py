"""A run from its folder to its results: what is written, in which order, and what is shown meanwhile."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.agent import Player
from selfplay.errors import UserError
from selfplay.evaluation.verdict import Verdict
from selfplay.files import locked
from selfplay.learner import Learner
from selfplay.program import command
from selfplay.settings import RunSettings
from selfplay.tensor_file import write_tensors
from selfplay.training import folder as run_folder
from selfplay.training.checkpoints import Checkpoints
from selfplay.training.flags import RunFlags
from selfplay.training.kept import KeptPlayers, is_kept
from selfplay.training.loop import Record, ends, proves, records, resumed
from selfplay.training.newest import Newest
from selfplay.training.record import Tracker, evaluation_metrics, first_lines, metrics_evaluation
from selfplay.training.screen import Screen, shown


class Run(NamedTuple):
    """Hold what a run has come to."""

    config: RunSettings
    """Its settings."""
    folder: Path
    """The run folder."""
    player: Player
    """The player as `selfplay.load(folder)` returns it."""
    records: list[Record]
    """Its evaluations; those of an earlier process come with the player of now."""

    @property
    def proof(self) -> Verdict:
        """Return the last exact evaluation."""
        return self.records[-1].evaluation


class Interrupted(KeyboardInterrupt):
    """Somebody has ended the run; what it has come to so far is in `run`, its player and settings in its folder."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted; the player so far is in {run.folder}")
        self.run = run


@contextlib.contextmanager
def entered(config: RunSettings, flags: RunFlags, stop: Callable[[], bool] | None = None) -> Iterator[Checkpoints]:
    """Make the folder of a new run, or enter that of one to resume, and keep other processes out of it.

    `stop` is asked after every few steps whether the run is to stop.

    Raises:
        UserError: the folder cannot be made or written to, or another process is in it.
    """
    folder = flags.resume or config.run_dir or run_folder.unused(run_folder.default_run_dir(config))
    if flags.resume is None:
        run_folder.create(folder)
    else:
        run_folder.check_writable(folder, "copy the run elsewhere and resume it there")
    with locked(folder):
        if flags.resume is None:
            run_folder.check_unused(folder)  # once more: a run may have begun and ended since
        yield Checkpoints(folder, config, flags, stop)


def run(learner: Learner, kept: Checkpoints) -> Run:
    """Train to the end, showing the exact score, and leave a run folder behind.

    Raises:
        Interrupted: the run was interrupted; the player so far is in its folder.
        UserError: a file cannot be written, or one of those before cannot be read.
    """
    config, folder = learner.config, kept.folder
    standing = resumed(learner, kept) if kept.resuming else None
    with _refusals_in_one_line(folder):
        earlier = first_lines(folder, kept.evaluations, config.unit, config.rules) if kept.resuming else []
        run_folder.write_config(folder, config, learner.notes())
        steps_kept = [int(line[config.unit]) for number, line in enumerate(earlier, start=1) if is_kept(number)]
        players = KeptPlayers(folder, learner.player(), steps_kept)
        newest = Newest(folder)
        tracker = Tracker(folder, config.unit, earlier)
        history = [(int(line[config.unit]), metrics_evaluation(line, config.rules), line) for line in earlier]
        finished = False

        def so_far() -> Run:
            player = learner.player()
            return Run(config, folder, player, [Record(*each, player) for each in history])

        def write_player() -> None:
            write_tensors(folder / run_folder.MODEL, learner.player().tensors())

        try:
            with kept.stop_when_asked(), shown(Screen(config, kept, standing.proofs if standing else 0)) as screen:
                for record in records(learner, standing, kept):
                    steps, evaluation, metrics, player = record
                    history.append((steps, evaluation, dict(metrics)))
                    tracker.metrics(steps, evaluation_metrics(evaluation) | dict(metrics))
                    screen.show(record)
                    if is_kept(len(history)):
                        players.keep(steps, player)
                    # The last one here too: a checkpoint counts an evaluation only when all of it is recorded.
                    if is_kept(len(history)) or ends(config, steps, screen.proofs):
                        tracker.player(steps, player)
                        write_player()
                    # Behind the first player, so that whoever has heard of a run can load one.
                    newest.show(steps, player, _proofs_running(history, config.stop))
                # Saved before anything more is shown, which may fail: the terminal can be gone by now.
                write_player()
                players.keep(history[-1][0], learner.player())
                newest.show(history[-1][0], learner.player(), _proofs_running(history, config.stop), last=True)
                run_folder.write_evaluation(folder, history[-1][1])
                learner.write_report(folder)
                finished = True
        except KeyboardInterrupt:
            if not finished:
                write_player()
            raise Interrupted(so_far()) from None
        finally:
            tracker.close(config)
        kept.finish()  # last of all: until then a run that is killed is resumed, and writes all of it again
        return so_far()


@contextlib.contextmanager
def _refusals_in_one_line(folder: Path) -> Iterator[None]:
    """Say of what the disk does not take that it is no loss: the run goes on when it does, or can begin then."""
    try:
        yield
    except BrokenPipeError:  # whoever read our output has read enough
        raise
    except OSError as error:
        path = error.filename or "the output"
        read = error.filename is not None and folder not in Path(path).parents  # a font, or a library
        what = f"{path}: cannot be {'read' if read else 'written'} ({error.strerror or error})"
        if not (folder / run_folder.CONFIG).exists():
            raise UserError(f"{what}; once it can, start the run again, or choose another --run-dir now") from None
        again = command("train", "--resume", str(folder))
        raise UserError(f"{what}; once it can, {again} goes on from the last checkpoint") from None


def _proofs_running(history: Sequence[tuple[int, Verdict, Any]], stop: str) -> int:
    """Return how many evaluations, up to the last, have proved what the run is to stop at."""
    return sum(1 for _ in takewhile(lambda each: proves(each[1], stop), reversed(history)))
