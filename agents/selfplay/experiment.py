"""The experiment around every algorithm: a run folder, a live score, a record, a proof, and what to try next."""

import contextlib
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar

from selfplay import run_folder
from selfplay.agent import Player
from selfplay.algorithms import Config
from selfplay.checkpoint import Checkpoints, RunFlags
from selfplay.errors import UserError
from selfplay.evaluation import Proof
from selfplay.files import locked
from selfplay.games import self_play_game
from selfplay.reach import Unproved
from selfplay.report import evaluation_table, live_score, verdict
from selfplay.tracking import Tracker, evaluation_metrics, first_lines, metrics_evaluation


class Record(NamedTuple):
    """Say how a run stands at one of its evaluations."""

    steps: int
    """Plies or games so far."""
    evaluation: Proof | Unproved
    metrics: Mapping[str, float]
    """What the algorithm measures beside it, by TensorBoard tag."""


class Finished(NamedTuple):
    """Hold what a run has come to, and how."""

    config: Config
    folder: Path
    player: Player
    unit: str
    records: list[Record]


@contextlib.contextmanager
def checkpoints(config: Config, flags: RunFlags) -> Iterator[Checkpoints]:
    """Make the folder of a new run, or enter that of one to resume, and keep other processes out of it.

    Raises:
        UserError: the folder cannot be made or written to, or another process is in it.
    """
    folder = flags.resume or config.run_dir or run_folder.unused(default_run_dir(config))
    if flags.resume is None:
        run_folder.create(folder)
    else:
        run_folder.check_writable(folder, "copy the run elsewhere and resume it there")
    with locked(folder):
        yield Checkpoints(folder, config, flags)


class LiveBar(BarColumn):
    """Ask how far a run is whenever the bar is drawn, some times a second, for evaluations can be minutes apart."""

    def __init__(self, steps: Callable[[], int]) -> None:
        super().__init__(10)
        self._steps = steps

    def render(self, task: Task) -> ProgressBar:
        """Return the bar as it is now."""
        bar = super().render(task)
        bar.update(max(task.completed, self._steps()))
        return bar


def nothing_more(_: Path) -> None:
    """Write no results but those of every run."""


def run(
    config: Config,
    unit: str,
    total: int,
    player: Callable[[], Player],
    records: Iterator[Record],
    kept: Checkpoints,
    write_report: Callable[[Path], None] = nothing_more,
) -> Finished:
    """Draw records until there are no more, showing the exact score, and leave a run folder behind.

    `unit` is what the steps are, plies or games, of which there are `total` at most, and `player` returns the
    player of the moment. Drawing from `records` is what trains it, and what writes its checkpoints. In the end
    `write_report` writes into the folder what the algorithm shows besides.

    Raises:
        KeyboardInterrupt: the run was interrupted; the player so far is in its folder.
        UserError: a file cannot be written, or one of those before cannot be read.
    """
    folder = kept.folder
    again = shlex.join([this_python(), this_script(), "--resume", str(folder)])
    with _refusals_in_one_line(again):
        earlier = first_lines(folder, kept.evaluations, unit, config.rules) if kept.resuming else None
        run_folder.write_config(folder, config)
        tracker = Tracker(folder, unit, earlier)
        columns = TextColumn("{task.description}"), LiveBar(lambda: kept.steps), TimeElapsedColumn()
        history = [Record(int(line[unit]), metrics_evaluation(line, config.rules), line) for line in earlier or []]
        finished = False
        try:
            with kept.stop_when_asked(), Progress(*columns, console=Console()) as progress:
                task = progress.add_task("training until the first evaluation", total=total)
                for record in records:
                    history.append(record)
                    steps, evaluation, metrics = record
                    tracker.metrics(steps, evaluation_metrics(evaluation) | dict(metrics))
                    progress.update(task, completed=steps, description=f"{steps:,} {unit}  {live_score(evaluation)}")
                    if is_power_of_two(len(history)):
                        tracker.player(steps, player())
                        run_folder.write_player(folder, player())
                # Saved before anything more is shown, which may fail: the terminal can be gone by now.
                run_folder.write_player(folder, player())
                run_folder.write_evaluation(folder, history[-1].evaluation)
                write_report(folder)
                finished = True
                progress.update(task, total=history[-1].steps)
            if not is_power_of_two(len(history)):
                tracker.player(history[-1].steps, player())
        except KeyboardInterrupt:
            if not finished:
                run_folder.write_player(folder, player())
            raise KeyboardInterrupt(f"interrupted; the player so far is in {folder}; {again} goes on") from None
        finally:
            tracker.close(run_folder.settings(config))
        kept.finish()  # last of all: until then a run that is killed is resumed, and writes all of it again
        return Finished(config, folder, player(), unit, history)


@contextlib.contextmanager
def _refusals_in_one_line(again: str) -> Iterator[None]:
    """Say of what the disk does not take that it is no loss: the command `again` goes on when it does."""
    try:
        yield
    except BrokenPipeError:  # whoever read our output has read enough
        raise
    except OSError as error:
        what = f"{error.filename or 'the output'}: cannot be written ({error.strerror or error})"
        raise UserError(f"{what}; once it can, {again} goes on from the last checkpoint") from None


def present(finished: Finished, goal: str, proves: Callable[[Proof | Unproved], bool]) -> None:
    """Print a game of the player against itself, its exact evaluation, and what to try next.

    `goal` names what `proves` asks of an evaluation, for the line that says since when it has held.
    """
    config, folder, player, unit, records = finished
    print(f"\nA game of the player against itself:\n\n{self_play_game(player, config.rules)}\n")
    Console().print(evaluation_table(records[-1].evaluation))
    print(verdict(records[-1].evaluation))
    first = first_of_final_streak([proves(record.evaluation) for record in records])
    if first is not None:
        steps, _, metrics = records[first]
        updates = f", {metrics['time/updates']:,} updates" if "time/updates" in metrics else ""
        seconds = metrics["time/training_s"]
        print(f"The proof of {goal} held from {steps:,} {unit}{updates} and {seconds:.1f} s of training to the end.")
    python = this_python()
    print(
        f"\nThe run is in {folder}. Next:\n"
        f"  {shlex.join([python, '-m', 'selfplay.prove', str(folder)])}  proves the saved player again\n"
        f"  {shlex.join([python, '-m', 'selfplay.play', str(folder)])}  lets you play against it\n"
        f"  {shlex.join([python, '-m', 'tensorboard.main', '--logdir', str(folder.parent)])}  shows all runs\n"
        f"  {shlex.join([python, this_script(), config.algorithm, '--help'])}  lists what else can be set"
    )


def first_of_final_streak(proofs: Sequence[bool]) -> int | None:
    """Return the number of the first evaluation from which the proof held to the end, None if it did not."""
    failures = [number for number, proved in enumerate(proofs) if not proved]
    first = failures[-1] + 1 if failures else 0
    return first if first < len(proofs) else None


def default_run_dir(config: Config) -> Path:
    """Return runs/ALGORITHM-BOARD-SEED-TIME."""
    rules = config.rules
    board = f"{rules.rows}x{rules.cols}x{rules.k}"
    return Path("runs") / f"{config.algorithm}-{board}-{config.seed}-{time.strftime('%Y%m%d-%H%M%S')}"


def is_power_of_two(number: int) -> bool:
    """Tell whether a positive number is 1, 2, 4, 8, ..."""
    return number & (number - 1) == 0


def this_python() -> str:
    """Return the interpreter as one would type it here."""
    executable, here = Path(sys.executable), Path.cwd()
    return str(executable.relative_to(here) if executable.is_relative_to(here) else executable)


def this_script() -> str:
    """Return train.py as it was started, which from another folder takes more than its name."""
    started = sys.argv[0]
    return started if Path(started).name == "train.py" else "train.py"
